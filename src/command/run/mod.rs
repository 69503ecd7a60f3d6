//! `run`: starts ComfyUI, passes its output through untouched, samples memory beside it, and answers when it ends.
//!
//! While it runs nothing is analysed. How it ended is written into the log as its last lines, so that a later triage
//! of the file knows it too.

mod child;
mod fault;
mod files;
mod gpu;
mod pump;
mod stamps;
mod trailer;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::destination::{beside, open};
use super::interrupt::Interrupts;
use super::{Console, Ended, Exit};
use crate::catalog::Packs;
use crate::cli::LaunchArgs;
use crate::diagnosis::Messages;
use crate::input::{ReadOptions, Source};
use crate::live::{Sampler, StatsUrl, prompt_line};
use crate::probe::{Memory, Probe, Root};
use crate::render::{Format, PageReport, Printer, View, page};
use crate::report::{Question, Report, answer, page_lines, read_log};
use child::Child;
use fault::RunError;
use files::Files;
use stamps::Stamps;
use trailer::{Beside, Counters};

/// Status when a command is not there, as shells have it,
const NOT_FOUND: u8 = 127;
/// and when it is there and cannot be started.
const NOT_STARTED: u8 = 126;
/// Letters of the command that are written at the head of the log.
const COMMAND_LIMIT: usize = 1000;

/// Runs the command.
pub(super) fn run(args: &LaunchArgs, console: &mut Console<'_>) -> io::Result<Ended> {
    let stats = match args.stats_url.as_deref().map(StatsUrl::parse).transpose() {
        Ok(stats) => stats,
        Err(error) => {
            console.fault(&error)?;
            return Ok(Ok(Exit::Refused));
        }
    };
    let packs = super::packs(&args.show.packs, console)?;
    let messages = Messages { packs: &packs, zh: super::chinese(&args.show.language, console) };
    let mut files = Files::of(args);
    let host = Root::this();
    let probe = Probe::look(&host, None);
    let (log, samples) = match files.open(&probe, &messages) {
        Ok(open) => open,
        Err(error) => {
            console.fault(&error)?;
            return Ok(Ok(Exit::Refused));
        }
    };
    let interrupts = Interrupts::to_pass_on()?;
    let before = Counters::read(&host);
    log.append(header(&args.command).as_bytes());
    let stamps = Stamps::of(&args.show.packs.folders);
    let mut child = match Child::start(&args.command, &log, &stamps) {
        Ok(child) => child,
        Err(source) => {
            files.undo();
            return not_started(args, source, console);
        }
    };
    let every = Duration::from_secs_f64(args.every);
    let stop = AtomicBool::new(false);
    let pid = child.id();
    let (ending, memory) = thread::scope(|scope| {
        // Whatever goes wrong there must not touch the child.
        let watch = Watch { host: &host, pid, every, stats: stats.as_ref(), stamps: &stamps, stop: &stop };
        let sampled = scope.spawn(move || catch_unwind(AssertUnwindSafe(|| sample(&watch, samples))));
        let ending = child.wait(&interrupts).map(|ending| (ending, SystemTime::now()));
        stop.store(true, Ordering::Relaxed);
        (ending, sampled.join().ok().and_then(Result::ok).flatten())
    });
    let (ending, ended) = ending?;
    child.drain();
    let after = Counters::read(&host);
    let beside = Beside { before: &before, after: &after, probe: &probe, memory, ended };
    let cut = trailer::write(&log, &ending, &beside);
    if let Some(source) = cut {
        console.fault(&RunError::LogCut { path: files.log.display().to_string(), source })?;
    }
    let said = catch_unwind(AssertUnwindSafe(|| report(args, &files, &probe, &packs, &messages, console)));
    match said {
        Ok(written) => written?,
        Err(_) => {
            writeln!(console.err, "{}", messages.text("run-panic", &[("log", &files.log.display().to_string())]))?
        }
    }
    Ok(Ok(Exit::Passed(ending.status())))
}

/// The command is not there, or cannot be started.
fn not_started(args: &LaunchArgs, source: io::Error, console: &mut Console<'_>) -> io::Result<Ended> {
    let program = args.command.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let status = if source.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_STARTED };
    console.fault(&RunError::Start { program, source })?;
    Ok(Ok(Exit::Passed(status)))
}

/// The first line of the log: the command, so that it can be repeated with its flags.
fn header(command: &[OsString]) -> String {
    let words = command.iter().map(|word| word.to_string_lossy().replace(|letter: char| letter.is_control(), " "));
    let line = words.collect::<Vec<_>>().join(" ").replace('"', "'");
    format!("comfy-triage run [COMMAND=\"{}\"]\n", crate::text::cut_chars(&line, COMMAND_LIMIT))
}

/// What is watched while it runs.
struct Watch<'a> {
    host: &'a Root,
    pid: u32,
    every: Duration,
    stats: Option<&'a StatsUrl>,
    stamps: &'a Stamps,
    stop: &'a AtomicBool,
}

/// Takes samples until told to stop. A file that cannot be written to any more ends it. Gives the machine's memory at
/// the last reading in the program's lifetime.
fn sample(watch: &Watch<'_>, mut file: File) -> Option<(SystemTime, Memory)> {
    let mut sampler = Sampler::new(watch.host, watch.pid);
    let mut cards = gpu::Cards::start(watch.every);
    let mut next = Instant::now();
    while !watch.stop.load(Ordering::Relaxed) {
        if Instant::now() < next {
            thread::sleep(Duration::from_millis(20).min(watch.every));
            continue;
        }
        // After a suspend, missed samples are not made up for.
        next = (next + watch.every).max(Instant::now());
        let pids = sampler.pids();
        let reading = cards.now(&pids);
        let answered = watch.stats.and_then(StatsUrl::ask);
        let written =
            stamp(watch.stamps, &mut file).and_then(|()| sampler.line(&pids, &reading, answered.as_ref(), &mut file));
        if written.is_err() {
            break;
        }
    }
    // The last prompts may have ended since the last sample; without their rows only they are missing.
    let _ = stamp(watch.stamps, &mut file);
    cards.end();
    sampler.last_memory()
}

/// Writes down when prompts began and ended.
fn stamp(stamps: &Stamps, file: &mut File) -> io::Result<()> {
    stamps.take().into_iter().try_for_each(|(epoch, what)| prompt_line(epoch, what, file))
}

/// Reads the log that was written, and answers.
fn report(
    args: &LaunchArgs,
    files: &Files,
    probe: &Probe,
    packs: &Packs,
    messages: &Messages<'_>,
    console: &mut Console<'_>,
) -> io::Result<()> {
    let limit = probe.limit_bytes().map(|bytes| bytes as f64 / crate::event::MIB);
    let question = Question {
        zh: messages.zh,
        asked: args.worries.words(),
        memory_limit_mib: limit,
        limit_from_probe: limit.is_some(),
        // A run of a moment has none, which is no fault.
        samples: super::probe::samples(&files.samples).ok(),
        here: console.around.system.kind,
    };
    let read = match Source::open(&files.log).and_then(|source| read_log(source, packs, &ReadOptions::default())) {
        Ok(read) => read,
        Err(error) => return console.fault(&error),
    };
    let answered = answer(&files.log.display().to_string(), &read, packs, &question);
    let view = View { verbose: args.verbose, ..console.view() };
    let mut printer = Printer::new(args.show.format, view, packs, messages.zh, 1);
    let html = args.show.format == Format::Html;
    if html || args.open {
        write_page(args, files, answered.clone(), packs, console)?;
    }
    match &args.report {
        // The page is the report.
        _ if html => {}
        Some(path) => match files::set_aside(path).and_then(|_| File::create(path)) {
            Ok(file) => {
                let mut out = anstream::StripStream::new(file);
                printer.report(answered, &mut out)?;
                printer.end(&mut out)?;
            }
            Err(source) => console.fault(&RunError::Write { path: path.display().to_string(), source })?,
        },
        None => {
            writeln!(console.err)?;
            printer.report(answered, console.err)?;
            printer.end(console.err)?;
        }
    }
    let path = |path: &Path| path.display().to_string();
    let values = [("log", &*path(&files.log)), ("samples", &*path(&files.samples)), ("probe", &*path(&files.probe))];
    writeln!(console.err, "{}", messages.text("run-files", &values))
}

/// The report as a page: where `--report` says when that is the format, else beside the log.
fn write_page(
    args: &LaunchArgs,
    files: &Files,
    report: Report,
    packs: &Packs,
    console: &mut Console<'_>,
) -> io::Result<()> {
    let lines = match page_lines(&|| Source::open(&files.log), &report, None) {
        Ok(lines) => lines,
        Err(error) => {
            console.fault(&error)?;
            Vec::new()
        }
    };
    let zh = report.language == "zh";
    let text = page(&[PageReport { report, lines }], packs, zh, None);
    let given = args.report.as_ref().filter(|_| args.show.format == Format::Html);
    let (path, wrote) = match given {
        Some(path) => (path.clone(), files::set_aside(path).and_then(|_| std::fs::write(path, &text))),
        None => beside(Some(&files.log), text.as_bytes()),
    };
    match wrote {
        Err(source) => console.fault(&RunError::Write { path: path.display().to_string(), source }),
        Ok(()) if args.open => open(&path, console),
        Ok(()) => writeln!(
            console.err,
            "{}",
            Messages { packs, zh }.text("page-written", &[("path", &path.display().to_string())])
        ),
    }
}
