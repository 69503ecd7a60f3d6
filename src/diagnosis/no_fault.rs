//! When nothing is wrong, or nothing can be said: which of the two, and why.

use super::starts::Starts;
use crate::catalog::messages::Messages;
use crate::catalog::{SignOf, Verdict};
use crate::event::Tally;
use crate::hypothesis::context::{Context, Os};
use crate::hypothesis::finding::{Basis, Figure, Finding, Grade, Status};
use crate::hypothesis::finding_builder::{FindingBuilder, evidence, told};
use crate::hypothesis::host;
use crate::timeline::{Ending, EndingKind, Timeline};

/// The exit code of a program that was asked to stop.
fn asked_to_stop(code: Option<i64>, messages: &Messages<'_>) -> bool {
    code.is_some_and(|code| messages.packs.shows(SignOf::StopCode, &code.to_string()))
}

/// Who had to be killed did not stop by itself.
fn stop_remark(ending: Option<&Ending>) -> &'static str {
    let killed = ending.is_some_and(|ending| !ending.kills.is_empty());
    if killed { "remark-stop-ordered" } else { "remark-clean-stop" }
}

/// `no-fault` or `insufficient-evidence` for the last session that did anything.
// Long: one decision, read from the top: each branch rests on all those above it.
pub fn examine(timeline: &Timeline, views: &[Context<'_>], messages: &Messages<'_>, tally: Tally) -> Finding {
    let view = views.iter().rev().find(|view| view.session.has_work()).or(views.last());
    let Some(view) = view else { return nothing(timeline, messages, "insufficient-empty") };
    let session = view.session;
    let is_comfyui = tally.comfyui > 0
        || tally.kin > 0
        || session.fact("total_vram_mib").is_some()
        || session.fact("comfyui_version").is_some();
    if let Some(finding) = other_program(view, messages) {
        return finding;
    }
    if !is_comfyui && tally.hidden > 0 {
        let settle = Some(messages.text("settle-prefix", &[]));
        return Finding { settle, ..insufficient(view, messages, "insufficient-prefix") };
    }
    if !is_comfyui {
        return nothing(timeline, messages, "insufficient-not-comfyui");
    }
    // Quiet so far is no "nothing is wrong": the fault may stand in the part that nobody read.
    if timeline.broken_off {
        return insufficient(view, messages, "insufficient-broken-off");
    }
    if let Some(finding) = started_again(timeline, views, messages) {
        return finding;
    }
    if let Some(finding) = unfinished_start(views, messages) {
        return finding;
    }
    let ending = view.ending();
    let in_flight = ending.is_some_and(|ending| ending.in_flight.is_some());
    let code_only = ending.is_some_and(|ending| ending.kind == EndingKind::NativeCrash && ending.crash.is_none());
    let good = session.prompts.executed.saturating_sub(session.prompts.failed);
    let killed = ending.is_some_and(|ending| ending.kind == EndingKind::Killed);
    if good > 0 && !in_flight && !code_only && !killed {
        let interrupted = session.prompts.interrupted;
        let ended = good.saturating_sub(interrupted);
        let prompts = messages.count("prompt-one", "prompt-many", ended, &[]);
        let stopped = messages.count("stopped-one", "stopped-many", interrupted, &[]);
        let key = match (interrupted, ended) {
            (0, _) => "no-fault-summary",
            (_, 0) => "no-fault-only-interrupted",
            _ => "no-fault-interrupted",
        };
        let mut lines = Vec::new();
        if let Some(at) = &session.last_executed {
            lines.push(evidence(at, Some(messages.text("remark-last-prompt", &[]))));
        }
        if let Some(counted) = &session.counts.tiled_retries {
            lines.push(crate::hypothesis::finding_builder::counted(
                counted,
                Some(messages.text("remark-tiled-retry", &[])),
            ));
        }
        if let Some(at) = &session.first_interrupt {
            lines.push(evidence(at, Some(messages.text("remark-interrupted", &[]))));
        }
        if let Some(at) = &session.stopped {
            lines.push(evidence(at, Some(messages.text(stop_remark(ending), &[]))));
        }
        let logged = crate::hypothesis::failure::logged_beside(view, messages);
        lines.extend(logged.iter().map(|at| evidence(at, Some(messages.text("remark-logged-error", &[])))));
        let (grade, reason) = match (timeline.info_visible, logged.is_some()) {
            (_, true) => (Grade::Moderate, "grade-no-fault-traceback"),
            (true, false) => (Grade::Strong, "grade-no-fault"),
            (false, false) => (Grade::Moderate, "grade-no-fault-hidden"),
        };
        return FindingBuilder::new(
            Verdict::NoFault,
            view.number,
            Status::Confirmed,
            messages.text(key, &[("prompts", &prompts), ("stopped", &stopped)]),
        )
        .grade(grade, messages.text(reason, &[]))
        .figures(threads(view, messages))
        .because(lines);
    }
    let baseline = session.fact("total_vram_mib").is_some_and(|fact| !fact.weak)
        && (session.fact("comfyui_version").is_some() || session.server_ready.is_some());
    let nothing_asked = session.prompts.got == 0 && !session.has_work();
    if baseline && nothing_asked && !code_only && ending.is_none_or(|ending| ending.kind != EndingKind::Traceback) {
        let fact = session.fact("total_vram_mib").map(|fact| evidence(&fact.at, None));
        return FindingBuilder::new(
            Verdict::NoFault,
            view.number,
            Status::Confirmed,
            messages.text("no-fault-start", &[]),
        )
        .grade(Grade::Moderate, messages.text("grade-no-fault-start", &[]))
        .figures(threads(view, messages))
        .because(fact.into_iter().collect());
    }
    let code = ending.and_then(|ending| ending.exit_code);
    let by_user =
        session.exceptions.last().is_some_and(|last| crate::hypothesis::failure::stopped_by_user(last, messages));
    let key = if let Some(spare) = host::spare(view) {
        if spare == host::Spare::Free { "insufficient-killed-free" } else { "insufficient-killed-not-counted" }
    } else if killed {
        "insufficient-killed"
    } else if by_user && ending.is_some_and(|ending| ending.kind == EndingKind::Traceback) {
        "insufficient-stopped-by-user"
    } else if session.prompts.lost > 0 && ending.is_some_and(|ending| ending.kind == EndingKind::CleanStop) {
        "insufficient-stopped"
    } else if in_flight && ending.is_some_and(|ending| ending.pause.is_some()) {
        "insufficient-ended"
    } else if in_flight && asked_to_stop(code, messages) {
        "insufficient-in-flight-terminated"
    } else if in_flight && code_only {
        "insufficient-in-flight-crash"
    } else if in_flight && code.is_some() {
        "insufficient-in-flight-exit"
    } else if in_flight {
        "insufficient-in-flight"
    } else if code_only {
        "insufficient-exit-code"
    } else if session.prompts.executed > 0 {
        "insufficient-failed"
    } else {
        "insufficient-no-prompt"
    };
    insufficient(view, messages, key)
}

/// Another program wrote this log, and nothing of ComfyUI's own queue is in it.
fn other_program(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let session = view.session;
    let fact = session.fact("other_program")?;
    let own = session.prompts.got + session.prompts.executed > 0
        || session.fact("comfyui_version").is_some_and(|fact| !fact.weak);
    let program = fact.value.as_text().filter(|_| !own && session.server_ready.is_none())?;
    let finding = FindingBuilder::new(
        Verdict::InsufficientEvidence,
        view.number,
        Status::NotAssessable,
        messages.text("other-program", &[("program", program)]),
    )
    .about("other-program")
    .grade(Grade::Strong, messages.text("grade-other-program", &[]))
    .figures(vec![told(
        "loads",
        messages.text("figure-other-program-loads", &[]),
        Basis::Formula,
        vec![fact.at.place.line],
    )])
    .settle(messages.text("settle-other-program", &[("program", program)]));
    Some(finding.because(vec![evidence(&fact.at, None)]))
}

/// The last start came to no server, and nobody stopped it.
fn unfinished_start(views: &[Context<'_>], messages: &Messages<'_>) -> Option<Finding> {
    let last = views.last()?;
    let by_user = last.session.exceptions.iter().any(|one| crate::hypothesis::failure::stopped_by_user(one, messages));
    let stopped = last.session.stopped.is_some() || last.ending().is_some_and(|ending| !ending.kills.is_empty());
    if by_user || stopped {
        return None;
    }
    let log = super::Launch::of(last, messages.packs).map(|launch| launch.log(messages)).unwrap_or_default();
    crate::hypothesis::start::finding(last, messages, &log)
}

/// ComfyUI was started again while a prompt was in flight, and nothing tells how the start before ended.
fn started_again(timeline: &Timeline, views: &[Context<'_>], messages: &Messages<'_>) -> Option<Finding> {
    let silent = |view: &&Context<'_>| {
        view.ending().is_some_and(|ending| ending.kind == EndingKind::Abrupt && ending.restarted.is_some())
    };
    let view = views.iter().rev().find(silent)?;
    let ending = view.ending()?;
    let at = ending.restarted.as_ref()?;
    let line = at.place.line.to_string();
    let terminated = asked_to_stop(ending.exit_code, messages);
    let (one, many) = match terminated {
        true => ("insufficient-restarted-terminated", "insufficient-restarted-terminated-many"),
        false => ("insufficient-restarted-one", "insufficient-restarted-many"),
    };
    let summary = messages.count(one, many, timeline.silent_restarts, &[("line", &line)]);
    let mut figures = vec![unended(view, messages)];
    let later = Starts::of(timeline, views).later(view.number);
    let good = later.good_prompts();
    if good > 0 && !later.hidden {
        let text = messages.count("figure-ran-since-one", "figure-ran-since-many", good, &[("line", &line)]);
        figures.push(told("since", text, Basis::Measured, vec![at.place.line]));
    }
    let finding = FindingBuilder::new(Verdict::InsufficientEvidence, view.number, Status::NotAssessable, summary)
        .about("insufficient-restarted")
        .grade(Grade::Moderate, messages.text("grade-insufficient", &[]))
        .figures(figures)
        .settle(messages.text(settle_silent(views.iter().find(|view| view.os != Os::Unknown).unwrap_or(view)), &[]))
        .because(crate::hypothesis::host::restart_lines(view, messages, at));
    Some(finding)
}

fn insufficient(view: &Context<'_>, messages: &Messages<'_>, key: &str) -> Finding {
    let mut lines = Vec::new();
    let ending = view.ending();
    let uncounted = matches!(key, "insufficient-killed-free" | "insufficient-killed-not-counted");
    let of_code = ending.filter(|ending| ending.kind == EndingKind::NativeCrash).and_then(|ending| ending.at.as_ref());
    let pause = ending.and_then(|ending| ending.pause.as_ref());
    let stop = view.session.stopped.as_ref().filter(|_| key == "insufficient-stopped");
    let kills = ending.filter(|_| key == "insufficient-killed" || stop.is_some()).map(|ending| ending.kills.as_slice());
    if uncounted {
        lines.extend(host::uncounted_lines(view, messages));
    } else if let Some(at) = stop {
        lines.push(evidence(at, Some(messages.text(stop_remark(ending), &[]))));
        lines.extend(
            kills
                .iter()
                .flat_map(|kills| kills.first())
                .map(|at| evidence(at, Some(messages.text("remark-too-slow", &[])))),
        );
    } else if let Some(kills) = kills {
        let flag = ending.and_then(|ending| ending.oom_killed_flag.as_ref());
        lines.extend(flag.map(|(_, at)| evidence(at, Some(messages.text("remark-oom-killed-flag-false", &[])))));
        lines.extend(kills.iter().take(2).map(|at| evidence(at, None)));
    } else if let Some(at) = of_code {
        lines.push(evidence(at, None));
    } else if let Some(pause) = pause {
        lines.push(evidence(pause, Some(messages.text("remark-pause", &[]))));
    } else if let Some(last) = &view.timeline.last_text {
        let remark = if view.timeline.broken_off { "remark-last-read" } else { "remark-last-line" };
        lines.push(evidence(last, Some(messages.text(remark, &[]))));
    }
    let code = view.ending().and_then(|ending| ending.exit_code).map_or_else(String::new, |code| code.to_string());
    let memory = host::uncounted_values(view, messages);
    let mut values: Vec<(&str, &str)> = memory.iter().map(|(name, value)| (*name, value.as_str())).collect();
    values.push(("code", &code));
    let draft = FindingBuilder::new(
        Verdict::InsufficientEvidence,
        view.number,
        Status::NotAssessable,
        messages.text(key, &values),
    )
    .about(key)
    .grade(Grade::Moderate, messages.text("grade-insufficient", &[]))
    .figures(in_flight(view, messages));
    match key {
        // Whoever pressed Ctrl-C knows what happened.
        "insufficient-stopped-by-user" | "insufficient-stopped" => draft.because(lines),
        _ if uncounted => draft.settle(messages.text("settle-killed-other", &[])).because(lines),
        "insufficient-killed" => draft.settle(messages.text("settle-killed", &[])).because(lines),
        // The terminal printed nothing more.
        "insufficient-ended" => draft.settle(messages.text(settle_silent(view), &[])).because(lines),
        "insufficient-in-flight-crash" => draft.settle(messages.text("settle-crash", &[])).because(lines),
        "insufficient-in-flight" => draft.settle(messages.text("settle-in-flight", &[])).because(lines),
        _ => draft.settle(messages.text("settle-insufficient", &[])).because(lines),
    }
}

/// Threads that ended with an error while ComfyUI went on.
fn threads(view: &Context<'_>, messages: &Messages<'_>) -> Vec<Figure> {
    let ended =
        view.session.exceptions.iter().filter(|exception| exception.thread.is_some() && exception.kind.is_some());
    ended
        .take(2)
        .map(|exception| {
            let what = format!("{}: {}", exception.kind.as_deref().unwrap_or_default(), exception.message);
            let what = crate::text::cut_chars(&what, 120);
            let line = exception.last_line_at.as_ref().unwrap_or(&exception.at).place.line;
            let text = match exception.dirs.last() {
                Some(dir) => messages.text("figure-thread", &[("who", dir), ("what", &what)]),
                None => messages.text("figure-thread-own", &[("what", &what)]),
            };
            told("thread", text, Basis::Measured, vec![line])
        })
        .collect()
}

/// What tells how a process ended that printed nothing: systems keep that in different places.
fn settle_silent(view: &Context<'_>) -> &'static str {
    match view.os {
        Os::Windows => "settle-silent-windows",
        Os::Linux | Os::Wsl => "settle-silent-linux",
        Os::MacOs | Os::Unknown => "settle-silent",
    }
}

/// The prompt that has no end before ComfyUI was started again.
fn unended(view: &Context<'_>, messages: &Messages<'_>) -> Figure {
    let number = view.session.current_prompt().to_string();
    let line = view.session.last_line;
    told("unended", messages.text("figure-unended", &[("prompt", &number)]), Basis::Measured, vec![line])
}

/// What was going on when the start ended.
fn in_flight(view: &Context<'_>, messages: &Messages<'_>) -> Vec<Figure> {
    let mut figures = Vec::new();
    if let Some(flight) = view.ending().and_then(|ending| ending.in_flight.as_ref()) {
        let prompt = flight.prompt.to_string();
        let text = match (&flight.class, flight.step) {
            (_, Some((done, total))) => messages.text(
                "figure-in-flight-step",
                &[("prompt", &prompt), ("done", &done.to_string()), ("total", &total.to_string())],
            ),
            (Some(class), None) => messages.text("figure-in-flight-class", &[("prompt", &prompt), ("class", class)]),
            (None, None) => messages.text("figure-in-flight", &[("prompt", &prompt)]),
        };
        figures.push(told("in-flight", text, Basis::Measured, vec![flight.since_line]));
    }
    figures
}

fn nothing(timeline: &Timeline, messages: &Messages<'_>, key: &str) -> Finding {
    let lines = timeline.last_text.iter().map(|at| evidence(at, None)).collect();
    FindingBuilder::new(Verdict::InsufficientEvidence, 1, Status::NotAssessable, messages.text(key, &[]))
        .about(key)
        .grade(Grade::Strong, messages.text("grade-not-comfyui", &[]))
        .settle(messages.text("settle-not-comfyui", &[]))
        .because(lines)
}
