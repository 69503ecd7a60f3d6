//! Failures that are no memory shortage: an exception and who raised it, an import, a native crash.
//!
//! Long: who raised an exception is one question; its answers lean on each other.

use super::Case;
use super::context::{Context, same_dir};
use super::finding::{Basis, Candidate, EvidenceReport, Figure, Finding, Grade, RuledOut, Status};
use super::finding_builder::{FindingBuilder, counted, evidence, told};
use super::host::is_absurd;
use crate::catalog::messages::Messages;
use crate::catalog::{AnswerDef, SignDef, SignOf, Verdict};
use crate::timeline::{EndingKind, Evidence, Exception, ExceptionPlace};

/// Node packs that get a finding of their own.
const PACKS_NAMED: usize = 3;
/// What lies outside the code, as the packs' signs call it.
const NETWORK: &str = "network";
const USER: &str = "user";

pub fn examine(case: &Case<'_>) -> Vec<Finding> {
    let (view, messages) = (case.view, case.messages);
    let mut findings = Vec::new();
    let exceptions = &view.session.exceptions;
    let fault = super::fault::examine(view, messages);
    let raised: Vec<&Exception> = exceptions
        .iter()
        .filter(|exception| exception.place != ExceptionPlace::Idle && (!exception.is_oom || absurd(exception, view)))
        .filter(|exception| !stopped_by_user(exception, messages) && !handled_by_pack(exception, view))
        .filter(|exception| !of_server(exception, view, messages) && !optional_of_library(exception, view, messages))
        .filter(|exception| !told_by_host_oom(exception, view) && !super::import::tells(exception, view, messages))
        .filter(|exception| {
            !of_abort_at_exit(exception, view) && !beside_start(exception, view) && !follows(exception, view, messages)
        })
        .filter(|exception| !(told_by_oom(exception, view) || fault.is_some() && unnamed(exception)))
        .collect();
    // Each node pack is named once, by its last failure; of the rest the last one counts.
    let mut dirs: Vec<&str> = Vec::new();
    let mut core_told = false;
    for exception in raised.iter().rev() {
        let blamed = exception.dirs.last().filter(|dir| {
            !messages.packs.is_own_folder(dir)
                && !only_passes(exception)
                && outside(exception, messages).is_none()
                && answer(exception, messages).is_none()
                && !of_worker(exception, view)
        });
        match blamed {
            Some(dir) if !dirs.contains(&dir.as_str()) && dirs.len() < PACKS_NAMED => {
                dirs.push(dir);
                findings.push(node_finding(exception, dir, view, messages));
            }
            Some(_) => {}
            _ if exception.place == ExceptionPlace::Import && case.has(Verdict::ImportFailure) => {}
            _ if !core_told => {
                core_told = true;
                findings.push(core_finding(exception, view, messages));
            }
            _ => {}
        }
    }
    let crash = super::crash::examine(view, messages);
    if raised.is_empty() {
        findings.extend(without_exception(view, messages));
    }
    findings.extend(fault);
    findings.extend(crash);
    findings
}

/// A pack's own import reported an error and went on: the table of import times lists the pack as imported, and no
/// workflow misses its nodes.
fn handled_by_pack(exception: &Exception, view: &Context<'_>) -> bool {
    let imported = |dir: &String| {
        let mut nodes = view.session.nodes.iter();
        nodes.any(|node| same_dir(&node.dir, dir) && !node.failed && node.seconds.is_some())
    };
    exception.place == ExceptionPlace::Import
        && view.session.prompts.invalid == 0
        && started_all_the_same(exception, view)
        && exception.dirs.last().is_some_and(imported)
}

/// An installed package missed another one, said so with a traceback of its own alone, and went on without it.
fn optional_of_library(exception: &Exception, view: &Context<'_>, messages: &Messages<'_>) -> bool {
    let in_library =
        |frame: &String| frame.split(['/', '\\']).any(|folder| messages.packs.shows(SignOf::LibraryFolder, folder));
    exception.headed
        && started_all_the_same(exception, view)
        && messages.packs.shows(SignOf::ImportFault, &short_type(exception))
        && exception.first_frame.iter().chain(&exception.frames).all(in_library)
        && !exception.frames.is_empty()
}

/// It ended a thread that is not the one that runs prompts: ComfyUI goes on.
fn beside_start(exception: &Exception, view: &Context<'_>) -> bool {
    exception.thread.is_some() && !of_worker(exception, view)
}

/// It ended the thread that runs prompts.
pub fn of_worker(exception: &Exception, view: &Context<'_>) -> bool {
    let died = view.session.worker_died.as_ref();
    exception.thread.is_some()
        && died.is_some_and(|died| died.place.line + 1 >= exception.at.place.line && died.place <= exception.at.place)
}

/// What failed before is told by a line of ComfyUI's own, and this is what comes of it.
fn follows(exception: &Exception, view: &Context<'_>, messages: &Messages<'_>) -> bool {
    consequence_of(exception, view, messages).is_some()
}

/// The line of ComfyUI's own that an exception follows from.
pub fn consequence_of<'t>(exception: &Exception, view: &Context<'t>, messages: &Messages<'_>) -> Option<&'t Evidence> {
    let signs: Vec<&SignDef> = messages.packs.signs_of(SignOf::Consequence).collect();
    let fits = |sign: &&&SignDef| exception.frames.iter().any(|frame| sign.fits(frame));
    let causes = signs.iter().filter(fits).map(|sign| sign.is.as_str());
    causes.into_iter().find_map(|cause| {
        view.session.error_notices.iter().find(|notice| notice.rule == cause && notice.place < exception.at.place)
    })
}

/// A connection broke in code of nobody's nodes before prompts ran well: a browser went away.
fn of_server(exception: &Exception, view: &Context<'_>, messages: &Messages<'_>) -> bool {
    exception.place == ExceptionPlace::Unknown
        && exception.dirs.is_empty()
        && outside(exception, messages).is_some_and(|sign| sign.is == NETWORK)
        && started_all_the_same(exception, view)
}

/// A traceback without the line that names its error, beside an out-of-memory of the same prompt: they are one.
fn told_by_oom(exception: &Exception, view: &Context<'_>) -> bool {
    let session = view.session;
    let mut prompts = session.ooms.iter().map(|oom| oom.prompt).chain(session.host_ooms.iter().map(|oom| oom.prompt));
    unnamed(exception) && prompts.any(|prompt| prompt == exception.prompt)
}

/// An Error Report's fields repeat the text of a RAM allocation that failed.
fn told_by_host_oom(exception: &Exception, view: &Context<'_>) -> bool {
    let same = |text: &str| !text.is_empty() && (text.contains(&exception.message) || exception.message.contains(text));
    exception.from_report
        && !exception.message.is_empty()
        && view.session.host_ooms.iter().any(|oom| !is_absurd(oom, view) && same(oom.at.text.trim()))
}

/// Nothing says what went wrong, and the last frame lies elsewhere: the pack's frames alone blame nobody.
fn only_passes(exception: &Exception) -> bool {
    unnamed(exception) && !exception.innermost_is_node
}

/// What lies outside the code that the exception passed through: a connection, a server's answer, a full disk, a right
/// that is missing, or the user who stopped it.
fn outside<'p>(exception: &Exception, messages: &Messages<'p>) -> Option<&'p SignDef> {
    let text = text_of(exception);
    super::fault::of(&text, messages).or_else(|| outside_text(&text, messages))
}

/// Kind and message, as Python prints them.
fn text_of(exception: &Exception) -> String {
    format!("{}: {}", exception.kind.as_deref().unwrap_or_default(), exception.message)
}

/// The packs' answer to its text, one that takes the blame from the node pack whose code it came from.
fn answer<'p>(exception: &Exception, messages: &Messages<'p>) -> Option<&'p AnswerDef> {
    messages.packs.answer(&text_of(exception), false)
}

/// It ended a prompt, as far as this log shows.
fn of_prompt(exception: &Exception) -> bool {
    matches!(exception.place, ExceptionPlace::Prompt | ExceptionPlace::Unknown)
}

/// The same of an error's text.
pub fn outside_text<'p>(text: &str, messages: &Messages<'p>) -> Option<&'p SignDef> {
    messages.packs.signs_of(SignOf::Outside).find(|sign| sign.fits(text))
}

/// The last error that was logged with its traceback while prompts ran, and ended none of them. A connection that broke is
/// a browser that went away.
pub fn logged_beside<'t>(view: &Context<'t>, messages: &Messages<'_>) -> Option<&'t Evidence> {
    let exceptions = view.session.exceptions.iter().rev();
    let mut logged = exceptions.filter(|exception| exception.place == ExceptionPlace::Idle && exception.kind.is_some());
    let logged = logged.find(|exception| outside(exception, messages).is_none_or(|sign| sign.is != NETWORK));
    logged.and_then(|exception| exception.last_line_at.as_ref())
}

/// Ctrl-C raises too, wherever the program happens to be.
pub fn stopped_by_user(exception: &Exception, messages: &Messages<'_>) -> bool {
    outside(exception, messages).is_some_and(|sign| sign.is == USER)
}

fn unnamed(exception: &Exception) -> bool {
    exception.kind.is_none() && exception.message.is_empty()
}

/// The stack of an abort at exit: ComfyUI had been stopped, and Python gave up a thread that was still at work.
fn of_abort_at_exit(exception: &Exception, view: &Context<'_>) -> bool {
    let stopped = view.session.stopped.as_ref().is_some_and(|stop| stop.place < exception.at.place);
    stopped && unnamed(exception) && view.ending().is_some_and(|ending| ending.kind == EndingKind::CleanStop)
}

fn absurd(exception: &Exception, view: &Context<'_>) -> bool {
    view.session.host_ooms.iter().any(|oom| oom.prompt == exception.prompt && is_absurd(oom, view))
}

fn recovered(exception: &Exception, view: &Context<'_>) -> bool {
    view.session.prompt_list.iter().any(|prompt| prompt.number > exception.prompt && prompt.ended_well())
}

fn short_type(exception: &Exception) -> String {
    exception.kind.as_deref().map_or_else(String::new, |kind| kind.rsplit('.').next().unwrap_or(kind).to_owned())
}

/// Kind and message, the kind once.
pub fn what_failed(exception: &Exception) -> String {
    let kind = short_type(exception);
    match (kind.is_empty(), exception.message.is_empty()) {
        (false, false) if exception.message.starts_with(&kind) => exception.message.clone(),
        (false, false) => format!("{kind}: {}", exception.message),
        (false, true) => kind,
        (true, _) => exception.message.clone(),
    }
}

/// What the exception of the chosen finding's prompt tells besides: the node that failed, and who shows it.
pub fn beside(view: &Context<'_>, messages: &Messages<'_>, chosen: &Finding) -> Vec<Figure> {
    let mut of_prompt = view.session.exceptions.iter().rev().filter(|one| chosen.prompt == Some(one.prompt));
    let Some(exception) = of_prompt.find(|one| one.node.is_some() || one.from_client) else { return Vec::new() };
    let known = chosen.figures.iter().any(|figure| figure.name == "node");
    let mut figures: Vec<Figure> = node_figure(exception, messages).into_iter().filter(|_| !known).collect();
    if exception.from_client {
        let line = vec![exception.at.place.line];
        figures.push(told("client", messages.text("figure-client", &[]), Basis::Measured, line));
    }
    figures
}

/// The model that was requested right above the exception of the chosen finding, while it was loaded.
pub fn loaded_before(view: &Context<'_>, messages: &Messages<'_>, chosen: &Finding) -> Option<Figure> {
    const NEAR: u64 = 3;
    let known = |figure: &Figure| matches!(figure.name.as_str(), "where" | "in-flight" | "node");
    if chosen.id != Verdict::OtherError || chosen.figures.iter().any(known) {
        return None;
    }
    let session = view.session;
    let failed = session.exceptions.iter().rev().find(|one| chosen.prompt == Some(one.prompt))?.at.place.line;
    let loads =
        session.loads.iter().filter_map(|(class, load)| Some((class, load.last.as_ref().or(load.first.as_ref())?)));
    let dynamic = session.dynamic.iter().map(|(class, dynamic)| (class, &dynamic.at));
    let near = |line: u64| line < failed && failed - line <= NEAR;
    let (class, at) = loads.chain(dynamic).filter(|(_, at)| near(at.place.line)).max_by_key(|(_, at)| at.place.line)?;
    let line = at.place.line.to_string();
    let text = messages.text("figure-loading-before", &[("class", class), ("line", &line)]);
    Some(told("where", text, Basis::Measured, vec![at.place.line]))
}

/// What pip has to install for it, for the steps.
fn packages(exception: &Exception, messages: &Messages<'_>) -> Vec<(String, String)> {
    let causes = super::cause::Causes::of(messages.packs);
    let cause = causes.find(&exception.message, exception.library.as_deref());
    cause.and_then(|cause| cause.pip(messages.packs)).map(|pip| ("packages".to_owned(), pip)).into_iter().collect()
}

/// The file that ComfyUI names below an error of reading it.
fn broken_file<'t>(exception: &Exception, view: &Context<'t>) -> Option<(&'t str, u64)> {
    const NEAR: u64 = 4;
    let fact = view.session.fact("broken_file")?;
    let (line, error) = (fact.at.place.line, exception.at.place.line);
    let last = exception.last_line_at.as_ref().map_or(error, |at| at.place.line);
    let near = (error..=last + NEAR).contains(&line);
    fact.value.as_text().filter(|_| near).map(|path| (path, line))
}

/// The node that failed, with its pack where that is known.
pub fn node_text(node: &str, messages: &Messages<'_>) -> String {
    match messages.packs.pack_of(node) {
        Some(pack) => messages.text("figure-node-pack", &[("node", node), ("pack", &pack.name)]),
        None => messages.text("figure-node", &[("node", node)]),
    }
}

/// The node of the workflow in which it failed.
fn node_figure(exception: &Exception, messages: &Messages<'_>) -> Option<Figure> {
    let node = exception.node.as_ref()?;
    let text = node_text(node, messages);
    Some(told("node", text, Basis::Measured, vec![exception.at.place.line]))
}

fn node_finding(exception: &Exception, dir: &str, view: &Context<'_>, messages: &Messages<'_>) -> Finding {
    let what = crate::text::cut_chars(&what_failed(exception), 140);
    let known = messages.packs.nodes.iter().find(|def| {
        def.dirs.iter().any(|known| same_dir(known, dir))
            && def.signature.iter().any(|text| exception.message.contains(text.as_str()))
    });
    let acquitted = known.filter(|def| def.verdict == "not-at-fault");
    let cut_off = unnamed(exception);
    let what = if cut_off { messages.text("error-unnamed", &[]) } else { what };
    let (grade, reason) = match (exception.innermost_is_node, known) {
        (_, Some(def)) if def.verdict.starts_with("node-fault") => (Grade::Strong, "grade-node-known"),
        _ if cut_off => (Grade::Moderate, "grade-error-unnamed"),
        (true, _) => (Grade::Strong, "grade-node-innermost"),
        (false, _) => (Grade::Moderate, "grade-node-passes"),
    };
    let status = match (acquitted.is_some(), grade) {
        (true, _) => Status::Possible,
        (false, Grade::Strong) => Status::Confirmed,
        _ => Status::Likely,
    };
    let key = if exception.innermost_is_node { "node-raised" } else { "node-passed" };
    let summary = messages.text(key, &[("dir", dir), ("what", &what)]);
    let mut lines = vec![evidence(&exception.at, None)];
    if let Some(at) = &exception.dir_at {
        lines.push(evidence(at, Some(messages.text("remark-frame", &[("dir", dir)]))));
    }
    let mut figures: Vec<Figure> = node_figure(exception, messages).into_iter().collect();
    let mut against: Vec<EvidenceReport> = Vec::new();
    if let Some(def) = acquitted
        && let Some(advice) = messages.packs.prose_text("node", &def.id, "advice", messages.zh)
    {
        figures.push(told("acquittal", advice.to_owned(), Basis::Formula, Vec::new()));
        against.push(evidence(&exception.at, Some(messages.text("remark-not-at-fault", &[]))));
    } else if let Some(def) = known
        && let Some(advice) = messages.packs.prose_text("node", &def.id, "advice", messages.zh)
    {
        figures.push(told("known-node", advice.to_owned(), Basis::Formula, Vec::new()));
    }
    let absurd = view.session.host_ooms.iter().find(|oom| oom.prompt == exception.prompt && is_absurd(oom, view));
    if let Some((oom, bytes)) = absurd.and_then(|oom| oom.requested.map(|bytes| (oom, bytes))) {
        let text = messages.text("figure-absurd", &[("size", &crate::text::bytes(bytes))]);
        figures.push(told("absurd", text, Basis::Derived, vec![oom.at.place.line]));
    }
    let answered = messages.packs.answer(&text_of(exception), true).filter(|_| of_prompt(exception) && known.is_none());
    FindingBuilder::new(Verdict::CustomNode, view.number, status, summary)
        .about(dir)
        .answered(answered.map(|answer| answer.id.as_str()))
        .values(packages(exception, messages))
        .grade(grade, messages.text(reason, &[]))
        .against(against)
        .figures(figures)
        .candidates(vec![of_traceback(exception, dir, messages)])
        .recovered(recovered(exception, view))
        .in_prompt(exception.prompt)
        .settle(messages.text("settle-node", &[("dir", dir)]))
        .because(lines)
}

/// The pack whose code the error came from or passed through.
pub fn of_traceback(exception: &Exception, dir: &str, messages: &Messages<'_>) -> Candidate {
    let reason = if exception.innermost_is_node { "candidate-traceback" } else { "candidate-passed" };
    Candidate {
        dir: dir.to_owned(),
        why: "traceback".to_owned(),
        reason: messages.text(reason, &[]),
        at: exception.dir_at.as_ref().map(|at| super::finding_builder::place(&at.place, None)),
    }
}

/// What failed before the server was ready did not stop it.
fn started_all_the_same(exception: &Exception, view: &Context<'_>) -> bool {
    let session = view.session;
    exception.place != ExceptionPlace::Prompt
        && [&session.server_ready, &session.last_executed]
            .into_iter()
            .flatten()
            .any(|later| later.place > exception.at.place)
}

// Long: one finding, from its grounds to its lines.
fn core_finding(exception: &Exception, view: &Context<'_>, messages: &Messages<'_>) -> Finding {
    let mut what = crate::text::cut_chars(&what_failed(exception), 160);
    let unnamed = what.is_empty();
    if unnamed {
        what = messages.text("error-unnamed", &[]);
    }
    let kind = short_type(exception);
    let import = !of_prompt(exception) && messages.packs.shows(SignOf::ImportFault, &kind);
    let id = if import { Verdict::ImportFailure } else { Verdict::OtherError };
    let text = text_of(exception);
    let file = broken_file(exception, view);
    if let Some((path, _)) = file {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        what = format!("{name}: {what}");
    }
    let meaning = super::logged_error::meaning(&text, &what, of_prompt(exception), messages);
    let worker = of_worker(exception, view);
    let lost = view.session.prompts.lost;
    let key = match exception.place {
        _ if worker => "error-worker",
        ExceptionPlace::Prompt => "error-prompt",
        ExceptionPlace::Unknown
            if exception.headed && view.ending().is_some_and(|ending| ending.in_flight.is_some()) =>
        {
            "error-in-flight"
        }
        ExceptionPlace::Unknown => "error-unplaced",
        _ if started_all_the_same(exception, view) => "error-while-starting",
        _ if import => "import-program",
        _ => "error-start",
    };
    let (status, grade, reason) = match unnamed {
        true => (Status::Likely, Grade::Moderate, "grade-error-unnamed"),
        false => (Status::Confirmed, Grade::Strong, "grade-error-text"),
    };
    let mut lines = vec![evidence(
        exception.last_line_at.as_ref().filter(|_| !exception.in_execution).unwrap_or(&exception.at),
        None,
    )];
    for frame in exception.frames.iter().rev().take(1) {
        if let Some(line) = lines.first_mut() {
            line.remark = Some(messages.text("remark-last-frame", &[("frame", frame)]));
        }
    }
    let fault = super::fault::of(&text, messages).filter(|_| !worker);
    let mut figures: Vec<Figure> = node_figure(exception, messages).into_iter().collect();
    figures.extend(file.map(|(path, line)| {
        told("file", messages.text("figure-broken-file", &[("file", path)]), Basis::Measured, vec![line])
    }));
    if fault.is_some() {
        figures.extend(super::crash::surroundings(view, messages));
    }
    let starting = matches!(exception.place, ExceptionPlace::Import | ExceptionPlace::Start)
        && !started_all_the_same(exception, view);
    let summary = match (fault, &meaning) {
        (Some(sign), _) => {
            let summary = super::fault::summary(sign, &exception.message, starting, messages);
            let moment = view.ending().filter(|_| exception.prompt == view.session.current_prompt());
            super::crash::with_moment(summary, moment, messages)
        }
        (None, Some(meaning)) if !worker => meaning.says.clone(),
        _ => messages.text(key, &[("what", &what)]),
    };
    if worker {
        lines.extend(view.session.worker_died.as_ref().map(|at| evidence(at, None)));
        if lost > 0 {
            let text = messages.count("figure-worker-lost-one", "figure-worker-lost-many", lost, &[]);
            figures.push(told("lost", text, Basis::Measured, vec![exception.at.place.line]));
        }
    }
    let about = match (fault, &meaning) {
        _ if worker => "worker-died",
        (Some(sign), _) => &sign.is,
        (None, Some(meaning)) => &meaning.about,
        (None, None) if kind.is_empty() => "error",
        (None, None) => &kind,
    };
    FindingBuilder::new(id, view.number, status, summary)
        .about(about)
        .grade(grade, messages.text(reason, &[]))
        .figures(figures)
        .values(packages(exception, messages))
        .recovered(recovered(exception, view))
        .in_prompt(exception.prompt)
        .because(lines)
}

/// Failures that leave no exception: a crash, an error of the native allocator, a refused prompt.
fn without_exception(view: &Context<'_>, messages: &Messages<'_>) -> Vec<Finding> {
    let session = view.session;
    let mut findings = Vec::new();
    if let Some(errors) = &session.counts.aimdo_errors {
        findings.push(
            FindingBuilder::new(
                Verdict::OtherError,
                view.number,
                Status::Likely,
                messages.text("error-aimdo", &[("text", &errors.first.text)]),
            )
            .about("aimdo")
            .grade(Grade::Moderate, messages.text("grade-aimdo", &[]))
            .in_prompt(errors.last_prompt)
            .settle(messages.text("settle-aimdo", &[]))
            .because(vec![counted(errors, None)]),
        );
    }
    findings
}

/// Custom nodes were off.
pub fn rule_out(case: &Case<'_>) -> Vec<RuledOut> {
    let off = case.view.session.nodes_disabled.as_ref().filter(|_| case.view.nodes_off());
    let against = |at| case.against(Verdict::CustomNode, case.messages.text("not-node", &[]), vec![evidence(at, None)]);
    off.map(against).into_iter().collect()
}
