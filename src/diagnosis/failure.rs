//! Failures that are no memory shortage: an exception and who raised it, an import, a native crash.

use super::draft::{Draft, counted, evidence, told};
use super::finding::{Basis, Candidate, EvidenceReport, Figure, Finding, Grade, Status};
use super::host::is_absurd;
use super::view::{View, same_dir};
use super::words::Words;
use crate::timeline::{EndingKind, Exception, ExceptionPlace};

/// Node packs that get a finding of their own.
const PACKS_NAMED: usize = 3;
/// Reasons of a refused prompt that are shown.
const REFUSALS_SHOWN: usize = 8;
/// Exception types that mean "could not be imported".
const IMPORT_TYPES: [&str; 2] = ["ImportError", "ModuleNotFoundError"];

pub fn examine(view: &View<'_>, words: &Words<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(import_failure(view, words));
    let exceptions = &view.session.exceptions;
    let raised: Vec<&Exception> = exceptions
        .iter()
        .filter(|exception| exception.place != ExceptionPlace::Idle && (!exception.is_oom || absurd(exception, view)))
        .collect();
    // Each node pack is named once, by its last failure; of the rest the last one counts.
    let mut dirs: Vec<&str> = Vec::new();
    let mut core_told = false;
    for exception in raised.iter().rev() {
        match exception.dirs.last() {
            Some(dir)
                if !words.packs.is_own_folder(dir) && !dirs.contains(&dir.as_str()) && dirs.len() < PACKS_NAMED =>
            {
                dirs.push(dir);
                findings.push(node_finding(exception, dir, view, words));
            }
            Some(dir) if !words.packs.is_own_folder(dir) => {}
            _ if exception.place == ExceptionPlace::Import
                && findings.iter().any(|finding: &Finding| finding.id == "import-failure") => {}
            _ if !core_told => {
                core_told = true;
                findings.push(core_finding(exception, view, words));
            }
            _ => {}
        }
    }
    if raised.is_empty() {
        findings.extend(without_exception(view, words));
    }
    findings
}

fn absurd(exception: &Exception, view: &View<'_>) -> bool {
    view.session.host_ooms.iter().any(|oom| oom.prompt == exception.prompt && is_absurd(oom, view))
}

fn recovered(exception: &Exception, view: &View<'_>) -> bool {
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
fn node_figure(exception: &Exception, words: &Words<'_>) -> Option<Figure> {
    let node = exception.node.as_ref()?;
    let text = words.say("figure-node", &[("node", node)]);
    Some(told("node", text, Basis::Measured, vec![exception.at.place.line]))
}

fn node_finding(exception: &Exception, dir: &str, view: &View<'_>, words: &Words<'_>) -> Finding {
    let what = crate::text::cut_chars(&what_failed(exception), 140);
    let known = words.packs.nodes.iter().find(|def| {
        def.dirs.iter().any(|known| same_dir(known, dir))
            && def.signature.iter().any(|text| exception.message.contains(text.as_str()))
    });
    let acquitted = known.filter(|def| def.verdict == "not-at-fault");
    let native = exception.kind.is_none();
    let (grade, reason) = match (exception.innermost_is_node, known, native) {
        (_, Some(def), _) if def.verdict.starts_with("node-fault") => (Grade::Strong, "grade-node-known"),
        (_, _, true) => (Grade::Moderate, "grade-node-crash"),
        (true, _, _) => (Grade::Strong, "grade-node-innermost"),
        (false, _, _) => (Grade::Moderate, "grade-node-passes"),
    };
    let status = match (acquitted.is_some(), grade) {
        (true, _) => Status::Possible,
        (false, Grade::Strong) => Status::Confirmed,
        _ => Status::Likely,
    };
    let key = match (native, exception.innermost_is_node) {
        (true, _) => "node-crash",
        (false, true) => "node-raised",
        (false, false) => "node-passed",
    };
    let summary = words.say(key, &[("dir", dir), ("what", &what)]);
    let mut lines = vec![evidence(&exception.at, None)];
    if let Some(at) = &exception.dir_at {
        lines.push(evidence(at, Some(words.say("remark-frame", &[("dir", dir)]))));
    }
    let mut figures: Vec<Figure> = node_figure(exception, words).into_iter().collect();
    let mut against: Vec<EvidenceReport> = Vec::new();
    if let Some(def) = acquitted
        && let Some(advice) = words.packs.prose_text("node", &def.id, "advice", words.zh)
    {
        figures.push(told("acquittal", advice.to_owned(), Basis::Formula, Vec::new()));
        against.push(evidence(&exception.at, Some(words.say("remark-not-at-fault", &[]))));
    } else if let Some(def) = known
        && let Some(advice) = words.packs.prose_text("node", &def.id, "advice", words.zh)
    {
        figures.push(told("known-node", advice.to_owned(), Basis::Formula, Vec::new()));
    }
    let candidate = Candidate {
        dir: dir.to_owned(),
        why: "traceback".to_owned(),
        reason: words.say("candidate-traceback", &[]),
        at: exception.dir_at.as_ref().map(|at| super::draft::place(&at.place, None)),
    };
    Draft::new("custom-node", view.number, status, summary)
        .about(dir)
        .grade(grade, words.say(reason, &[]))
        .against(against)
        .figures(figures)
        .candidates(vec![candidate])
        .recovered(recovered(exception, view))
        .in_prompt(exception.prompt)
        .settle(words.say("settle-node", &[("dir", dir)]))
        .because(lines)
}

/// What failed before the server was ready did not stop it.
fn started_all_the_same(exception: &Exception, view: &View<'_>) -> bool {
    let session = view.session;
    exception.place != ExceptionPlace::Prompt
        && [&session.server_ready, &session.last_executed]
            .into_iter()
            .flatten()
            .any(|later| later.place > exception.at.place)
}

fn core_finding(exception: &Exception, view: &View<'_>, words: &Words<'_>) -> Finding {
    let mut what = crate::text::cut_chars(&what_failed(exception), 160);
    let unnamed = what.is_empty();
    if unnamed {
        what = words.say("error-unnamed", &[]);
    }
    let kind = short_type(exception);
    let import = exception.place != ExceptionPlace::Prompt && IMPORT_TYPES.contains(&kind.as_str());
    let id = if import { "import-failure" } else { "other-error" };
    let key = match exception.place {
        ExceptionPlace::Prompt => "error-prompt",
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
            line.remark = Some(words.say("remark-last-frame", &[("frame", frame)]));
        }
    }
    let figures: Vec<Figure> = node_figure(exception, words).into_iter().collect();
    Draft::new(id, view.number, status, words.say(key, &[("what", &what)]))
        .about(if kind.is_empty() { "error" } else { &kind })
        .grade(grade, words.say(reason, &[]))
        .figures(figures)
        .recovered(recovered(exception, view))
        .in_prompt(exception.prompt)
        .because(lines)
}

/// Failures that leave no exception: a crash, an error of the native allocator, a refused prompt.
fn without_exception(view: &View<'_>, words: &Words<'_>) -> Vec<Finding> {
    let session = view.session;
    let mut findings = Vec::new();
    if let Some(ending) = view.ending()
        && ending.kind == EndingKind::NativeCrash
    {
        let code = ending.exit_code.map_or_else(String::new, |code| code.to_string());
        match &ending.crash {
            Some(at) => findings.push(
                Draft::new("other-error", view.number, Status::Confirmed, words.say("crash-text", &[]))
                    .about("native-crash")
                    .grade(Grade::Strong, words.say("grade-crash", &[]))
                    .in_prompt(session.current_prompt())
                    .settle(words.say("settle-crash", &[]))
                    .because(vec![evidence(at, None)]),
            ),
            None => {
                let lines = ending.at.iter().map(|at| evidence(at, None)).collect();
                findings.push(
                    Draft::new(
                        "other-error",
                        view.number,
                        Status::Possible,
                        words.say("crash-code", &[("code", &code)]),
                    )
                    .about("exit-code")
                    .grade(Grade::Weak, words.say("grade-crash-code", &[]))
                    .settle(words.say("settle-crash", &[]))
                    .because(lines),
                );
            }
        }
    }
    if let Some(errors) = &session.counts.aimdo_errors {
        findings.push(
            Draft::new(
                "other-error",
                view.number,
                Status::Likely,
                words.say("error-aimdo", &[("text", &errors.first.text)]),
            )
            .about("aimdo")
            .grade(Grade::Moderate, words.say("grade-aimdo", &[]))
            .in_prompt(errors.last_prompt)
            .settle(words.say("settle-aimdo", &[]))
            .because(vec![counted(errors, None)]),
        );
    }
    findings.extend(refused(view, words));
    let prompts = session.prompts;
    if findings.is_empty()
        && prompts.executed == 0
        && session.server_ready.is_none()
        && let Some(at) = session.error_notices.last()
    {
        findings.push(
            Draft::new("other-error", view.number, Status::Likely, words.say("error-notice", &[("text", &at.text)]))
                .about(&at.rule)
                .grade(Grade::Moderate, words.say("grade-error-text", &[]))
                .because(vec![evidence(at, None)]),
        );
    }
    findings
}

fn import_failure(view: &View<'_>, words: &Words<'_>) -> Option<Finding> {
    let failed: Vec<_> = view.session.nodes.iter().filter(|node| node.failed).collect();
    let first = failed.first()?;
    let names: Vec<&str> = failed.iter().map(|node| node.dir.as_str()).take(4).collect();
    let summary = words.count("import-one", "import-many", failed.len() as u64, &[("dirs", &names.join(", "))]);
    let mut lines = Vec::new();
    let mut figures = Vec::new();
    for node in failed.iter().take(6) {
        lines.push(evidence(&node.at, None));
        if let (Some(at), Some(reason)) = (&node.reason_at, &node.reason) {
            if at.place.line != node.at.place.line {
                lines.push(evidence(at, None));
            }
            let text = words.say("figure-import-reason", &[("dir", &node.dir), ("reason", reason)]);
            figures.push(told("reason", text, Basis::Measured, vec![at.place.line]));
        }
    }
    let candidates = failed.iter().take(8).map(|node| Candidate {
        dir: node.dir.clone(),
        why: "import".to_owned(),
        reason: words.say("candidate-import", &[]),
        at: Some(super::draft::place(&node.at.place, None)),
    });
    Some(
        Draft::new("import-failure", view.number, Status::Confirmed, summary)
            .about(&first.dir)
            .grade(Grade::Certain, words.say("grade-import", &[]))
            .figures(figures)
            .candidates(candidates.collect())
            .because(lines),
    )
}

/// Prompts that ComfyUI refused before they ran. Where node packs failed to import, that is the cause.
fn refused(view: &View<'_>, words: &Words<'_>) -> Option<Finding> {
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
        Draft::new("other-error", view.number, Status::Confirmed, words.say(key, &[("n", &number)]))
            .about("invalid-prompt")
            .grade(Grade::Strong, words.say("grade-error-text", &[]))
            .in_prompt(session.current_prompt())
            .recovered(later)
            .because(reasons.chain([at]).map(|at| evidence(at, None)).collect()),
    )
}
