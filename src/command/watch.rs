//! `watch`: a growing log or a pipe is read on, and what changes in the answer is said; at the end the whole report.
//!
//! A panic in the analysis does not end the reading: whoever writes into the pipe would otherwise be stopped by it.
//!
//! Long: one loop that reads, waits and speaks; its parts share its state.

use std::fs::File;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::common_arguments::question;
use super::interrupt::Interrupts;
use super::memory_limit::memory_limit_mib;
use super::probe::ask_with_env;
use super::{Console, Ended, Exit};
use crate::catalog::Packs;
use crate::cli::{WatchArgs, WatchFormat};
use crate::diagnosis::Messages;
use crate::error::UsageError;
use crate::input::InputError;
use crate::live::{Change, Changes, Follower, Poll};
use crate::pipeline::{Pipeline, PipelineOptions};
use crate::render::{Format, Labels, Printer, View, WatchLine};
use crate::report::{Question, SCHEMA_VERSION, answer};
use crate::shown;

const BLOCK: usize = 256 * 1024;
/// Between two looks at a file.
const PAUSE: Duration = Duration::from_millis(10);
/// A message of several lines is there when nothing came for so long,
const QUIET: Duration = Duration::from_millis(20);
/// or when so much time has gone by: a line reaches the answer within a tenth of a second.
const LATEST: Duration = Duration::from_millis(50);
/// After each weighing, so many times its length goes by without one.
const SHARE: u32 = 3;
/// After Ctrl-C, a pipe may still bring the last words of the program before it.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Runs the command.
pub(super) fn run(args: &WatchArgs, console: &mut Console<'_>) -> io::Result<Ended> {
    let memory_limit_mib = match args.question.limit.memory_limit.as_deref().map(memory_limit_mib).transpose() {
        Ok(limit) => limit,
        Err(error) => return Ok(Err(error)),
    };
    let zh = super::chinese(&args.language, console);
    let mut question = question(zh, &args.question.worries, memory_limit_mib, console);
    if let Err(error) = ask_with_env(&mut question, args.question.env.as_deref(), console)? {
        return Ok(Err(error));
    }
    let is_pipe = args.log.as_os_str() == "-";
    if is_pipe && console.around.stdin_is_terminal {
        return Ok(Err(Box::new(UsageError::NoLog)));
    }
    let packs = super::packs(&args.packs, console)?;
    let interrupts = Interrupts::listen()?;
    let source = Source::of(&args.log);
    let watch = Watch { args, packs: &packs, question: &question, changes: Changes::default(), interrupts };
    watch.run(source, console)
}

/// Where the bytes come from.
enum Source {
    File(Follower),
    Pipe(Receiver<io::Result<Vec<u8>>>),
}

/// What came.
enum Step {
    Bytes(usize),
    Nothing,
    Absent,
    Part,
    End,
}

impl Source {
    fn of(path: &Path) -> Self {
        if path.as_os_str() == "-" {
            return Self::pipe(|| Ok(io::stdin()));
        }
        // A named pipe or a device has no size and no place to go back to.
        if std::fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir()) {
            let path = path.to_owned();
            return Self::pipe(|| File::open(path));
        }
        Self::File(Follower::new(path))
    }

    /// What is opened and read beside the loop, so that Ctrl-C is noticed while nothing comes: already the opening of
    /// a named pipe waits for its writer.
    fn pipe<R: Read>(open: impl FnOnce() -> io::Result<R> + Send + 'static) -> Self {
        let (sender, receiver) = sync_channel(16);
        thread::spawn(move || {
            let mut stream = match open() {
                Ok(stream) => stream,
                Err(error) => {
                    let _ = sender.send(Err(error));
                    return;
                }
            };
            let mut block = vec![0; BLOCK];
            loop {
                let sent = match stream.read(&mut block) {
                    Ok(0) => return,
                    Ok(read) => sender.send(Ok(block.get(..read).unwrap_or_default().to_vec())),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
                    Err(error) => {
                        let _ = sender.send(Err(error));
                        return;
                    }
                };
                if sent.is_err() {
                    return;
                }
            }
        });
        Self::Pipe(receiver)
    }

    fn next(&mut self, block: &mut Vec<u8>) -> io::Result<Step> {
        match self {
            Self::File(follower) => {
                block.resize(BLOCK, 0);
                Ok(match follower.poll(block)? {
                    Poll::Bytes(read) => Step::Bytes(read),
                    Poll::Part => Step::Part,
                    Poll::Nothing => {
                        thread::sleep(PAUSE);
                        Step::Nothing
                    }
                    Poll::Absent => {
                        thread::sleep(PAUSE);
                        Step::Absent
                    }
                })
            }
            Self::Pipe(receiver) => match receiver.recv_timeout(PAUSE) {
                Ok(Ok(bytes)) => {
                    *block = bytes;
                    Ok(Step::Bytes(block.len()))
                }
                Ok(Err(error)) => Err(error),
                Err(RecvTimeoutError::Timeout) => Ok(Step::Nothing),
                Err(RecvTimeoutError::Disconnected) => Ok(Step::End),
            },
        }
    }

    fn is_pipe(&self) -> bool {
        matches!(self, Self::Pipe(_))
    }
}

struct Watch<'w> {
    args: &'w WatchArgs,
    packs: &'w Packs,
    question: &'w Question,
    changes: Changes,
    interrupts: Interrupts,
}

impl Watch<'_> {
    // Long: the steps of one call, each of which may end it with its own exit status.
    fn run(mut self, mut source: Source, console: &mut Console<'_>) -> io::Result<Ended> {
        let name = self.args.log.display().to_string();
        let messages = Messages { packs: self.packs, zh: self.question.zh };
        let mut pipeline = Some(Pipeline::new(self.packs, PipelineOptions::default()));
        let mut block = Vec::new();
        let (mut told_absent, mut absent, mut failed) = (false, false, None);
        let mut last_bytes = Instant::now();
        let mut end_by: Option<Instant> = None;
        let mut pace = Pace::new();
        loop {
            match source.next(&mut block) {
                Ok(Step::Bytes(read)) => {
                    last_bytes = Instant::now();
                    absent = false;
                    let bytes = block.get(..read).unwrap_or_default();
                    if !guarded(&mut pipeline, |pipeline| pipeline.feed(bytes)) {
                        self.panicked(&messages, console)?;
                    }
                }
                Ok(Step::Part) => {
                    guarded(&mut pipeline, Pipeline::break_line);
                }
                Ok(Step::Absent) if !told_absent => {
                    (told_absent, absent) = (true, true);
                    writeln!(console.err, "{}", messages.text("live-waiting", &[("file", &name)]))?;
                    console.err.flush()?;
                }
                Ok(Step::Nothing | Step::Absent) => {
                    guarded(&mut pipeline, Pipeline::settle);
                }
                Ok(Step::End) => break,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
            if let Some(now) = &pipeline
                && pace.is_due(now.texts(), last_bytes, Instant::now())
            {
                let begun = Instant::now();
                match catch_unwind(AssertUnwindSafe(|| self.look(now, &name, &messages))) {
                    Ok(changes) => self.say(&changes, &messages, console)?,
                    Err(_) => {
                        pipeline = None;
                        self.panicked(&messages, console)?;
                    }
                }
                pace.done(begun, Instant::now());
            }
            if self.args.idle.is_some_and(|idle| !source.is_pipe() && last_bytes.elapsed() >= Duration::from_secs(idle))
            {
                break;
            }
            if !self.interrupts.take().is_empty() {
                // The writer of a pipe got the same Ctrl-C and may have something to say yet.
                if !source.is_pipe() || end_by.is_some() {
                    break;
                }
                end_by = Some(Instant::now() + LAST_WORDS);
            }
            if end_by.is_some_and(|by| Instant::now() >= by) {
                break;
            }
        }
        if absent && failed.is_none() {
            failed = Some(io::ErrorKind::NotFound.into());
        }
        self.end(pipeline, &name, failed, &messages, console)
    }

    /// What is new up to now.
    fn look(&mut self, pipeline: &Pipeline<'_, '_>, name: &str, messages: &Messages<'_>) -> Vec<Change> {
        let read = pipeline.snapshot();
        let report = answer(name, &read, self.packs, self.question);
        self.changes.since_last(&report, &read.timeline, messages)
    }

    fn say(&self, changes: &[Change], messages: &Messages<'_>, console: &mut Console<'_>) -> io::Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let labels = Labels::new(self.packs, self.question.zh);
        let now = chrono::Local::now();
        for change in changes {
            match self.args.format {
                WatchFormat::Ndjson => {
                    let time = now.to_rfc3339_opts(chrono::SecondsFormat::Millis, false);
                    let line = WatchLine::Change { schema_version: SCHEMA_VERSION, time, change };
                    console.out.write_all(shown::json_line(&line)?.as_bytes())?;
                    writeln!(console.out)?;
                }
                WatchFormat::Text => {
                    let grade = change.grade.map_or_else(String::new, |grade| format!(" · {}", labels.grade(grade)));
                    let values = [
                        ("time", &*now.format("%H:%M:%S").to_string()),
                        ("line", &*change.line.to_string()),
                        ("id", &change.id),
                        ("grade", &grade),
                        ("text", &change.text),
                    ];
                    writeln!(console.out, "{}", messages.text("live-line", &values))?;
                }
            }
        }
        console.out.flush()
    }

    fn panicked(&self, messages: &Messages<'_>, console: &mut Console<'_>) -> io::Result<()> {
        writeln!(console.err, "{}", messages.text("live-panic", &[]))?;
        console.err.flush()
    }

    fn end(
        mut self,
        pipeline: Option<Pipeline<'_, '_>>,
        name: &str,
        failed: Option<io::Error>,
        messages: &Messages<'_>,
        console: &mut Console<'_>,
    ) -> io::Result<Ended> {
        let Some(pipeline) = pipeline else { return Ok(Ok(Exit::Refused)) };
        if pipeline.bytes() == 0 {
            let name = name.to_owned();
            let fault = match failed {
                Some(error) if error.kind() == io::ErrorKind::IsADirectory => InputError::IsDirectory { name },
                Some(error) if error.kind() == io::ErrorKind::NotFound => InputError::NotFound { name },
                Some(error) if error.kind() == io::ErrorKind::PermissionDenied => InputError::PermissionDenied { name },
                Some(source) => InputError::CannotRead { name, source },
                None => InputError::Empty { name },
            };
            console.fault(&fault)?;
            return Ok(Ok(Exit::Refused));
        }
        let answered = catch_unwind(AssertUnwindSafe(|| {
            let read = pipeline.finish().ended_by(failed.map(|error| error.to_string()));
            let report = answer(name, &read, self.packs, self.question);
            let changes = self.changes.since_last(&report, &read.timeline, messages);
            (report, changes)
        }));
        let Ok((report, changes)) = answered else {
            self.panicked(messages, console)?;
            return Ok(Ok(Exit::Refused));
        };
        self.say(&changes, messages, console)?;
        let view = View { verbose: self.args.verbose, ..console.view() };
        let format = match self.args.format {
            WatchFormat::Text => {
                writeln!(console.out)?;
                Format::Text
            }
            WatchFormat::Ndjson => Format::Ndjson,
        };
        let mut printer = Printer::new(format, view, self.packs, self.question.zh, 1);
        printer.report(report, console.out)?;
        printer.end(console.out)?;
        Ok(Ok(Exit::Done))
    }
}

/// Does something with the pipeline; after a panic there is no pipeline any more. False when it panicked just now.
fn guarded<'p>(pipeline: &mut Option<Pipeline<'p, 'p>>, what: impl FnOnce(&mut Pipeline<'p, 'p>)) -> bool {
    let Some(alive) = pipeline else { return true };
    let done = catch_unwind(AssertUnwindSafe(|| what(alive))).is_ok();
    if !done {
        *pipeline = None;
    }
    done
}

/// When to weigh the timeline again.
struct Pace {
    weighed: u64,
    new_since: Option<Instant>,
    last: Instant,
    cost: Duration,
}

impl Pace {
    fn new() -> Self {
        Self { weighed: 0, new_since: None, last: Instant::now(), cost: Duration::ZERO }
    }

    fn is_due(&mut self, texts: u64, last_bytes: Instant, now: Instant) -> bool {
        if texts == self.weighed {
            return false;
        }
        let since = *self.new_since.get_or_insert(now);
        let ready = now.duration_since(last_bytes) >= QUIET || now.duration_since(since) >= LATEST;
        let due = ready && now.duration_since(self.last) >= self.cost * SHARE;
        if due {
            self.weighed = texts;
            self.new_since = None;
        }
        due
    }

    fn done(&mut self, begun: Instant, now: Instant) {
        self.cost = now.duration_since(begun);
        self.last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_the_analysis_and_not_the_reading() {
        let packs = Packs::built_in();
        let mut pipeline = Some(Pipeline::new(&packs, PipelineOptions::default()));
        assert!(guarded(&mut pipeline, |pipeline| pipeline.feed(b"got prompt\n")));
        assert!(!guarded(&mut pipeline, |_| panic!("a mistake of ours")));
        assert!(pipeline.is_none());
        assert!(guarded(&mut pipeline, |pipeline| pipeline.feed(b"more\n")), "what comes later is let through");
    }

    #[test]
    fn a_line_waits_for_its_message_but_not_for_long() {
        let mut pace = Pace::new();
        let begun = pace.last;
        assert!(!pace.is_due(0, begun, begun + LATEST), "nothing new");
        assert!(!pace.is_due(1, begun, begun), "more may come");
        assert!(pace.is_due(1, begun, begun + QUIET));
        assert!(!pace.is_due(1, begun, begun + LATEST * 2), "weighed already");
    }

    /// A file with a line every so many milliseconds, followed on a clock of its own.
    fn latest_answer(every: Duration, cost: Duration) -> Duration {
        let mut pace = Pace::new();
        let start = pace.last;
        let (mut now, mut last_bytes, mut read, mut answered) = (start, start, 0_u32, 0_u32);
        let mut latest = Duration::ZERO;
        while now < start + Duration::from_secs(20) {
            let written = u32::try_from(now.duration_since(start).as_micros() / every.as_micros()).unwrap();
            if written > read {
                (read, last_bytes) = (written, now);
            } else {
                now += PAUSE;
            }
            if pace.is_due(u64::from(read), last_bytes, now) {
                let begun = now;
                now += cost;
                pace.done(begun, now);
                latest = latest.max(now.duration_since(start + every * (answered + 1)));
                answered = read;
            }
            now += Duration::from_micros(200);
        }
        assert!(answered > 0);
        latest
    }

    #[test]
    fn at_any_rate_a_line_is_answered_within_a_tenth_of_a_second() {
        // Weighing a timeline at all its limits takes some milliseconds.
        for cost in [0, 2, 8, 16].map(Duration::from_millis) {
            for every in [300, 1_000, 9_000, 11_000, 19_000, 21_000, 45_000, 70_000, 400_000].map(Duration::from_micros)
            {
                let latest = latest_answer(every, cost);
                assert!(latest <= Duration::from_millis(100), "{latest:?} at {every:?} with {cost:?}");
            }
        }
    }
}
