//! Failures that are no memory shortage: an exception and who raised it, an import, a native crash.

use super::Case;
use super::context::{Context, same_dir};
use super::finding::{Basis, Candidate, EvidenceReport, Figure, Finding, Grade, RuledOut, Status};
use super::finding_builder::{FindingBuilder, counted, evidence, told};
use super::host::is_absurd;
use crate::catalog::messages::Messages;
use crate::catalog::{SignDef, SignOf, Verdict};
use crate::timeline::{Evidence, Exception, ExceptionPlace};

/// Node packs that get a finding of their own.
const PACKS_NAMED: usize = 3;
/// What lies outside the code, as the packs' signs call it.
const NETWORK: &str = "network";
const USER: &str = "user";
/// Reasons of a refused prompt that are shown.
const REFUSALS_SHOWN: usize = 8;

pub fn examine(case: &Case<'_>) -> Vec<Finding> {
    let (view, messages) = (case.view, case.messages);
    let mut findings = Vec::new();
    findings.extend(import_failure(view, messages));
    let exceptions = &view.session.exceptions;
    let fault = super::fault::examine(view, messages);
    let raised: Vec<&Exception> = exceptions
        .iter()
        .filter(|exception| exception.place != ExceptionPlace::Idle && (!exception.is_oom || absurd(exception, view)))
        .filter(|exception| !stopped_by_user(exception, messages) && !handled_by_pack(exception, view))
        .filter(|exception| !of_server(exception, view, messages) && !optional_of_library(exception, view, messages))
        .filter(|exception| !told_by_host_oom(exception, view))
        .filter(|exception| !told_by_oom(exception, view) && !(fault.is_some() && unnamed(exception)))
        .collect();
    // Each node pack is named once, by its last failure; of the rest the last one counts.
    let mut dirs: Vec<&str> = Vec::new();
    let mut core_told = false;
    for exception in raised.iter().rev() {
        let blamed = exception.dirs.last().filter(|dir| {
            !messages.packs.is_own_folder(dir) && !only_passes(exception) && outside(exception, messages).is_none()
        });
        match blamed {
            Some(dir) if !dirs.contains(&dir.as_str()) && dirs.len() < PACKS_NAMED => {
                dirs.push(dir);
                findings.push(node_finding(exception, dir, view, messages));
            }
            Some(_) => {}
            _ if exception.place == ExceptionPlace::Import
                && findings.iter().any(|finding: &Finding| finding.id == Verdict::ImportFailure) => {}
            _ if !core_told => {
                core_told = true;
                findings.push(core_finding(exception, view, messages));
            }
            _ => {}
        }
    }
    let crash = super::crash::examine(view, messages);
    if raised.is_empty() {
        findings.extend(without_exception(view, messages, crash.is_some() || fault.is_some()));
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
    let text = format!("{}: {}", exception.kind.as_deref().unwrap_or_default(), exception.message);
    super::fault::of(&text, messages).or_else(|| messages.packs.signs_of(SignOf::Outside).find(|sign| sign.fits(&text)))
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

fn absurd(exception: &Exception, view: &Context<'_>) -> bool {
    view.session.host_ooms.iter().any(|oom| oom.prompt == exception.prompt && is_absurd(oom, view))
}

fn recovered(exception: &Exception, view: &Context<'_>) -> bool {
    view.session
        .prompt_list
        .iter()
        .any(|prompt| prompt.number > exception.prompt && prompt.ended && !prompt.failed && !prompt.interrupted)
}

fn short_type(exception: &Exception) -> String {
    exception.kind.as_deref().map_or_else(String::new, |kind| kind.rsplit('.').next().unwrap_or(kind).to_owned())
}

fn what_failed(exception: &Exception) -> String {
    let kind = short_type(exception);
    match (kind.is_empty(), exception.message.is_empty()) {
        (false, false) if exception.message.starts_with(&kind) => exception.message.clone(),
        (false, false) => format!("{kind}: {}", exception.message),
        (false, true) => kind,
        (true, _) => exception.message.clone(),
    }
}

/// The node of the workflow in which it failed.
fn node_figure(exception: &Exception, messages: &Messages<'_>) -> Option<Figure> {
    let node = exception.node.as_ref()?;
    let text = messages.text("figure-node", &[("node", node)]);
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
    let candidate = Candidate {
        dir: dir.to_owned(),
        why: "traceback".to_owned(),
        reason: messages
            .text(if exception.innermost_is_node { "candidate-traceback" } else { "candidate-passed" }, &[]),
        at: exception.dir_at.as_ref().map(|at| super::finding_builder::place(&at.place, None)),
    };
    FindingBuilder::new(Verdict::CustomNode, view.number, status, summary)
        .about(dir)
        .grade(grade, messages.text(reason, &[]))
        .against(against)
        .figures(figures)
        .candidates(vec![candidate])
        .recovered(recovered(exception, view))
        .in_prompt(exception.prompt)
        .settle(messages.text("settle-node", &[("dir", dir)]))
        .because(lines)
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

fn core_finding(exception: &Exception, view: &Context<'_>, messages: &Messages<'_>) -> Finding {
    let mut what = crate::text::cut_chars(&what_failed(exception), 160);
    let unnamed = what.is_empty();
    if unnamed {
        what = messages.text("error-unnamed", &[]);
    }
    let kind = short_type(exception);
    let import = !matches!(exception.place, ExceptionPlace::Prompt | ExceptionPlace::Unknown)
        && messages.packs.shows(SignOf::ImportFault, &kind);
    let id = if import { Verdict::ImportFailure } else { Verdict::OtherError };
    let outside = outside(exception, messages).filter(|sign| !sign.says.is_empty());
    let key = match exception.place {
        _ if let Some(sign) = outside => &sign.says,
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
    let fault = outside.filter(|sign| sign.of == SignOf::Fault);
    let mut figures: Vec<Figure> = node_figure(exception, messages).into_iter().collect();
    if fault.is_some() {
        figures.extend(super::crash::surroundings(view, messages));
    }
    let starting = matches!(exception.place, ExceptionPlace::Import | ExceptionPlace::Start)
        && !started_all_the_same(exception, view);
    let summary = match fault {
        Some(sign) => {
            let summary = super::fault::summary(sign, &exception.message, starting, messages);
            let moment = view.ending().filter(|_| exception.prompt == view.session.current_prompt());
            super::crash::with_moment(summary, moment, messages)
        }
        None => messages.text(key, &[("what", &what)]),
    };
    FindingBuilder::new(id, view.number, status, summary)
        .about(match outside {
            Some(sign) => &sign.is,
            None if kind.is_empty() => "error",
            None => &kind,
        })
        .grade(grade, messages.text(reason, &[]))
        .figures(figures)
        .recovered(recovered(exception, view))
        .in_prompt(exception.prompt)
        .because(lines)
}

/// Failures that leave no exception: a crash, an error of the native allocator, a refused prompt.
fn without_exception(view: &Context<'_>, messages: &Messages<'_>, crashed: bool) -> Vec<Finding> {
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
    findings.extend(refused(view, messages));
    let prompts = session.prompts;
    if findings.is_empty()
        && !crashed
        && prompts.executed == 0
        && session.server_ready.is_none()
        && let Some(at) = session.error_notices.last()
    {
        findings.push(
            FindingBuilder::new(
                Verdict::OtherError,
                view.number,
                Status::Likely,
                messages.text("error-notice", &[("text", &at.text)]),
            )
            .about(&at.rule)
            .grade(Grade::Moderate, messages.text("grade-error-text", &[]))
            .because(vec![evidence(at, None)]),
        );
    }
    findings
}

fn import_failure(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let failed: Vec<_> = view.session.nodes.iter().filter(|node| node.failed).collect();
    let first = failed.first()?;
    let names: Vec<&str> = failed.iter().map(|node| node.dir.as_str()).take(4).collect();
    // What begins with a dot is hidden on purpose; nobody made a node pack of it.
    let hidden = failed.iter().all(|node| node.dir.starts_with('.'));
    let (one, many) = if hidden { ("import-hidden", "import-hidden") } else { ("import-one", "import-many") };
    let summary = messages.count(one, many, failed.len() as u64, &[("dirs", &names.join(", "))]);
    let mut lines = Vec::new();
    let mut figures = Vec::new();
    for node in failed.iter().take(6) {
        lines.push(evidence(&node.at, None));
        if let (Some(at), Some(reason)) = (&node.reason_at, &node.reason) {
            if at.place.line != node.at.place.line {
                lines.push(evidence(at, None));
            }
            let text = messages.text("figure-import-reason", &[("dir", &node.dir), ("reason", reason)]);
            figures.push(told("reason", text, Basis::Measured, vec![at.place.line]));
        }
    }
    let candidates = failed.iter().take(8).map(|node| Candidate {
        dir: node.dir.clone(),
        why: "import".to_owned(),
        reason: messages.text("candidate-import", &[]),
        at: Some(super::finding_builder::place(&node.at.place, None)),
    });
    Some(
        FindingBuilder::new(Verdict::ImportFailure, view.number, Status::Confirmed, summary)
            .about(&first.dir)
            .grade(Grade::Certain, messages.text("grade-import", &[]))
            .figures(figures)
            .candidates(candidates.collect())
            .because(lines),
    )
}

/// Prompts that ComfyUI refused before they ran. Where node packs failed to import, that is the cause.
fn refused(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let session = view.session;
    let at = session.invalid_at.as_ref()?;
    if session.nodes.iter().any(|node| node.failed) {
        return None;
    }
    let all = session.prompts.executed == 0;
    let later = session.last_executed.as_ref().is_some_and(|last| last.place > at.place);
    let key = if all { "error-refused" } else { "error-refused-some" };
    let number = session.prompts.invalid.to_string();
    let reasons = session.refusals.iter().take(REFUSALS_SHOWN);
    Some(
        FindingBuilder::new(Verdict::OtherError, view.number, Status::Confirmed, messages.text(key, &[("n", &number)]))
            .about("invalid-prompt")
            .grade(Grade::Strong, messages.text("grade-error-text", &[]))
            .in_prompt(session.current_prompt())
            .recovered(later)
            .because(reasons.chain([at]).map(|at| evidence(at, None)).collect()),
    )
}

/// Custom nodes were off.
pub fn rule_out(case: &Case<'_>) -> Vec<RuledOut> {
    let off = case.view.session.nodes_disabled.as_ref().filter(|_| case.view.nodes_off());
    let against = |at| case.against(Verdict::CustomNode, case.messages.text("not-node", &[]), vec![evidence(at, None)]);
    off.map(against).into_iter().collect()
}
