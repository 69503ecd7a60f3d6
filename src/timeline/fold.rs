//! The fold itself: one event at a time into the current session.

use std::borrow::Cow;

use serde::Serialize;

use super::ending::{Ending, EndingKind, InFlight};
use super::evidence::{Counted, Evidence, count};
use super::failure::{Exception, ExceptionPlace, HostOom, OomRecord};
use super::leak::LeakTracker;
use super::names::{NameId, Names, Table};
use super::note::{Note, overwrite};
use super::prompts::{PromptDraft, PromptLog};
use super::session::{Dynamic, Fact, FactJson, Flag, Load, NodeFolder, Session};
use super::signal::{SignalTexts, SignalTracker};
use crate::event::{At, Event, EventSink, FactValue, MIB, OomNumbers, What, flags_of};
use crate::input::{Bar, Level};
use crate::rule::{Mark, Packs, Rule, Since, Version, VersionSpan};

const SESSIONS_LIMIT: usize = 64;
const NODES_LIMIT: usize = 1024;
const LIST_LIMIT: usize = 64;
const FRAMES_KEPT: usize = 6;
const DIRS_KEPT: usize = 8;
const SIZES_KEPT: usize = 64;
const VALUES_KEPT: usize = 32;
/// Bytes of a name or a text from the log that are kept; honest ones are shorter.
const NAME_KEPT: usize = 200;
const TEXT_KEPT: usize = 600;
/// Bytes that the sessions kept in detail may take as JSON; memory is a small multiple of it.
const SESSIONS_BYTES: usize = 2 * 1024 * 1024;

/// The story of a log.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Timeline {
    pub sessions: Vec<Session>,
    /// Sessions beyond the limit, counted only.
    pub sessions_left_out: u64,
    pub ending: Option<Ending>,
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
}

/// State of a session that is being told.
#[derive(Debug, Clone, Default)]
struct Open {
    session: Session,
    leaks: LeakTracker,
    signals: SignalTracker,
    names: Names,
    loads: Table<LoadDraft>,
    dynamic: Table<Dynamic>,
    /// MiB on the card, by class.
    resident: Table<f64>,
    /// RAM and VRAM in MiB, by class.
    details: Table<(Option<f64>, Option<f64>)>,
    prompt: PromptDraft,
    prompts: PromptLog,
    last_executed: Option<Note>,
    /// Classes requested whose load line has not come yet.
    pending_loads: Vec<NameId>,
    /// Numbers of the rules.
    strong_marks: Vec<usize>,
    running: bool,
    /// The server answers: what is raised from now on outside a prompt does not stop it.
    ready: bool,
    /// A traceback's first line was seen.
    headed: bool,
    /// Index of the OOM that further lines may complete.
    open_oom: Option<usize>,
    open_exception: Option<usize>,
    traceback: Option<Exception>,
    bar: Option<Bar>,
    last_class: Option<(NameId, Option<f64>, u64)>,
    prompt_began: bool,
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
    texts: SignalTexts,
    done: Vec<Session>,
    /// Size of `done` as JSON, when each was added.
    done_bytes: usize,
    left_out: u64,
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
}

impl LastText {
    fn set(&mut self, at: &At<'_>) {
        self.follows = self.note.is_some();
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
    constraint: Option<(String, Evidence)>,
    anon_mib: Option<f64>,
    crash: Option<Evidence>,
    daemon: Option<Evidence>,
    oom_killed: Option<(bool, Evidence)>,
    pause: Option<Evidence>,
    cut: bool,
    /// A start-up exception with nothing of ComfyUI after it.
    fatal: Option<Evidence>,
}

impl Fold {
    pub fn new(packs: &Packs) -> Self {
        Self {
            texts: SignalTexts::of(packs),
            done: Vec::new(),
            done_bytes: 0,
            left_out: 0,
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
            // A start that failed never gets to its strong lines.
            if block.has_failed() {
                self.restart(*block);
            } else {
                self.settle_tentative(*block);
            }
        }
        let open = std::mem::take(&mut self.open);
        self.close_session(open);
        let mut timeline = self.timeline;
        timeline.sessions = self.done;
        timeline.sessions_left_out = self.left_out;
        timeline.last_text = self.last_text.evidence();
        timeline.ending = timeline.sessions.last().and_then(|session| session.ending.clone());
        timeline
    }

    fn close_session(&mut self, mut open: Open) {
        let prompt = open.session.current_prompt();
        if let Some(exception) = open.traceback.take() {
            open.keep_exception(exception);
        }
        open.leaks.finish(prompt);
        let in_flight = open.in_flight();
        let began = open.prompt_began;
        if began {
            let mut last = std::mem::take(&mut open.prompt);
            last.told.number = prompt;
            open.prompts.keep(last);
        }
        let end = std::mem::take(&mut self.end);
        let mut session = open.into_session();
        if session.first_line == 0 {
            return;
        }
        session.ending = Some(end.told(in_flight, began, session.stopped.clone(), self.last_text.evidence()));
        let room = self.done.len() < SESSIONS_LIMIT && self.done_bytes < SESSIONS_BYTES;
        if room {
            self.done_bytes += length_of(&session);
            self.done.push(session);
        } else {
            self.left_out += 1;
            if let Some(last) = self.done.last_mut() {
                *last = session;
            }
        }
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
                if (self.open.running || (launch && self.open.session.first_line > 0 && !self.open.strong_marks.is_empty()))
                    && self.tentative.is_none()
                {
                    self.tentative = Some(Box::default());
                }
            }
            Mark::Strong => {
                let Some(rule) = event.rule.map(Rule::number) else { return };
                if let Some(block) = self.tentative.take() {
                    self.restart(*block);
                } else {
                    let seen = self.open.strong_marks.contains(&rule);
                    let late = self.open.running && (!server_start || self.open.has_work());
                    if seen || late {
                        self.restart(Open::default());
                    }
                }
                self.open.strong_marks.push(rule);
            }
        }
    }

    fn restart(&mut self, block: Open) {
        let old = std::mem::replace(&mut self.open, block);
        self.close_session(old);
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

    fn note_text(&mut self, at: &At<'_>) {
        self.end.cut = at.cut;
        self.last_text.set(at);
    }
}

impl EventSink for Fold {
    fn event(&mut self, event: &Event<'_>) {
        self.timeline.events += 1;
        if !matches!(event.what, What::Bar(_)) {
            self.note_text(&event.at);
        }
        self.route_mark(event);
        self.note_wording(event);
        let work = matches!(
            event.what,
            What::PromptGot | What::PromptExecuted { .. } | What::LoadRequested { .. } | What::LoadDynamic { .. }
        );
        if work && let Some(block) = self.tentative.take() {
            self.settle_tentative(*block);
        }
        self.end.event(event);
        match &mut self.tentative {
            Some(block) => block.event(event, &mut self.texts),
            None => self.open.event(event, &mut self.texts),
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
        self.open.touch(at);
    }
}

impl End {
    fn event(&mut self, event: &Event<'_>) {
        let at = &event.at;
        match &event.what {
            What::Kill => push_capped(&mut self.kills, Evidence::of(at)),
            What::KernelKill { anon_rss, name, cgroup, .. } if is_python(name) => {
                push_capped(&mut self.kills, Evidence::of(at));
                self.anon_mib = anon_rss.map(|bytes| bytes / MIB);
                if *cgroup && self.constraint.is_none() {
                    self.constraint = Some(("CONSTRAINT_MEMCG".to_owned(), Evidence::of(at)));
                }
            }
            What::KernelOom { constraint } => {
                self.constraint = Some((kept(constraint, NAME_KEPT), Evidence::of(at)));
            }
            What::Exit { code } => {
                if *code == 137 || *code == -9 {
                    push_capped(&mut self.kills, Evidence::of(at));
                }
                self.exit = Some((*code, Evidence::of(at)));
            }
            What::Crash => {
                self.crash.get_or_insert_with(|| Evidence::of(at));
            }
            What::OomDaemon => {
                self.daemon.get_or_insert_with(|| Evidence::of(at));
            }
            What::OomKilledFlag { value } => self.oom_killed = Some((*value, Evidence::of(at))),
            What::Pause => self.pause = Some(Evidence::of(at)),
            What::ExceptionLine { .. } if !event.nested => self.fatal = Some(Evidence::of(at)),
            What::PromptGot | What::PromptExecuted { .. } | What::ServerReady | What::ImportFailed { .. }
            | What::ImportRow { .. } | What::LoadRequested { .. } => {
                self.fatal = None;
                self.pause = None;
            }
            _ => {}
        }
    }

    fn told(self, in_flight: Option<InFlight>, prompt_open: bool, stopped: Option<Evidence>, last_text: Option<Evidence>) -> Ending {
        let crash_code = self.exit.as_ref().is_some_and(|(code, _)| is_crash_code(*code));
        let kind = if !self.kills.is_empty() || self.daemon.is_some() || self.oom_killed.as_ref().is_some_and(|(value, _)| *value) {
            EndingKind::Killed
        } else if self.crash.is_some() || crash_code {
            EndingKind::NativeCrash
        } else if stopped.is_some() {
            EndingKind::CleanStop
        } else if self.fatal.is_some() && !prompt_open {
            EndingKind::Traceback
        } else if in_flight.is_some() {
            EndingKind::Abrupt
        } else {
            EndingKind::StillRunning
        };
        let at = match kind {
            EndingKind::Killed => self.kills.first().cloned().or_else(|| self.daemon.clone()).or_else(|| self.oom_killed.clone().map(|(_, at)| at)),
            EndingKind::NativeCrash => self.crash.clone().or_else(|| self.exit.clone().map(|(_, at)| at)),
            EndingKind::CleanStop => stopped,
            EndingKind::Traceback => self.fatal.clone(),
            EndingKind::Abrupt | EndingKind::StillRunning => last_text,
        };
        Ending {
            kind,
            at,
            in_flight: in_flight.filter(|_| kind != EndingKind::CleanStop),
            exit_code: self.exit.map(|(code, _)| code),
            constraint: self.constraint,
            kills: self.kills,
            killed_anon_mib: self.anon_mib,
            crash: self.crash,
            daemon: self.daemon,
            oom_killed_flag: self.oom_killed,
            pause: self.pause,
            cut: self.cut,
        }
    }
}

/// Exit codes of native crashes: signals on Unix, NTSTATUS values on Windows.
fn is_crash_code(code: i64) -> bool {
    matches!(code, 134 | 135 | 136 | 139 | -6 | -7 | -8 | -11) || (code as u32 >= 0xC000_0000 && code != -1 && (code as u32) != 0xC000_013A && !(-64..=255).contains(&code))
}

fn is_python(name: &str) -> bool {
    let name = name.trim_matches(|letter| letter == '(' || letter == ')');
    name.is_empty() || name.starts_with("python") || name.starts_with("pt_main") || name.contains("omfy") || name.starts_with("main")
}

/// A text of the log, cut when it is absurdly long.
fn kept(text: &str, limit: usize) -> String {
    if text.len() <= limit { text.to_owned() } else { crate::text::cut_chars(text, limit / 2) }
}

fn kept_sizes(sizes: &[(Cow<'_, str>, Cow<'_, str>)]) -> Vec<(String, String)> {
    sizes.iter().map(|(name, size)| (name.clone().into_owned(), kept(size, NAME_KEPT))).collect()
}

/// Counts what is written.
struct Length(usize);

impl std::io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Size of a session as JSON, which measures all its lists at once.
fn length_of(session: &Session) -> usize {
    let mut length = Length(0);
    // Counting does not fail.
    let _ = serde_json::to_writer(&mut length, session);
    length.0
}

fn push_capped<T>(list: &mut Vec<T>, item: T) {
    if list.len() < LIST_LIMIT {
        list.push(item);
    }
}

impl Open {
    fn touch(&mut self, at: &At<'_>) {
        if self.session.first_line == 0 {
            self.session.first_line = at.place.line;
        }
        self.session.last_line = at.place.line;
    }

    /// The session with everything that was kept in shorter form while it was open.
    fn into_session(self) -> Session {
        let names = &self.names;
        let (prompt_list, prompts_left_out) = self.prompts.into_list(names);
        let mut session = Session {
            prompt_list,
            prompts_left_out,
            leak_passes: self.leaks.passes,
            held_total: self.leaks.held_total,
            stray_leak_warnings: self.leaks.stray_warnings,
            leaks: self.leaks.into_classes(names),
            signals: self.signals.into_list(),
            loads: self.loads.into_map(names, LoadDraft::into_load),
            dynamic: self.dynamic.into_map(names, |dynamic| dynamic),
            resident_mib: self.resident.into_map(names, |mib| mib),
            detail_sizes: self.details.into_map(names, |sizes| sizes),
            last_executed: self.last_executed.map(Note::into_evidence),
            ..self.session
        };
        let told = session.prompts.executed + session.prompts.invalid;
        session.prompts.lost = session.prompts.got.saturating_sub(told);
        session
    }

    /// A prompt was queued or ran.
    fn has_work(&self) -> bool {
        let prompts = &self.session.prompts;
        prompts.got > 0 || prompts.executed > 0 || !self.loads.is_empty() || !self.dynamic.is_empty()
    }

    fn begin_prompt(&mut self, at: &At<'_>) {
        let prompt = &mut self.prompt.told;
        if !self.prompt_began {
            self.prompt_began = true;
            prompt.first_line = at.place.line;
        }
        prompt.last_line = at.place.line;
        self.running = true;
        self.ready = true;
    }

    /// A start that ended in an exception.
    fn has_failed(&self) -> bool {
        self.traceback.is_some() || !self.session.exceptions.is_empty()
    }

    fn in_flight(&self) -> Option<InFlight> {
        let waiting = self.session.prompts.got > self.session.prompts.executed + self.session.prompts.invalid;
        let bar = self.bar.filter(|bar| bar.done < bar.total);
        if !self.prompt_began || !(waiting || bar.is_some() || !self.pending_loads.is_empty() || self.last_class.is_some()) {
            return None;
        }
        Some(InFlight {
            prompt: self.session.current_prompt(),
            class: self.last_class.map(|(class, _, _)| self.names.text(class).to_owned()),
            mib: self.last_class.and_then(|(_, mib, _)| mib),
            step: bar.map(|bar| (bar.done, bar.total)),
            since_line: self.prompt.told.first_line,
        })
    }

    fn event(&mut self, event: &Event<'_>, texts: &mut SignalTexts) {
        let at = &event.at;
        self.touch(at);
        let prompt = self.session.current_prompt();
        match at.level {
            Some(Level::Debug) => self.session.counts.debug_lines += 1,
            Some(Level::Detail) => self.session.counts.detail_lines += 1,
            _ => {}
        }
        let always = event.nested
            || matches!(
                event.what,
                What::Exception { .. } | What::ExceptionLine { .. } | What::Aimdo { .. } | What::ErrorNotice | What::ReportField { .. }
            );
        if !matches!(event.what, What::Noise | What::Bar(_) | What::TracebackFrame { .. }) {
            self.signals.line(texts, event, prompt, always);
        }
        match &event.what {
            What::Fact { name, value, weak } => self.fact(name, value, *weak, at),
            What::Launch { args } => self.launch(args, at),
            What::ServerStart => {
                self.session.counts.starts += 1;
                self.running = true;
            }
            What::ServerReady => {
                self.running = true;
                self.ready = true;
                self.session.server_ready.get_or_insert_with(|| Evidence::of(at));
            }
            What::PromptGot | What::PromptExecuted { .. } | What::PromptInvalid | What::PromptInterrupted => {
                self.prompt_event(&event.what, at);
            }
            What::LoadRequested { .. } | What::LoadComplete { .. } | What::LoadPartial { .. } | What::LoadDynamic { .. }
            | What::LoadOld | What::Loader | What::Unload { .. } | What::DetailLoad { .. } => self.load_event(&event.what, at),
            What::LeakPotential { class } => {
                self.begin_prompt(at);
                let class = self.names.id(class);
                self.leaks.potential(class, at, prompt);
            }
            What::LeakWarning { class } => {
                self.begin_prompt(at);
                let class = self.names.id(class);
                self.leaks.warning(class, at, prompt);
            }
            What::Exception { .. } | What::TracebackStart | What::TracebackFrame { .. } | What::ExceptionLine { .. }
            | What::ReportField { .. } | What::ImportFailed { .. } => self.exception_event(event, prompt),
            What::Oom { .. } | What::OomField { .. } | What::OomUnload | What::HostOom { .. } | What::TiledRetry
            | What::AttentionRetry => self.memory_failure(event, prompt),
            What::ImportRow { seconds, path, failed } => self.import_row(*seconds, path, *failed, at),
            What::NodesDisabled => self.session.nodes_disabled = Some(Evidence::of(at)),
            What::NodeSkipped { name } => push_capped(&mut self.session.nodes_skipped, kept(name, NAME_KEPT)),
            What::PinError => count(&mut self.session.counts.pin_errors, at, prompt),
            What::Aimdo { level, .. } => match &**level {
                "ERROR" | "CRITICAL" | "FATAL" => count(&mut self.session.counts.aimdo_errors, at, prompt),
                "WARNING" | "WARN" => count(&mut self.session.counts.aimdo_warnings, at, prompt),
                _ => {}
            },
            What::CacheEvict { active, full } => {
                count(&mut self.session.counts.cache_evictions, at, prompt);
                if *active || *full {
                    count(&mut self.session.counts.cache_evictions_active, at, prompt);
                }
            }
            What::PinEvict { .. } => count(&mut self.session.counts.pin_evictions, at, prompt),
            What::DeviceClone { .. } => count(&mut self.session.counts.device_clones, at, prompt),
            What::ContainerHint | What::OomKilledFlag { .. } => push_capped(&mut self.session.container_hints, Evidence::of(at)),
            What::ContainerLimit { bytes } => {
                self.session.container_limit_mib = Some((bytes / MIB, Evidence::of(at)));
                push_capped(&mut self.session.container_hints, Evidence::of(at));
            }
            What::Stop => self.session.stopped = Some(Evidence::of(at)),
            What::ErrorNotice => push_capped(&mut self.session.error_notices, Evidence::of(at)),
            What::Bar(bar) => {
                self.bar = Some(*bar);
                if bar.seconds_per_step.is_some() {
                    self.prompt.told.seconds_per_step = bar.seconds_per_step;
                }
            }
            _ => {}
        }
    }

    fn fact(&mut self, name: &str, value: &FactValue<'_>, weak: bool, at: &At<'_>) {
        if name == "total_vram_mib" && !weak {
            self.session.counts.total_vram_lines += 1;
        }
        let fact = Fact { value: FactJson::of(value), at: Evidence::of(at), weak };
        if name == "device" && !weak && !self.session.devices.iter().any(|known| known.value == fact.value) {
            push_capped(&mut self.session.devices, fact.clone());
        }
        match self.session.facts.get_mut(name) {
            None => {
                self.session.facts.insert(name.to_owned(), fact);
            }
            Some(old) if old.weak && !weak => *old = fact,
            Some(_) => {}
        }
    }

    fn launch(&mut self, args: &str, at: &At<'_>) {
        for (name, values) in flags_of(args) {
            if self.session.flag(&name).is_none() && self.session.flags.len() < LIST_LIMIT * 2 {
                let values = values.iter().take(VALUES_KEPT).map(|value| kept(value, TEXT_KEPT)).collect();
                self.session.flags.push(Flag { name: kept(&name, NAME_KEPT), values, at: Evidence::of(at) });
            }
        }
        self.session.facts.entry("launcher".to_owned()).or_insert_with(|| Fact {
            value: FactJson::Text(crate::text::cut_chars(args, 300)),
            at: Evidence::of(at),
            weak: true,
        });
    }

    fn prompt_event(&mut self, what: &What<'_>, at: &At<'_>) {
        match what {
            What::PromptGot => {
                self.session.prompts.got += 1;
                self.session.first_got.get_or_insert_with(|| Evidence::of(at));
                self.begin_prompt(at);
            }
            What::PromptInvalid => {
                self.session.prompts.invalid += 1;
                self.session.invalid_at.get_or_insert_with(|| Evidence::of(at));
                let waiting = self.session.prompts.got > self.session.prompts.executed + self.session.prompts.invalid;
                if !waiting && self.prompt.requested.is_empty() && !self.prompt.told.failed {
                    self.prompt_began = false;
                }
            }
            What::PromptInterrupted => {
                self.prompt.told.interrupted = true;
                self.session.first_interrupt.get_or_insert_with(|| Evidence::of(at));
            }
            What::PromptExecuted { seconds } => self.prompt_executed(*seconds, at),
            _ => {}
        }
    }

    fn prompt_executed(&mut self, seconds: f64, at: &At<'_>) {
        self.begin_prompt(at);
        let number = self.session.current_prompt();
        self.leaks.prompt_ended(at, number);
        if let Some(exception) = self.traceback.take() {
            self.keep_exception(exception);
        }
        let told = &mut self.prompt.told;
        told.seconds = Some(seconds);
        told.ended = true;
        told.number = number;
        if told.failed {
            self.session.prompts.failed += 1;
        } else if told.interrupted {
            self.session.prompts.interrupted += 1;
        } else {
            for oom in &mut self.session.ooms {
                oom.recovered |= oom.prompt < number;
            }
        }
        self.session.prompts.executed += 1;
        overwrite(&mut self.last_executed, at);
        self.prompt = self.prompts.keep(std::mem::take(&mut self.prompt));
        self.prompt_began = self.session.prompts.got > self.session.prompts.executed + self.session.prompts.invalid;
        self.prompt.told.first_line = if self.prompt_began { at.place.line + 1 } else { 0 };
        self.open_oom = None;
        self.open_exception = None;
        self.bar = None;
        self.pending_loads.clear();
        self.last_class = None;
    }

    fn load_event(&mut self, what: &What<'_>, at: &At<'_>) {
        let prompt = self.session.current_prompt();
        self.begin_prompt(at);
        match what {
            What::LoadRequested { class } => self.load_requested(class, at, prompt),
            What::LoadComplete { class, loaded, .. } => self.loaded(class.as_deref(), *loaded, None, at),
            What::LoadPartial { class, loaded, offloaded, .. } => self.loaded(class.as_deref(), *loaded, *offloaded, at),
            What::LoadDynamic { class, staged } => {
                self.leaks.close(prompt);
                let class = self.names.id(class);
                self.prompt.prepared.add(class);
                self.pending_loads.retain(|pending| *pending != class);
                let staged_mib = staged / MIB;
                let new = || Dynamic { prepared: 0, staged_mib, at: Evidence::of(at) };
                let entry = self.dynamic.entry(class, new);
                entry.prepared += 1;
                entry.staged_mib = staged_mib;
                self.last_class = Some((class, Some(staged_mib), at.place.line));
            }
            What::LoadOld => {
                self.prompt.told.old_loads += 1;
                count(&mut self.session.counts.old_loads, at, prompt);
            }
            What::Loader => self.prompt.told.loader_lines += 1,
            What::Unload { count } => {
                self.session.unloads.lines += 1;
                self.session.unloads.models += count;
                self.prompt.told.unloaded_models += count;
            }
            What::DetailLoad { class, ram, vram } => {
                let sizes = (ram.map(|bytes| bytes / MIB), vram.map(|bytes| bytes / MIB));
                let class = self.names.id(class);
                *self.details.entry(class, || sizes) = sizes;
            }
            _ => {}
        }
    }

    fn load_requested(&mut self, class: &str, at: &At<'_>, prompt: u64) {
        self.leaks.close(prompt);
        let class = self.names.id(class);
        self.prompt.requested.add(class);
        let rebuilt = self.prompt.told.loader_lines > 0;
        let draft = self.loads.entry(class, LoadDraft::new);
        let load = &mut draft.load;
        load.requested += 1;
        load.first.get_or_insert_with(|| Evidence::of(at));
        overwrite(&mut draft.last, at);
        if load.last_prompt != prompt {
            load.prompts += 1;
            if load.last_prompt != 0 && rebuilt {
                load.rebuilt_prompts += 1;
            } else if load.last_prompt != 0 {
                load.reload_prompts += 1;
            }
            load.last_prompt = prompt;
        }
        if self.pending_loads.len() < LIST_LIMIT {
            self.pending_loads.push(class);
        }
        self.last_class = Some((class, None, at.place.line));
    }

    fn loaded(&mut self, class: Option<&str>, loaded: Option<f64>, offloaded: Option<f64>, at: &At<'_>) {
        let class = match class {
            Some(class) => {
                let class = self.names.id(class);
                self.pending_loads.retain(|pending| *pending != class);
                class
            }
            None if self.pending_loads.is_empty() => match self.last_class {
                Some((class, _, _)) => class,
                None => return,
            },
            None => self.pending_loads.remove(0),
        };
        let mib = loaded.map(|bytes| bytes / MIB);
        let draft = self.loads.entry(class, LoadDraft::new);
        let load = &mut draft.load;
        load.last_mib = mib.or(load.last_mib);
        load.last_offloaded_mib = offloaded.map(|bytes| bytes / MIB);
        if let Some(mib) = mib
            && load.sizes_mib.len() < SIZES_KEPT
        {
            load.sizes_mib.push(mib);
        }
        overwrite(&mut draft.size_at, at);
        if let Some(mib) = mib {
            *self.resident.entry(class, || mib) = mib;
        }
        self.last_class = Some((class, mib, at.place.line));
    }

    fn import_row(&mut self, seconds: f64, path: &str, failed: bool, at: &At<'_>) {
        let dir = folder_name(path);
        if dir.is_empty() || self.session.nodes.len() >= NODES_LIMIT {
            return;
        }
        let evidence = Evidence::of(at);
        if let Some(node) = self.session.nodes.iter_mut().find(|node| node.dir == dir) {
            node.failed |= failed;
            node.seconds = Some(node.seconds.unwrap_or(0.0).max(seconds));
            if failed {
                node.at = evidence;
            }
            return;
        }
        self.session.nodes.push(NodeFolder {
            dir: kept(dir, NAME_KEPT),
            path: kept(path, TEXT_KEPT),
            seconds: Some(seconds),
            failed,
            reason: None,
            at: evidence,
            reason_at: None,
        });
    }

    fn import_failed(&mut self, path: &str, reason: &str, at: &At<'_>) {
        let dir = folder_name(path);
        if dir.is_empty() {
            return;
        }
        let evidence = Evidence::of(at);
        let room = self.session.nodes.len() < NODES_LIMIT;
        match self.session.nodes.iter_mut().find(|node| node.dir == dir) {
            Some(node) => {
                node.failed = true;
                node.reason = Some(crate::text::cut_chars(reason, 200));
                node.reason_at = Some(evidence);
            }
            None if room => self.session.nodes.push(NodeFolder {
                dir: kept(dir, NAME_KEPT),
                path: kept(path, TEXT_KEPT),
                seconds: None,
                failed: true,
                reason: Some(crate::text::cut_chars(reason, 200)),
                at: evidence.clone(),
                reason_at: Some(evidence),
            }),
            None => {}
        }
    }

    fn exception_event(&mut self, event: &Event<'_>, prompt: u64) {
        let at = &event.at;
        match &event.what {
            What::Exception { message } => {
                self.begin_prompt(at);
                if let Some(exception) = self.traceback.take() {
                    self.keep_exception(exception);
                }
                self.prompt.told.failed = true;
                let mut exception = Exception::new(Evidence::of(at), ExceptionPlace::Prompt, prompt);
                exception.set_message(message);
                self.open_oom = None;
                self.open_exception = self.enter_exception(exception);
            }
            What::TracebackStart if self.open_exception.is_none() && self.traceback.is_none() => {
                self.traceback = Some(Exception::new(Evidence::of(at), self.place_now(), prompt));
                self.headed = true;
            }
            What::TracebackFrame { file, line, function } => {
                let place = self.place_now();
                let frame = format!("{}:{line} {}", crate::text::cut_chars(file, 200), kept(function, NAME_KEPT));
                let dir = custom_node_dir(file).map(|dir| kept(dir, NAME_KEPT));
                // An Error Report's stack trace has no first line of its own.
                let reported = self.session.exceptions.iter().rposition(|exception| exception.from_report && exception.prompt == prompt);
                let index = self.open_exception.or(reported.filter(|_| self.traceback.is_none()));
                let exception = match index.and_then(|index| self.session.exceptions.get_mut(index)) {
                    Some(exception) => exception,
                    None => self.traceback.get_or_insert_with(|| Exception::new(Evidence::of(at), place, prompt)),
                };
                exception.in_execution |= file.ends_with("execution.py");
                if exception.frames.len() == FRAMES_KEPT {
                    exception.frames.remove(0);
                }
                exception.frames.push(frame);
                exception.innermost_is_node = dir.is_some();
                if let Some(dir) = dir {
                    exception.dir_at = Some(Evidence::of(at));
                    if let Some(known) = exception.dirs.iter().position(|known| *known == dir) {
                        let dir = exception.dirs.remove(known);
                        exception.dirs.push(dir);
                    } else if exception.dirs.len() < DIRS_KEPT {
                        exception.dirs.push(dir);
                    }
                }
            }
            What::ExceptionLine { kind, message } => self.exception_line(kind, message, at, prompt),
            What::ReportField { name, value } => self.report_field(name, value, at, prompt),
            What::ImportFailed { path, reason } => {
                self.import_failed(path, reason, at);
                // Its traceback stood before this line and is told by it.
                self.traceback = None;
                if let Some(last) = self.session.exceptions.last()
                    && last.place != ExceptionPlace::Prompt
                    && last.prompt == prompt
                    && !last.from_report
                {
                    self.session.exceptions.pop();
                }
            }
            _ => {}
        }
    }

    fn exception_line(&mut self, kind: &str, message: &str, at: &At<'_>, prompt: u64) {
        if let Some(exception) = self.open_exception.and_then(|index| self.session.exceptions.get_mut(index)) {
            exception.kind = Some(kept(kind, NAME_KEPT));
            exception.last_line_at = Some(Evidence::of(at));
            if exception.message.is_empty() {
                exception.set_message(message);
            }
            return;
        }
        let place = self.place_now();
        let headed = std::mem::take(&mut self.headed);
        let mut exception = match self.traceback.take() {
            Some(exception) => exception,
            // A line that only looks like an exception says nothing outside a traceback, unless it stands in a prompt.
            None if place == ExceptionPlace::Prompt && !at.glued => Exception::new(Evidence::of(at), place, prompt),
            None => return,
        };
        exception.kind = Some(kept(kind, NAME_KEPT));
        exception.set_message(message);
        exception.last_line_at = Some(Evidence::of(at));
        // A node's failure is announced, or its traceback goes through the executor. The server's own tracebacks
        // (a client that went away) do not fail a prompt that runs beside them.
        if exception.place == ExceptionPlace::Prompt && headed && !exception.in_execution {
            exception.place = ExceptionPlace::Idle;
        }
        if exception.place == ExceptionPlace::Prompt {
            self.prompt.told.failed = true;
        }
        self.keep_exception(exception);
    }

    fn report_field(&mut self, name: &str, value: &str, at: &At<'_>, prompt: u64) {
        let reported = self.session.exceptions.iter_mut().rev().find(|exception| exception.from_report);
        let exception = match reported {
            Some(exception) => exception,
            None => {
                let mut exception = Exception::new(Evidence::of(at), ExceptionPlace::Prompt, prompt);
                exception.from_report = true;
                let Some(index) = self.enter_exception(exception) else { return };
                let Some(exception) = self.session.exceptions.get_mut(index) else { return };
                exception
            }
        };
        match name {
            "node_type" => exception.node = Some(crate::text::cut_chars(value, 120)),
            "exception_type" => exception.kind = Some(crate::text::cut_chars(value, 120)),
            "exception_message" => exception.set_message(value),
            "arguments" => self.launch(value, at),
            _ => {}
        }
    }

    fn place_now(&self) -> ExceptionPlace {
        if self.prompt_began {
            ExceptionPlace::Prompt
        } else if self.ready {
            ExceptionPlace::Idle
        } else if self.running {
            ExceptionPlace::Start
        } else if self.session.prompts.got == 0 {
            ExceptionPlace::Import
        } else {
            ExceptionPlace::Start
        }
    }

    /// Enters an exception; one that an Error Report told already is completed instead.
    fn enter_exception(&mut self, exception: Exception) -> Option<usize> {
        let told = self.session.exceptions.iter().position(|known| {
            known.from_report
                && !exception.from_report
                && known.prompt == exception.prompt
                && (known.message.is_empty()
                    || exception.message.is_empty()
                    || known.message.contains(exception.message.trim())
                    || exception.message.contains(known.message.trim()))
        });
        if let Some(index) = told {
            if let Some(known) = self.session.exceptions.get_mut(index) {
                known.prompt = exception.prompt;
                if known.message.is_empty() {
                    known.message = exception.message;
                }
                known.at = exception.at;
            }
            return Some(index);
        }
        if self.session.exceptions.len() >= LIST_LIMIT {
            self.session.exceptions_left_out += 1;
            return None;
        }
        self.session.exceptions.push(exception);
        Some(self.session.exceptions.len() - 1)
    }

    fn keep_exception(&mut self, exception: Exception) {
        if exception.kind.is_none() && exception.frames.is_empty() {
            return;
        }
        let in_prompt = exception.place == ExceptionPlace::Prompt;
        let index = self.enter_exception(exception);
        if self.prompt_began && in_prompt {
            self.open_exception = index;
        }
    }

    fn memory_failure(&mut self, event: &Event<'_>, prompt: u64) {
        let at = &event.at;
        match &event.what {
            What::Oom { kind, numbers, sizes } => {
                let reported = self.session.exceptions.iter().rposition(|exception| exception.from_report && event.nested);
                if let Some(exception) = self.open_exception.or(reported).and_then(|index| self.session.exceptions.get_mut(index)) {
                    exception.is_oom = true;
                }
                let sizes = kept_sizes(sizes);
                if self.complete_oom(kind, numbers, &sizes, at) {
                    return;
                }
                // An Error Report's first lines, or a dialog's text pasted above the log, tell what the log tells again.
                let from_report = !self.prompt_began && self.open_exception.is_none();
                self.new_oom(kind, **numbers, sizes, at, prompt, from_report);
            }
            What::OomField { numbers, sizes } => {
                let sizes = kept_sizes(sizes);
                // A lone `: 12 GiB` is no out-of-memory; the block's own first lines are.
                let tells = numbers.requested.is_some() || numbers.allocated.is_some();
                if !self.complete_oom("", numbers, &sizes, at) && tells {
                    self.new_oom("fraction", **numbers, sizes, at, prompt, false);
                }
            }
            What::OomUnload => {
                count(&mut self.session.counts.oom_unloads, at, prompt);
                if self.open_oom.is_none() {
                    self.new_oom("unknown", OomNumbers::default(), Vec::new(), at, prompt, false);
                }
                if let Some(oom) = self.open_oom.and_then(|index| self.session.ooms.get_mut(index)) {
                    oom.unloaded_all = Some(Evidence::of(at));
                    oom.last_line = at.place.line;
                }
                self.resident.clear();
                // What is loaded after this was unloaded by it: no needless reload.
                for draft in self.loads.values_mut() {
                    draft.load.last_prompt = 0;
                }
                self.prompt.told.failed = true;
            }
            What::HostOom { kind, requested } => {
                if let Some(exception) = self.open_exception.and_then(|index| self.session.exceptions.get_mut(index)) {
                    exception.is_oom = true;
                }
                let same = self.session.host_ooms.last().is_some_and(|last| last.prompt == prompt && *last.kind == **kind);
                if !same {
                    push_capped(
                        &mut self.session.host_ooms,
                        HostOom { kind: kept(kind, NAME_KEPT), requested: *requested, at: Evidence::of(at), prompt },
                    );
                }
            }
            What::TiledRetry => {
                self.prompt.told.tiled_retry = true;
                count(&mut self.session.counts.tiled_retries, at, prompt);
            }
            What::AttentionRetry => {
                self.begin_prompt(at);
                count(&mut self.session.counts.attention_retries, at, prompt);
            }
            _ => {}
        }
    }

    /// Adds what a further line says to the OOM it belongs to. False when it is a new one.
    fn complete_oom(&mut self, kind: &str, numbers: &OomNumbers, sizes: &[(String, String)], at: &At<'_>) -> bool {
        let open = self.open_oom.or_else(|| {
            // The Logs section of an Error Report tells again what its first lines told.
            self.session.ooms.iter().rposition(|oom| {
                oom.from_report && oom.kind == kind && (oom.numbers.requested == numbers.requested || numbers.requested.is_none())
            })
        });
        let Some(oom) = open.and_then(|index| self.session.ooms.get_mut(index)) else { return false };
        let upgrade = oom.kind == "allocation-on-device" && kind == "fraction";
        if !kind.is_empty() && oom.kind != kind && !upgrade && oom.kind != "unknown" {
            return false;
        }
        if upgrade || oom.kind == "unknown" && !kind.is_empty() {
            oom.kind = kept(kind, NAME_KEPT);
        }
        oom.numbers.merge(numbers);
        for (name, size) in sizes {
            if !oom.sizes.iter().any(|(known, _)| known == name) {
                oom.sizes.push((name.clone(), size.clone()));
            }
        }
        if oom.from_report && self.open_exception.is_some() {
            oom.from_report = false;
            oom.at = Evidence::of(at);
            oom.prompt = self.session.prompts.executed + 1;
        }
        oom.last_line = oom.last_line.max(at.place.line);
        self.open_oom = open;
        true
    }

    fn new_oom(&mut self, kind: &str, numbers: OomNumbers, sizes: Vec<(String, String)>, at: &At<'_>, prompt: u64, from_report: bool) {
        if !from_report {
            self.prompt.told.ooms += 1;
            self.prompt.told.failed = self.prompt_began;
        }
        if self.session.ooms.len() >= LIST_LIMIT {
            self.session.ooms_left_out += 1;
            self.open_oom = None;
            return;
        }
        let node = self
            .open_exception
            .and_then(|index| self.session.exceptions.get(index))
            .or_else(|| self.session.exceptions.iter().rev().find(|exception| exception.from_report))
            .and_then(|exception| exception.node.clone());
        let resident_mib = self.resident_now();
        self.session.ooms.push(OomRecord {
            kind: kept(kind, NAME_KEPT),
            numbers,
            sizes,
            node,
            at: Evidence::of(at),
            last_line: at.place.line,
            prompt,
            unloaded_all: None,
            from_report,
            resident_mib,
            last_load: self.last_class.map(|(class, _, line)| (self.names.text(class).to_owned(), line)),
            sampling: self.bar.filter(|bar| bar.done < bar.total).map(|bar| (bar.done, bar.total)),
            recovered: false,
        });
        self.open_oom = Some(self.session.ooms.len() - 1);
    }

    /// What the load lines said is on the card, by name, with the lines that said so.
    fn resident_now(&self) -> Vec<(String, f64, u64)> {
        let mut list: Vec<(String, f64, u64)> = self
            .resident
            .iter()
            .map(|(class, mib)| {
                let size_at = self.loads.get(class).and_then(|draft| draft.size_at.as_ref());
                (self.names.text(class).to_owned(), *mib, size_at.map_or(0, |note| note.place.line))
            })
            .collect();
        list.sort_by(|a, b| a.0.cmp(&b.0));
        list
    }
}

/// Last part of a path with either kind of slash.
fn folder_name(path: &str) -> &str {
    let path = path.trim().trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The folder under `custom_nodes` that a file belongs to.
fn custom_node_dir(file: &str) -> Option<&str> {
    let at = file.rfind("custom_nodes/").or_else(|| file.rfind("custom_nodes\\"))?;
    let rest = file.get(at + "custom_nodes/".len()..)?;
    let dir = rest.split(['/', '\\']).next()?;
    (!dir.is_empty()).then_some(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_found_in_paths_of_both_kinds() {
        assert_eq!(folder_name("/opt/ComfyUI/custom_nodes/ComfyUI-WarpLint"), "ComfyUI-WarpLint");
        assert_eq!(folder_name("C:\\x\\custom_nodes\\was-ns"), "was-ns");
        assert_eq!(folder_name("C:\\Users\\u\\custom_nodes/ComfyUI_MaskGCT"), "ComfyUI_MaskGCT");
        assert_eq!(custom_node_dir("/opt/ComfyUI/custom_nodes/A/b/c.py"), Some("A"));
        assert_eq!(custom_node_dir("/opt/ComfyUI/nodes.py"), None);
    }

    #[test]
    fn crash_codes_are_told_from_kills_and_stops() {
        assert!(is_crash_code(3221225477) && is_crash_code(139) && is_crash_code(-1073741819));
        assert!(!is_crash_code(137) && !is_crash_code(0) && !is_crash_code(1) && !is_crash_code(3221225786));
    }
}

impl Counted {
    /// Seen in more than one prompt.
    pub fn repeats(&self) -> bool {
        self.last_prompt > self.prompt
    }
}
