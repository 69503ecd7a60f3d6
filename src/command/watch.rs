//! `watch`: a growing log or a pipe is read on, and what changes in the answer is said; at the end the whole report.
//!
//! A panic in the analysis does not end the reading: whoever writes into the pipe would otherwise be stopped by it.

use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::interrupt::Interrupts;
use super::memory_limit::memory_limit_mib;
use super::{Console, Ended, Exit};
use crate::answer::{Question, Read as ReadLog, SCHEMA_VERSION, answer};
use crate::cli::{WatchArgs, WatchFormat};
use crate::diagnosis::Words;
use crate::error::UsageError;
use crate::input::InputError;
use crate::live::{Change, Changes, Follower, Poll, Story};
use crate::report::{Format, Labels, Palette, Printer, View};
use crate::rule::Packs;

const BLOCK: usize = 256 * 1024;
/// Between two looks at a file.
const PAUSE: Duration = Duration::from_millis(25);
/// A message of several lines is there when nothing came for so long,
const QUIET: Duration = Duration::from_millis(25);
/// or when so much time has gone by: a line reaches the answer within a tenth of a second.
const LATEST: Duration = Duration::from_millis(70);
/// Weighing takes at most one part in so many of the time.
const SHARE: u32 = 4;
/// After Ctrl-C, a pipe may still bring the last words of the program before it.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Runs the command.
pub(super) fn run(args: &WatchArgs, console: &mut Console<'_>) -> io::Result<Ended> {
    let mut question = Question {
        zh: super::chinese(&args.language, console),
        asked: args.asked.iter().map(|worry| worry.word().to_owned()).collect(),
        ..Question::default()
    };
    match args.memory_limit.as_deref().map(memory_limit_mib).transpose() {
        Ok(limit) => question.memory_limit_mib = limit,
        Err(error) => return Ok(Err(error)),
    }
    if let Some(path) = &args.env {
        match super::probe::env_limit_mib(path, console)? {
            Ok(limit) if question.memory_limit_mib.is_none() => {
                question.limit_from_probe = limit.is_some();
                question.memory_limit_mib = limit;
            }
            Ok(_) => {}
            Err(error) => return Ok(Err(error)),
        }
    }
    let is_pipe = args.log.as_os_str() == "-";
    if is_pipe && console.around.stdin_is_terminal {
        return Ok(Err(Box::new(UsageError::NoLog)));
    }
    let packs = super::packs(&args.packs, console)?;
    let interrupts = Interrupts::listen()?;
    let source = if is_pipe { Source::pipe() } else { Source::File(Follower::new(&args.log)) };
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
    /// Standard input, read beside the loop, so that Ctrl-C is noticed while nothing comes.
    fn pipe() -> Self {
        let (sender, receiver) = sync_channel(16);
        thread::spawn(move || {
            let mut stdin = io::stdin().lock();
            let mut block = vec![0; BLOCK];
            loop {
                let sent = match stdin.read(&mut block) {
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

/// One line of `--format ndjson`.
#[derive(Serialize)]
struct Line<'c> {
    schema_version: u32,
    /// When it was noticed.
    time: String,
    change: &'c Change,
}

struct Watch<'w> {
    args: &'w WatchArgs,
    packs: &'w Packs,
    question: &'w Question,
    changes: Changes,
    interrupts: Interrupts,
}

impl Watch<'_> {
    fn run(mut self, mut source: Source, console: &mut Console<'_>) -> io::Result<Ended> {
        let name = self.args.log.display().to_string();
        let words = Words { packs: self.packs, zh: self.question.zh };
        let mut story = Some(Story::new(self.packs));
        let mut block = Vec::new();
        let (mut told_absent, mut failed) = (false, None);
        let mut last_bytes = Instant::now();
        let mut end_by: Option<Instant> = None;
        let mut pace = Pace::new();
        loop {
            match source.next(&mut block) {
                Ok(Step::Bytes(read)) => {
                    last_bytes = Instant::now();
                    let bytes = block.get(..read).unwrap_or_default();
                    if !guarded(&mut story, |story| story.feed(bytes)) {
                        self.panicked(&words, console)?;
                    }
                }
                Ok(Step::Part) => {
                    guarded(&mut story, Story::part);
                }
                Ok(Step::Absent) if !told_absent => {
                    told_absent = true;
                    writeln!(console.err, "{}", words.say("live-waiting", &[("file", &name)]))?;
                    console.err.flush()?;
                }
                Ok(Step::Nothing | Step::Absent) => {}
                Ok(Step::End) => break,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
            if let Some(now) = &story
                && pace.is_due(now.texts(), last_bytes)
            {
                let begun = Instant::now();
                match catch_unwind(AssertUnwindSafe(|| self.look(now, &name, &words))) {
                    Ok(changes) => self.say(&changes, &words, console)?,
                    Err(_) => {
                        story = None;
                        self.panicked(&words, console)?;
                    }
                }
                pace.done(begun);
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
        self.end(story, &name, failed, &words, console)
    }

    /// What is new up to now.
    fn look(&mut self, story: &Story<'_>, name: &str, words: &Words<'_>) -> Vec<Change> {
        let read = story.now();
        let report = answer(name, &read, self.packs, self.question);
        self.changes.since_last(&report, &read.timeline, words)
    }

    fn say(&self, changes: &[Change], words: &Words<'_>, console: &mut Console<'_>) -> io::Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let labels = Labels::new(self.packs, self.question.zh);
        let now = chrono::Local::now();
        for change in changes {
            match self.args.format {
                WatchFormat::Ndjson => {
                    let time = now.to_rfc3339_opts(chrono::SecondsFormat::Millis, false);
                    serde_json::to_writer(&mut *console.out, &Line { schema_version: SCHEMA_VERSION, time, change })?;
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
                    writeln!(console.out, "{}", words.say("live-line", &values))?;
                }
            }
        }
        console.out.flush()
    }

    fn panicked(&self, words: &Words<'_>, console: &mut Console<'_>) -> io::Result<()> {
        writeln!(console.err, "{}", words.say("live-panic", &[]))?;
        console.err.flush()
    }

    fn end(
        mut self,
        story: Option<Story<'_>>,
        name: &str,
        failed: Option<io::Error>,
        words: &Words<'_>,
        console: &mut Console<'_>,
    ) -> io::Result<Ended> {
        let Some(story) = story else { return Ok(Ok(Exit::Refused)) };
        if story.bytes() == 0 {
            let name = name.to_owned();
            let fault = match failed {
                Some(error) if error.kind() == io::ErrorKind::IsADirectory => InputError::IsDirectory { name },
                Some(source) => InputError::CannotRead { name, source },
                None => InputError::Empty { name },
            };
            console.fault(&fault)?;
            return Ok(Ok(Exit::Refused));
        }
        let answered = catch_unwind(AssertUnwindSafe(|| {
            let ReadLog { timeline, tally, mut intake } = story.finish();
            intake.truncated_by_error = failed.map(|error| error.to_string());
            let read = ReadLog::new(timeline, tally, intake);
            let report = answer(name, &read, self.packs, self.question);
            let changes = self.changes.since_last(&report, &read.timeline, words);
            (report, changes)
        }));
        let Ok((report, changes)) = answered else {
            self.panicked(words, console)?;
            return Ok(Ok(Exit::Refused));
        };
        self.say(&changes, words, console)?;
        let view =
            View { width: console.around.width(), verbose: self.args.verbose, quiet: false, palette: Palette::COLOUR };
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

/// Does something with the story; after a panic there is no story any more. False when it panicked just now.
fn guarded<'p>(story: &mut Option<Story<'p>>, what: impl FnOnce(&mut Story<'p>)) -> bool {
    let Some(alive) = story else { return true };
    let done = catch_unwind(AssertUnwindSafe(|| what(alive))).is_ok();
    if !done {
        *story = None;
    }
    done
}

/// When to weigh the story again.
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

    fn is_due(&mut self, texts: u64, last_bytes: Instant) -> bool {
        if texts == self.weighed {
            return false;
        }
        let since = *self.new_since.get_or_insert_with(Instant::now);
        let ready = last_bytes.elapsed() >= QUIET || since.elapsed() >= LATEST;
        let due = ready && self.last.elapsed() >= self.cost * SHARE;
        if due {
            self.weighed = texts;
            self.new_since = None;
        }
        due
    }

    fn done(&mut self, begun: Instant) {
        self.cost = begun.elapsed();
        self.last = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_the_analysis_and_not_the_reading() {
        let packs = Packs::built_in();
        let mut story = Some(Story::new(&packs));
        assert!(guarded(&mut story, |story| story.feed(b"got prompt\n")));
        assert!(!guarded(&mut story, |_| panic!("a mistake of ours")));
        assert!(story.is_none());
        assert!(guarded(&mut story, |story| story.feed(b"more\n")), "what comes later is let through");
    }

    #[test]
    fn a_line_waits_for_its_message_but_not_for_long() {
        let mut pace = Pace::new();
        let now = Instant::now();
        assert!(!pace.is_due(0, now), "nothing new");
        assert!(!pace.is_due(1, Instant::now()), "more may come");
        std::thread::sleep(QUIET + Duration::from_millis(5));
        assert!(pace.is_due(1, now));
        assert!(!pace.is_due(1, now), "weighed already");
    }
}
