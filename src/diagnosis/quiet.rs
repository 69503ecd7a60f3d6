//! When nothing is wrong, or nothing can be said: which of the two, and why.

use super::draft::{Draft, evidence, told};
use super::finding::{Basis, Figure, Finding, Grade, Status};
use super::starts::Starts;
use super::view::View;
use super::words::Words;
use crate::event::Tally;
use crate::rule::{SignOf, Verdict};
use crate::timeline::{Ending, EndingKind, Timeline};

/// The exit code of a program that was asked to stop.
fn asked_to_stop(code: Option<i64>, words: &Words<'_>) -> bool {
    code.is_some_and(|code| words.packs.shows(SignOf::StopCode, &code.to_string()))
}

/// Who had to be killed did not stop by itself.
fn stop_remark(ending: Option<&Ending>) -> &'static str {
    let killed = ending.is_some_and(|ending| !ending.kills.is_empty());
    if killed { "remark-stop-ordered" } else { "remark-clean-stop" }
}

/// `no-fault` or `insufficient-evidence` for the last session that did anything.
pub fn examine(timeline: &Timeline, views: &[View<'_>], words: &Words<'_>, tally: Tally) -> Finding {
    let view = views.iter().rev().find(|view| view.session.has_work()).or(views.last());
    let Some(view) = view else { return nothing(timeline, words, "insufficient-empty") };
    let session = view.session;
    let is_comfyui = tally.comfyui > 0
        || tally.kin > 0
        || session.fact("total_vram_mib").is_some()
        || session.fact("comfyui_version").is_some();
    if !is_comfyui && tally.hidden > 0 {
        let settle = Some(words.say("settle-prefix", &[]));
        return Finding { settle, ..insufficient(view, words, "insufficient-prefix") };
    }
    if !is_comfyui {
        return nothing(timeline, words, "insufficient-not-comfyui");
    }
    // Quiet so far is no "nothing is wrong": the fault may stand in the part that nobody read.
    if timeline.broken_off {
        return insufficient(view, words, "insufficient-broken-off");
    }
    if let Some(finding) = started_again(timeline, views, words) {
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
        let prompts = words.count("prompt-one", "prompt-many", ended, &[]);
        let stopped = words.count("stopped-one", "stopped-many", interrupted, &[]);
        let key = match (interrupted, ended) {
            (0, _) => "no-fault-summary",
            (_, 0) => "no-fault-only-interrupted",
            _ => "no-fault-interrupted",
        };
        let mut lines = Vec::new();
        if let Some(at) = &session.last_executed {
            lines.push(evidence(at, Some(words.say("remark-last-prompt", &[]))));
        }
        if let Some(counted) = &session.counts.tiled_retries {
            lines.push(super::draft::counted(counted, Some(words.say("remark-tiled-retry", &[]))));
        }
        if let Some(at) = &session.first_interrupt {
            lines.push(evidence(at, Some(words.say("remark-interrupted", &[]))));
        }
        if let Some(at) = &session.stopped {
            lines.push(evidence(at, Some(words.say(stop_remark(ending), &[]))));
        }
        let logged = super::failure::logged_beside(view, words);
        lines.extend(logged.iter().map(|at| evidence(at, Some(words.say("remark-logged-error", &[])))));
        let (grade, reason) = match (timeline.info_visible, logged.is_some()) {
            (_, true) => (Grade::Moderate, "grade-no-fault-traceback"),
            (true, false) => (Grade::Strong, "grade-no-fault"),
            (false, false) => (Grade::Moderate, "grade-no-fault-hidden"),
        };
        return Draft::new(
            Verdict::NoFault,
            view.number,
            Status::Confirmed,
            words.say(key, &[("prompts", &prompts), ("stopped", &stopped)]),
        )
        .grade(grade, words.say(reason, &[]))
        .because(lines);
    }
    let baseline = session.fact("total_vram_mib").is_some_and(|fact| !fact.weak)
        && (session.fact("comfyui_version").is_some() || session.server_ready.is_some());
    let nothing_asked = session.prompts.got == 0 && !session.has_work();
    if baseline && nothing_asked && !code_only && ending.is_none_or(|ending| ending.kind != EndingKind::Traceback) {
        let fact = session.fact("total_vram_mib").map(|fact| evidence(&fact.at, None));
        return Draft::new(Verdict::NoFault, view.number, Status::Confirmed, words.say("no-fault-start", &[]))
            .grade(Grade::Moderate, words.say("grade-no-fault-start", &[]))
            .because(fact.into_iter().collect());
    }
    let code = ending.and_then(|ending| ending.exit_code);
    let by_user = session.exceptions.last().is_some_and(|last| super::failure::stopped_by_user(last, words));
    let key = if killed {
        "insufficient-killed"
    } else if by_user && ending.is_some_and(|ending| ending.kind == EndingKind::Traceback) {
        "insufficient-stopped-by-user"
    } else if session.prompts.lost > 0 && ending.is_some_and(|ending| ending.kind == EndingKind::CleanStop) {
        "insufficient-stopped"
    } else if in_flight && ending.is_some_and(|ending| ending.pause.is_some()) {
        "insufficient-ended"
    } else if in_flight && asked_to_stop(code, words) {
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
    insufficient(view, words, key)
}

/// ComfyUI was started again while a prompt was in flight, and nothing tells how the start before ended.
fn started_again(timeline: &Timeline, views: &[View<'_>], words: &Words<'_>) -> Option<Finding> {
    let silent = |view: &&View<'_>| {
        view.ending().is_some_and(|ending| ending.kind == EndingKind::Abrupt && ending.restarted.is_some())
    };
    let view = views.iter().rev().find(silent)?;
    let ending = view.ending()?;
    let at = ending.restarted.as_ref()?;
    let line = at.place.line.to_string();
    let terminated = asked_to_stop(ending.exit_code, words);
    let (one, many) = match terminated {
        true => ("insufficient-restarted-terminated", "insufficient-restarted-terminated-many"),
        false => ("insufficient-restarted-one", "insufficient-restarted-many"),
    };
    let summary = words.count(one, many, timeline.silent_restarts, &[("line", &line)]);
    let mut figures = in_flight(view, words);
    let later = Starts::of(timeline, views).later(view.number);
    let good = later.good_prompts();
    if good > 0 && !later.hidden {
        let text = words.count("figure-ran-since-one", "figure-ran-since-many", good, &[("line", &line)]);
        figures.push(told("since", text, Basis::Measured, vec![at.place.line]));
    }
    let finding = Draft::new(Verdict::InsufficientEvidence, view.number, Status::NotAssessable, summary)
        .about("insufficient-restarted")
        .grade(Grade::Moderate, words.say("grade-insufficient", &[]))
        .figures(figures)
        .settle(words.say(super::host::settle_silent(view), &[]))
        .because(super::host::restart_lines(view, words, at));
    Some(finding)
}

fn insufficient(view: &View<'_>, words: &Words<'_>, key: &str) -> Finding {
    let mut lines = Vec::new();
    let ending = view.ending();
    let of_code = ending.filter(|ending| ending.kind == EndingKind::NativeCrash).and_then(|ending| ending.at.as_ref());
    let pause = ending.and_then(|ending| ending.pause.as_ref());
    let stop = view.session.stopped.as_ref().filter(|_| key == "insufficient-stopped");
    let kills = ending.filter(|_| key == "insufficient-killed" || stop.is_some()).map(|ending| ending.kills.as_slice());
    if let Some(at) = stop {
        lines.push(evidence(at, Some(words.say(stop_remark(ending), &[]))));
        lines.extend(
            kills
                .iter()
                .flat_map(|kills| kills.first())
                .map(|at| evidence(at, Some(words.say("remark-too-slow", &[])))),
        );
    } else if let Some(kills) = kills {
        let flag = ending.and_then(|ending| ending.oom_killed_flag.as_ref());
        lines.extend(flag.map(|(_, at)| evidence(at, Some(words.say("remark-oom-killed-flag-false", &[])))));
        lines.extend(kills.iter().take(2).map(|at| evidence(at, None)));
    } else if let Some(at) = of_code {
        lines.push(evidence(at, None));
    } else if let Some(pause) = pause {
        lines.push(evidence(pause, Some(words.say("remark-pause", &[]))));
    } else if let Some(last) = &view.timeline.last_text {
        let remark = if view.timeline.broken_off { "remark-last-read" } else { "remark-last-line" };
        lines.push(evidence(last, Some(words.say(remark, &[]))));
    }
    let code = view.ending().and_then(|ending| ending.exit_code).map_or_else(String::new, |code| code.to_string());
    let draft = Draft::new(
        Verdict::InsufficientEvidence,
        view.number,
        Status::NotAssessable,
        words.say(key, &[("code", &code)]),
    )
    .about(key)
    .grade(Grade::Moderate, words.say("grade-insufficient", &[]))
    .figures(in_flight(view, words));
    match key {
        // Whoever pressed Ctrl-C knows what happened.
        "insufficient-stopped-by-user" | "insufficient-stopped" => draft.because(lines),
        "insufficient-killed" => draft.settle(words.say("settle-killed", &[])).because(lines),
        // The terminal printed nothing more.
        "insufficient-ended" => draft.settle(words.say(super::host::settle_silent(view), &[])).because(lines),
        "insufficient-in-flight-crash" => draft.settle(words.say("settle-crash", &[])).because(lines),
        _ => draft.settle(words.say("settle-insufficient", &[])).because(lines),
    }
}

/// What was going on when the start ended.
fn in_flight(view: &View<'_>, words: &Words<'_>) -> Vec<Figure> {
    let mut figures = Vec::new();
    if let Some(flight) = view.ending().and_then(|ending| ending.in_flight.as_ref()) {
        let prompt = flight.prompt.to_string();
        let text = match (&flight.class, flight.step) {
            (_, Some((done, total))) => words.say(
                "figure-in-flight-step",
                &[("prompt", &prompt), ("done", &done.to_string()), ("total", &total.to_string())],
            ),
            (Some(class), None) => words.say("figure-in-flight-class", &[("prompt", &prompt), ("class", class)]),
            (None, None) => words.say("figure-in-flight", &[("prompt", &prompt)]),
        };
        figures.push(told("in-flight", text, Basis::Measured, vec![flight.since_line]));
    }
    figures
}

fn nothing(timeline: &Timeline, words: &Words<'_>, key: &str) -> Finding {
    let lines = timeline.last_text.iter().map(|at| evidence(at, None)).collect();
    Draft::new(Verdict::InsufficientEvidence, 1, Status::NotAssessable, words.say(key, &[]))
        .about(key)
        .grade(Grade::Strong, words.say("grade-not-comfyui", &[]))
        .settle(words.say("settle-not-comfyui", &[]))
        .because(lines)
}
