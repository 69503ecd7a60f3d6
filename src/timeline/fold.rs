//! The fold itself: one event at a time into the current session, and which session that is.
//!
//! Long: one state machine; its arms are in the files below it.

mod crash;
mod end;
mod exceptions;
mod facts;
mod loads;
mod memory;
mod message;
mod nodes;
mod open;
mod prompt;
mod refusals;
mod title;
mod told;

use std::borrow::Cow;

use serde::Serialize;

use self::loads::LoadGroup;
use self::message::Message;
use super::ending::{Ending, EndingKind};
use super::evidence::Evidence;
use super::failure::Exception;
use super::leak::LeakTracker;
use super::names::{NameId, Names, Table};
use super::note::{Note, overwrite};
use super::pace::Pace;
use super::prompts::{PromptDraft, PromptLog};
use super::session::{Dynamic, Load, Session, Title};
use super::signature_hit::{SignalTracker, SignatureTexts};
use super::signs::Signs;
use super::starts::{LeftOut, Starts};
use super::track::Track;
use crate::catalog::{Mark, Packs, Rule, Since, Version, VersionSpan};
use crate::event::{At, Event, EventSink, What};
use crate::input::{Bar, Level};

const NODES_LIMIT: usize = 1024;
const LIST_LIMIT: usize = 64;
const FRAMES_KEPT: usize = 6;
const DIRS_KEPT: usize = 8;
const SIZES_KEPT: usize = 64;
const VALUES_KEPT: usize = 32;
/// Bytes of a name or a text from the log that are kept; honest ones are shorter.
const NAME_KEPT: usize = 200;
const TEXT_KEPT: usize = 600;

/// The story of a log.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// The first starts of ComfyUI and the latest ones.
    pub sessions: Vec<Session>,
    /// What is counted of the starts between.
    pub left_out: LeftOut,
    pub ending: Option<Ending>,
    /// How often ComfyUI was started again while a prompt was in flight, and nothing tells of an end.
    pub silent_restarts: u64,
    /// Where lines began to come several times, of which each was told once.
    pub doubled_from: Option<u64>,
    /// How often they came; 0 where none did.
    pub copies: u32,
    /// Versions that fit the wordings seen.
    pub wording: VersionSpan,
    /// Rule that set the lower and the upper end of `wording`, with the line.
    pub wording_from: Option<Evidence>,
    pub wording_until: Option<Evidence>,
    /// Events in all.
    pub events: u64,
    /// Last line of the log with any text.
    pub last_text: Option<Evidence>,
    /// The log shows level tags or stamps, i.e. INFO lines are visible.
    pub info_visible: bool,
    /// Reading ended before the log did.
    pub broken_off: bool,
}

impl Timeline {
    /// The session of this number, unless it is only counted.
    pub fn session(&self, number: usize) -> Option<&Session> {
        self.index_of(number).and_then(|index| self.sessions.get(index))
    }

    /// Where the session of this number stands among those kept.
    pub fn index_of(&self, number: usize) -> Option<usize> {
        self.sessions.iter().position(|session| session.number == number)
    }

    /// The log goes on behind what was read: where reading stopped is no end, and nothing was cut off there.
    pub fn break_off(&mut self) {
        self.broken_off = true;
        let unknown = |ending: &mut Ending| matches!(ending.kind, EndingKind::Abrupt | EndingKind::StillRunning);
        self.ending.take_if(unknown);
        if let Some(last) = self.sessions.last_mut() {
            last.ending.take_if(unknown);
        }
    }
}

/// State of a session that is being told.
#[derive(Debug, Clone, Default)]
struct Open {
    session: Session,
    leaks: LeakTracker,
    signals: SignalTracker,
    pace: Pace,
    track: Track,
    names: Names,
    loads: Table<LoadDraft>,
    dynamic: Table<Dynamic>,
    /// MiB on the card, by class, with the line that said so.
    resident: Table<(f64, u64)>,
    /// RAM and VRAM in MiB, by class.
    details: Table<(Option<f64>, Option<f64>)>,
    prompt: PromptDraft,
    prompts: PromptLog,
    last_executed: Option<Note>,
    /// Classes requested whose load lines are still to come, and those lines.
    group: LoadGroup,
    /// Numbers of the rules.
    strong_marks: Vec<usize>,
    running: bool,
    /// The server answers: what is raised from now on outside a prompt does not stop it.
    ready: bool,
    /// A traceback's first line was seen.
    headed: bool,
    /// The main program itself raised what it did not catch: this start is over.
    died: bool,
    /// Index of the OOM that further lines may complete.
    open_oom: Option<usize>,
    open_exception: Option<usize>,
    traceback: Option<Exception>,
    /// A line in a prompt that looks like an exception; what the prompt does next tells whether it failed.
    loose: Option<Exception>,
    /// A traceback that passes through no executor stood in this prompt: where in the list of exceptions.
    beside: Option<usize>,
    /// Line of the last frame of a traceback.
    frame_line: u64,
    /// The frames that follow are those of a stack that was printed without an error.
    in_stack: bool,
    bar: Option<Bar>,
    last_class: Option<(NameId, Option<f64>, u64)>,
    prompt_began: bool,
    /// Something happened in a prompt, or one was received, and no end of a prompt stands behind it.
    moved: bool,
    /// A prompt was received, and nothing shows yet that it runs.
    only_received: bool,
    refusing: refusals::Refusing,
    /// The message of an announced exception stands in the next line.
    awaits_message: bool,
    /// A line that may be the title of an error dialog.
    title: Option<Title>,
    /// Of the thread whose traceback follows.
    thread: Option<String>,
    /// The first text of a start, or the first work where the log shows no start.
    began: Option<Evidence>,
}

/// Load lines of one class while the log is read.
#[derive(Debug, Clone)]
struct LoadDraft {
    load: Load,
    last: Option<Note>,
    size_at: Option<Note>,
}

impl LoadDraft {
    fn new() -> Self {
        Self { load: Load::new(), last: None, size_at: None }
    }

    fn into_load(self) -> Load {
        let evidence = |note: Option<Note>| note.map(Note::into_evidence);
        Load { last: evidence(self.last), size_at: evidence(self.size_at), ..self.load }
    }
}

/// Folds events into a [`Timeline`]. A clone that is finished tells the story up to now, while the fold goes on.
#[derive(Debug, Clone)]
pub struct Fold {
    texts: SignatureTexts,
    signs: Signs,
    done: Starts,
    open: Open,
    /// A start-up block that may turn out to be a restart.
    tentative: Option<Box<Open>>,
    end: End,
    timeline: Timeline,
    /// By the number of the rule.
    wording_seen: Vec<bool>,
    last_text: LastText,
}

/// The last line with any text.
#[derive(Debug, Clone, Default)]
struct LastText {
    note: Option<Note>,
    /// Another line stood before it.
    follows: bool,
    /// A line was seen.
    seen: bool,
}

impl LastText {
    fn set(&mut self, at: &At<'_>) {
        self.follows = std::mem::replace(&mut self.seen, true);
        overwrite(&mut self.note, at);
    }

    /// A single line may be all that somebody pasted, and is shown at length.
    fn evidence(&self) -> Option<Evidence> {
        let note = self.note.clone()?;
        Some(if self.follows { note.into_short_evidence(200, 160) } else { note.into_evidence() })
    }
}

#[derive(Debug, Clone, Default)]
struct End {
    kills: Vec<Evidence>,
    exit: Option<(i64, Evidence)>,
    exit_elsewhere: bool,
    /// Its code is that of a native crash.
    crash_code: bool,
    constraint: Option<(String, Evidence)>,
    /// The line with the constraint names a process that may be ComfyUI's: the kernel killed it.
    kernel_names: bool,
    /// Private memory of the killed process in MiB, and the line that says so.
    anon_mib: Option<(f64, u64)>,
    /// A line of the kernel is among `kills`.
    by_kernel: bool,
    crash: Option<Evidence>,
    /// The first line of a crash report.
    stack: Option<Evidence>,
    daemon: Option<Evidence>,
    given_up: Option<(String, Evidence)>,
    /// A stop explains what ended before it was told.
    explained: bool,
    other_killed: Option<Evidence>,
    message: Message,
    oom_killed: Option<(bool, Evidence)>,
    not_counted: Option<Evidence>,
    pause: Option<Evidence>,
    cut: bool,
    /// A start-up exception with nothing of ComfyUI after it.
    fatal: Option<Evidence>,
    told: told::Told,
}

impl Fold {
    pub fn new(packs: &Packs) -> Self {
        Self {
            texts: SignatureTexts::of(packs),
            signs: Signs::of(packs),
            done: Starts::default(),
            open: Open::default(),
            tentative: None,
            end: End::default(),
            timeline: Timeline::default(),
            wording_seen: Vec::new(),
            last_text: LastText::default(),
        }
    }

    /// The story up to now; the fold is used up.
    pub fn finish(mut self) -> Timeline {
        if let Some(block) = self.tentative.take() {
            // A start that failed never gets to its strong lines; only a start imports node packs.
            if block.has_failed() || !block.session.nodes.is_empty() {
                let by = block.began.clone();
                self.restart(*block, by);
            } else {
                self.settle_tentative(*block);
            }
        }
        let open = std::mem::take(&mut self.open);
        self.close_session(open, None);
        let mut timeline = self.timeline;
        (timeline.sessions, timeline.left_out) = self.done.into_parts();
        timeline.last_text = self.last_text.evidence();
        timeline.ending = timeline.sessions.last().and_then(|session| session.ending.clone());
        timeline
    }

    /// `by` is what shows that ComfyUI was started again; none, when it is the log that ends.
    fn close_session(&mut self, mut open: Open, by: Option<Evidence>) {
        let prompt = open.session.current_prompt();
        if let Some(exception) = open.traceback.take() {
            open.keep_exception(exception);
        }
        open.keep_loose();
        open.settle_loads();
        open.leaks.finish(prompt);
        let in_flight = open.in_flight();
        let began = open.prompt_began;
        if began {
            open.session.prompts.broken = u64::from(open.prompt.told.failed);
            let mut last = std::mem::take(&mut open.prompt);
            last.told.number = prompt;
            open.track.cut_off(&mut last.told);
            open.prompts.keep(last);
        }
        let end = std::mem::take(&mut self.end).in_a_log(self.timeline.events);
        let mut session = open.into_session();
        if session.first_line == 0 {
            return;
        }
        // Ctrl-C at the start script's own question stops what had ended before.
        session.stopped.take_if(|stop| end.pause.as_ref().is_some_and(|pause| pause.place <= stop.place));
        let last_text = if by.is_none() { self.last_text.evidence() } else { None };
        let mut ending = end.told(in_flight, began, session.stopped.clone(), last_text);
        if by.is_some() && ending.kind == EndingKind::Abrupt {
            self.timeline.silent_restarts += 1;
        }
        ending.restarted = by;
        session.ending = Some(ending);
        self.done.keep(session);
    }

    /// A start-up block that was no restart: only its counts are kept.
    fn settle_tentative(&mut self, block: Open) {
        let session = &mut self.open.session;
        session.counts.total_vram_lines += block.session.counts.total_vram_lines;
        session.last_line = session.last_line.max(block.session.last_line);
        for node in block.session.nodes {
            if !session.nodes.iter().any(|known| known.dir == node.dir) && session.nodes.len() < NODES_LIMIT {
                session.nodes.push(node);
            }
        }
        for (name, fact) in block.session.facts {
            session.facts.entry(name).or_insert(fact);
        }
        session.container_limit_mib = block.session.container_limit_mib.or(session.container_limit_mib.take());
        for hint in block.session.container_hints {
            push_capped(&mut session.container_hints, || hint);
        }
        for flag in block.session.flags {
            if session.flag(&flag.name).is_none() {
                session.flags.push(flag);
            }
        }
    }

    /// Decides to which session an event of a start belongs.
    fn route_mark(&mut self, event: &Event<'_>) {
        let launch = matches!(event.what, What::Launch { .. });
        let server_start = matches!(event.what, What::ServerStart);
        let mark = event.rule.and_then(|rule| rule.mark).or(launch.then_some(Mark::Weak));
        let Some(mark) = mark else { return };
        if event.nested {
            return;
        }
        match mark {
            Mark::Weak => {
                if (self.open.running
                    || self.open.died
                    || (launch && self.open.session.first_line > 0 && !self.open.strong_marks.is_empty()))
                    && self.tentative.is_none()
                {
                    self.tentative = Some(Box::default());
                }
            }
            Mark::Strong => {
                let Some(rule) = event.rule.map(Rule::number) else { return };
                let seen = self.open.strong_marks.contains(&rule);
                if let Some(block) = self.tentative.take_if(|block| server_start && !seen && self.open.lived_on(block))
                {
                    self.open.died = false;
                    self.settle_tentative(*block);
                } else if let Some(block) = self.tentative.take() {
                    let by = block.began.clone();
                    self.restart(*block, by);
                } else {
                    let late = self.open.running && (!server_start || self.open.has_work());
                    if seen || late || self.open.died {
                        self.restart(Open::default(), Some(Evidence::of(&event.at)));
                    }
                }
                self.open.strong_marks.push(rule);
            }
        }
        self.told().began.get_or_insert_with(|| Evidence::of(&event.at));
    }

    fn restart(&mut self, block: Open, by: Option<Evidence>) {
        let old = std::mem::replace(&mut self.open, block);
        self.close_session(old, by);
    }

    /// The start that lines belong to now.
    fn told(&mut self) -> &mut Open {
        match &mut self.tentative {
            Some(block) => block,
            None => &mut self.open,
        }
    }

    /// It takes a prompt, ends one, or says that it stops: what was told of an end since this start was another program's.
    fn lives_on(&mut self) {
        let Some(began) = self.open.began.as_ref().map(|at| at.place) else { return };
        if let Some(crash) = self.end.refute(began) {
            self.open.forget_stack(crash);
        }
    }

    fn note_wording(&mut self, event: &Event<'_>) {
        let Some(rule) = event.rule else { return };
        if rule.until.is_none() && !matches!(rule.since, Since::At(_)) && !rule.until_before_numbers {
            return;
        }
        let number = rule.number();
        if number >= self.wording_seen.len() {
            self.wording_seen.resize(number + 1, false);
        }
        if std::mem::replace(&mut self.wording_seen[number], true) {
            return;
        }
        let span = &mut self.timeline.wording;
        if let Since::At(since) = rule.since
            && span.from.is_none_or(|from| since > from)
        {
            span.from = Some(since);
            self.timeline.wording_from = Some(Evidence::of(&event.at));
        }
        if let Some(until) = rule.until {
            let before = Version::new(until.major, until.minor, until.patch.saturating_add(1));
            if span.before.is_none_or(|end| before < end) {
                span.before = Some(before);
                self.timeline.wording_until = Some(Evidence::of(&event.at));
            }
        }
    }

    /// Keeps the last text.
    fn note_text(&mut self, at: &At<'_>) {
        self.end.cut = at.cut;
        self.last_text.set(at);
    }
}

impl EventSink for Fold {
    fn event(&mut self, event: &Event<'_>) {
        self.timeline.events += 1;
        match event.what {
            // The log ends in a bar's line as in any other.
            What::Bar(bar) => {
                let steps = format!("{}/{}", bar.done, bar.total);
                self.note_text(&At { text: steps.as_bytes(), ..event.at });
            }
            _ => self.note_text(&event.at),
        }
        self.route_mark(event);
        self.note_wording(event);
        let work = matches!(
            event.what,
            What::PromptGot | What::PromptExecuted { .. } | What::LoadRequested { .. } | What::LoadDynamic { .. }
        );
        if work && let Some(block) = self.tentative.take() {
            // Behind a death, the first texts of a start are a start.
            if self.end.tells_death() {
                let by = block.began.clone();
                self.restart(*block, by);
            } else {
                self.settle_tentative(*block);
            }
        }
        self.end.event(event, &self.signs);
        match &mut self.tentative {
            Some(block) => block.event(event, &mut self.texts, &self.signs),
            None => self.open.event(event, &mut self.texts, &self.signs),
        }
        match event.what {
            // Whoever takes prompts has not stopped, and has not died.
            What::PromptGot => {
                self.open.session.stopped = None;
                self.lives_on();
            }
            What::PromptExecuted { .. } => self.lives_on(),
            What::Stop { .. } if event.rule.is_some_and(|rule| rule.sets("alive")) => self.lives_on(),
            _ => {}
        }
        if event.at.level.is_some_and(|level| level <= Level::Info)
            || matches!(
                event.what,
                What::PromptGot
                    | What::PromptExecuted { .. }
                    | What::LeakPotential { .. }
                    | What::LoadRequested { .. }
                    | What::LoadComplete { .. }
                    | What::LoadPartial { .. }
                    | What::LoadDynamic { .. }
                    | What::ServerReady
            )
        {
            self.timeline.info_visible = true;
        }
    }

    fn unknown(&mut self, at: &At<'_>) {
        self.timeline.events += 1;
        self.note_text(at);
        let open = match &mut self.tentative {
            Some(block) => block,
            None => &mut self.open,
        };
        open.touch(at.place.line);
        open.source_line(at, &self.signs);
        open.tick(at);
        self.open.answer_of_docker(at, &self.signs);
        let Self { tentative, open, signs, .. } = self;
        tentative.as_deref_mut().unwrap_or(open).plain_line(at, signs);
    }
}
/// A text of the log, cut when it is absurdly long.
fn kept(text: &str, limit: usize) -> String {
    if text.len() <= limit { text.to_owned() } else { crate::text::cut_chars(text, limit / 2) }
}

fn kept_sizes(sizes: &[(Cow<'_, str>, Cow<'_, str>)]) -> Vec<(String, String)> {
    sizes.iter().map(|(name, size)| (name.clone().into_owned(), kept(size, NAME_KEPT))).collect()
}

fn push_capped<T>(list: &mut Vec<T>, item: impl FnOnce() -> T) {
    if list.len() < LIST_LIMIT {
        list.push(item());
    }
}
