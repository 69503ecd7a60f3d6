//! A user in a made-up install: starts it as the program says, saves the log, hands it over, and so on to the answer.
//! Everything goes through the command line, as it is typed.

use std::fmt::Write as _;
use std::fs;
use std::process::Output;

use comfy_triage::bisect::{Seen, UnitSet};
use serde_json::Value;

use crate::bisect_world::{Dice, World};

/// What the user looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Leak texts; so many prompts in the first log.
    Leak { prompts: u64 },
    /// Growth that only readings show.
    Growth,
    /// What only the user sees.
    Manual,
}

/// An install with its user.
#[derive(Debug)]
pub struct Desk<'w> {
    world: &'w World,
    look: Look,
    /// Share of the rounds in which the user hands over the wrong log.
    clumsy: f64,
    folder: tempfile::TempDir,
}

/// How it ended.
#[derive(Debug)]
pub struct Answer {
    /// `bisect status --format json` at the end.
    pub status: Value,
    /// Rounds that were entered.
    pub rounds: usize,
}

impl Answer {
    pub fn outcome(&self) -> &str {
        self.status["outcome"].as_str().unwrap()
    }

    /// Units that are named, set by set.
    pub fn named(&self) -> Vec<UnitSet> {
        let sets = self.status["culprits"].as_array().unwrap().iter();
        let mut sets: Vec<UnitSet> = sets.map(|set| set.as_array().unwrap().iter().map(unit_of).collect()).collect();
        sets.sort();
        sets
    }
}

fn unit_of(name: &Value) -> usize {
    name.as_str().unwrap().trim_start_matches("Pack-").parse().unwrap()
}

fn name(unit: usize) -> String {
    format!("Pack-{unit:03}")
}

const HEAD: &str = "Total VRAM 24106 MB, total RAM 64106 MB\npytorch version: 2.8.0+cu128\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync\nComfyUI version: 0.3.64\n";
const PASS: &str = "Potential memory leak detected with model Flux, doing a full garbage collect, for maximum performance avoid circular references in the model code.\nWARNING, memory leak with model Flux. Please make sure it is not being referenced from somewhere.\n";
const REFUSED: &str = "got prompt\ninvalid prompt: {'type': 'missing_node_type', 'message': \"Node 'Mystery' not found. The custom node may not be installed.\", 'details': \"Node ID '#7'\", 'extra_info': {}}\n";
/// Prompts of a run in which growth is measured.
const LONG: u64 = 14;
const SECONDS: u64 = 4;

impl<'w> Desk<'w> {
    pub fn new(world: &'w World, look: Look, clumsy: f64) -> Self {
        Self { world, look, clumsy, folder: tempfile::tempdir().unwrap() }
    }

    fn call(&self, arguments: &[&str]) -> Output {
        let state = self.path("state.json");
        crate::case::program().arg("bisect").args(["--state", &state]).args(arguments).output().unwrap()
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let done = self.call(arguments);
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn status(&self) -> Value {
        serde_json::from_str(&self.ok(&["status", "--format", "json"])).unwrap()
    }

    /// From the first log to the answer.
    pub fn search(&self, dice: &mut Dice) -> Answer {
        let all = UnitSet::all(self.world.units);
        self.write("first", &all, &UnitSet::new(), true, dice);
        let (log, samples) = (self.path("first.log"), self.path("first.csv"));
        let mut start = vec!["start", &log];
        match self.look {
            Look::Growth => start.extend(["--samples", &samples]),
            Look::Manual => start.extend(["--symptom", "manual"]),
            Look::Leak { .. } => {}
        }
        self.ok(&start);
        for calls in 0..400 {
            let status = self.status();
            let Some(next) = status["next"].as_object() else {
                let rounds = usize::try_from(status["rounds"].as_u64().unwrap()).unwrap();
                return Answer { status, rounds };
            };
            let on: UnitSet = match next["whitelist"].as_array() {
                Some(names) => names.iter().map(unit_of).collect(),
                None => all.clone(),
            };
            if calls % 2 == 0 && dice.chance(self.clumsy) {
                self.blunder(&on, dice);
                continue;
            }
            self.round(&on, dice);
        }
        panic!("no end: {:?}", self.world);
    }

    fn round(&self, on: &UnitSet, dice: &mut Dice) {
        let (seen, broken) = self.world.run(on, dice);
        let shows = seen == Seen::Bad;
        match (self.look, &seen) {
            (Look::Manual, Seen::Bad) => self.ok(&["bad"]),
            (Look::Manual, Seen::Good) => self.ok(&["good"]),
            _ => {
                let refused = matches!(seen, Seen::CannotRun { .. });
                self.write_round("round", on, &broken, shows, refused, dice);
                let (log, samples) = (self.path("round.log"), self.path("round.csv"));
                let mut step = vec!["step", log.as_str()];
                if self.look == Look::Growth {
                    step.extend(["--samples", samples.as_str()]);
                }
                self.ok(&step)
            }
        };
    }

    /// The first log again, one that was cut, one with other packs on, an empty one, or a round taken back by mistake.
    fn blunder(&self, on: &UnitSet, dice: &mut Dice) {
        let log = self.path("wrong.log");
        let step = |text: &str| {
            fs::write(&log, text).unwrap();
            // Refused or void; never taken for an answer.
            self.call(&["step", &log]);
        };
        match dice.within(0, 4) {
            0 if on.len() < self.world.units => step(&fs::read_to_string(self.path("first.log")).unwrap()),
            1 => step(&format!("{HEAD}{}Starting server\ngot prompt\n", table(on, &UnitSet::new()))),
            2 => {
                let mut other = on.clone();
                let unit = dice.within(0, self.world.units - 1);
                if !other.insert(unit) {
                    other = other.without(&UnitSet::from_iter([unit]));
                }
                step(&format!("{HEAD}{}Starting server\n{}", table(&other, &UnitSet::new()), prompts(9, false)));
            }
            3 => step(""),
            _ => {
                self.call(&["undo"]);
            }
        }
    }

    fn write(&self, name: &str, on: &UnitSet, broken: &UnitSet, shows: bool, dice: &mut Dice) {
        self.write_round(name, on, broken, shows, false, dice);
    }

    fn write_round(&self, name: &str, on: &UnitSet, broken: &UnitSet, shows: bool, refused: bool, dice: &mut Dice) {
        let mut log =
            format!("{HEAD}{}Starting server\n\nTo see the GUI go to: http://127.0.0.1:8188\n", table(on, broken));
        let count = match self.look {
            Look::Leak { prompts } if name == "first" => prompts,
            Look::Growth => LONG,
            _ => 9,
        };
        let text = match (refused && broken.is_empty(), self.look) {
            (true, _) => REFUSED.to_owned(),
            (_, Look::Leak { .. }) => prompts(count, shows),
            (..) => prompts(count, false),
        };
        log.push_str(&text);
        fs::write(self.path(&format!("{name}.log")), log).unwrap();
        if self.look == Look::Growth {
            fs::write(self.path(&format!("{name}.csv")), readings(count, shows, dice)).unwrap();
        }
    }
}

fn table(on: &UnitSet, broken: &UnitSet) -> String {
    if on.is_empty() {
        return "Skipping loading of custom nodes\n".to_owned();
    }
    let mut text = "\nImport times for custom nodes:\n".to_owned();
    for unit in on.iter() {
        let failed = if broken.contains(unit) { " (IMPORT FAILED)" } else { "" };
        let _ = writeln!(text, "   0.0 seconds{failed}: /opt/ComfyUI/custom_nodes/{}", name(unit));
    }
    text + "\n"
}

fn prompts(count: u64, leaks: bool) -> String {
    let pass = if leaks { PASS } else { "" };
    let one = format!("got prompt\n{pass}Prompt executed in {SECONDS}.00 seconds\n");
    let load = "Requested to load Flux\nloaded completely; 20000.00 MB usable, 11340.00 MB loaded, full load: True\n";
    one.repeat(usize::try_from(count).unwrap()).replacen("got prompt\n", &format!("got prompt\n{load}"), 1)
}

/// Readings of a run: a warm-up of its own pace, noise, peaks, idle time around it, and 40 MiB a prompt when it grows.
fn readings(prompts: u64, grows: bool, dice: &mut Dice) -> String {
    let mut text = "epoch,rss_anon_kb,prompt\n".to_owned();
    let mut share = || dice.within(0, 1_000_000) as f64 / 1e6;
    let (warm, pace) = (500.0 + 1000.0 * share(), 0.3 + 0.3 * share());
    let mut time = 1_000.0;
    let mut ended = 0.0;
    let mut row = |time: f64, ended: f64, extra: f64, noise: f64| {
        let grown = if grows { 40.0 * ended } else { 0.0 };
        let mib = 800.0 + warm * (1.0 - (-ended / pace).exp()) + grown + extra + noise;
        let _ = writeln!(text, "{time:.1},{:.0},", mib * 1024.0);
        time
    };
    for _ in 0..20 {
        row(time, ended, 0.0, 4.0 * (share() - 0.5));
        time += 1.0;
    }
    for _ in 0..prompts {
        for second in 0..SECONDS {
            let peak = if second < 2 { 700.0 * share() } else { 0.0 };
            row(time, ended, peak, 4.0 * (share() - 0.5));
            time += 1.0;
        }
        ended += 1.0;
    }
    for _ in 0..30 {
        row(time, ended, 0.0, 4.0 * (share() - 0.5));
        time += 1.0;
    }
    text
}
