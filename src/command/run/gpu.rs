//! Memory of the cards while something runs: one `nvidia-smi` that keeps telling, or `rocm-smi` now and then.
//!
//! Starting a tool for each sample would cost more than all the rest.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::live::GpuReading;
use crate::probe::{Host, NVIDIA_CARDS, Root, nvidia_cards, nvidia_processes, rocm_cards};

/// Between two calls of tools that answer once.
const NOW_AND_THEN: Duration = Duration::from_secs(10);
/// Longest line of a tool's answer.
const LINE_LIMIT: u64 = 4096;

/// The cards of this machine.
#[derive(Debug)]
pub(super) struct Cards {
    tools: Vec<Child>,
    /// Last line of each card.
    cards: Lines,
    /// Last lines of programs, with the time.
    programs: Lines,
    rocm: Option<(Instant, GpuReading)>,
}

type Lines = Arc<Mutex<Vec<(Instant, String)>>>;

impl Cards {
    /// Starts the tools that are there.
    pub(super) fn start(every: Duration) -> Self {
        let mut cards = Self { tools: Vec::new(), cards: Lines::default(), programs: Lines::default(), rocm: None };
        let pause = format!("--loop-ms={}", every.as_millis().max(500));
        let asked = [
            "--query-compute-apps=gpu_uuid,pid,used_gpu_memory,process_name",
            "--format=csv,noheader,nounits",
            "--loop-ms=5000",
        ];
        let nvidia = cards.tool(&[NVIDIA_CARDS[0], NVIDIA_CARDS[1], &pause], Arc::clone(&cards.cards));
        if nvidia {
            cards.tool(&asked, Arc::clone(&cards.programs));
        } else {
            cards.rocm = rocm().map(|reading| (Instant::now(), reading));
        }
        cards
    }

    fn tool(&mut self, arguments: &[&str], into: Lines) -> bool {
        let started = Command::new("nvidia-smi")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = started else { return false };
        let Some(pipe) = child.stdout.take() else { return false };
        self.tools.push(child);
        thread::spawn(move || {
            let mut reader = BufReader::new(pipe);
            loop {
                let mut line = Vec::new();
                if !matches!(reader.by_ref().take(LINE_LIMIT).read_until(b'\n', &mut line), Ok(read) if read > 0) {
                    return;
                }
                let line = String::from_utf8_lossy(&line).trim().to_owned();
                let mut lines = into.lock().unwrap_or_else(PoisonError::into_inner);
                // A line of the same card, or of the same program on it, is replaced.
                let key = |line: &str| line.split(',').take(2).map(str::to_owned).collect::<Vec<_>>();
                lines.retain(|(_, known)| key(known) != key(&line));
                if lines.len() < 256 {
                    lines.push((Instant::now(), line));
                }
            }
        });
        true
    }

    /// The latest figures. What is older than a few rounds is no reading any more.
    pub(super) fn now(&mut self, pids: &[u32]) -> GpuReading {
        let recent = |lines: &Lines, age: Duration| {
            let lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
            lines
                .iter()
                .filter(|(at, _)| at.elapsed() < age)
                .map(|(_, line)| line.as_str())
                .collect::<Vec<_>>()
                .join("\n")
        };
        let cards = nvidia_cards(&recent(&self.cards, Duration::from_secs(15)), "");
        if !cards.is_empty() {
            let programs = nvidia_processes(&recent(&self.programs, Duration::from_secs(12)));
            let own: Vec<f64> = programs
                .iter()
                .filter(|(_, program)| pids.contains(&program.pid))
                .filter_map(|(_, program)| program.used_mib)
                .collect();
            return GpuReading {
                used_mib: sum(cards.iter().map(|card| card.used_mib)),
                total_mib: sum(cards.iter().map(|card| card.total_mib)),
                process_mib: (!own.is_empty()).then(|| own.iter().sum()),
            };
        }
        if let Some((at, reading)) = &mut self.rocm {
            if at.elapsed() >= NOW_AND_THEN {
                *at = Instant::now();
                *reading = rocm().unwrap_or_default();
            }
            return *reading;
        }
        GpuReading::default()
    }

    /// Ends the tools that were started here.
    pub(super) fn end(&mut self) {
        for mut tool in self.tools.drain(..) {
            let _ = tool.kill();
            let _ = tool.wait();
        }
    }
}

fn rocm() -> Option<GpuReading> {
    let cards = rocm_cards(&Root::this().run("rocm-smi", &["--showmeminfo", "vram", "--json"])?);
    let reading = GpuReading {
        used_mib: sum(cards.iter().map(|card| card.used_mib)),
        total_mib: sum(cards.iter().map(|card| card.total_mib)),
        process_mib: None,
    };
    reading.used_mib.map(|_| reading)
}

/// The sum of what is known; nothing when nothing is.
fn sum(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values.flatten().fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
}
