//! Starts of ComfyUI that came to no server: how far they came, and whether the program had ended.

use super::context::Context;
use super::finding::{Basis, EvidenceReport, Figure, Finding, Grade, Status};
use super::finding_builder::{FindingBuilder, evidence, told};
use crate::catalog::Verdict;
use crate::catalog::messages::Messages;
use crate::timeline::{EndingKind, Evidence, Start};

/// The start of this session, when nothing shows that the server came up or that a prompt ran.
pub fn unfinished<'t>(view: &Context<'t>) -> Option<&'t Start> {
    let session = view.session;
    session.start.as_ref().filter(|_| session.server_ready.is_none() && !session.has_work())
}

/// The stage as a noun.
pub fn stage_name(start: &Start, messages: &Messages<'_>) -> String {
    messages.packs.prose_text("stage", &start.stage, "name", messages.zh).unwrap_or(&start.stage).to_owned()
}

/// The next stage, which this start did not show.
fn next_stage(start: &Start, messages: &Messages<'_>) -> Option<String> {
    let next = messages.packs.stages.iter().find(|stage| stage.order > start.order)?;
    messages.packs.prose_text("stage", &next.id, "name", messages.zh).map(str::to_owned)
}

/// The line by which the program had ended: a question for a key, an exit code.
fn ended_by<'t>(view: &Context<'t>) -> Option<&'t Evidence> {
    let ending = view.ending()?;
    let code = ending.exit_at.as_ref().filter(|_| ending.exit_code != Some(0));
    ending.crash.as_ref().or(code).or(ending.pause.as_ref())
}

/// A line says that the program had ended.
pub fn has_ended(view: &Context<'_>) -> bool {
    ended_by(view).is_some()
}

/// What the start tells of version and machine.
fn read(view: &Context<'_>, messages: &Messages<'_>) -> Option<Figure> {
    let session = view.session;
    let size = |key: &str, mib: f64| messages.text(key, &[("size", &crate::text::mib(mib))]);
    let version =
        session.text("comfyui_version").map(|version| messages.text("start-read-version", &[("version", version)]));
    let card = session.text("device").map(str::to_owned);
    let vram = session.fact("total_vram_mib").and_then(|_| view.vram_mib()).map(|mib| size("start-read-vram", mib));
    let ram = session.fact("total_ram_mib").and_then(|_| view.ram_mib()).map(|mib| size("start-read-ram", mib));
    let lines = ["comfyui_version", "device", "total_vram_mib"];
    let lines: std::collections::BTreeSet<u64> =
        lines.iter().filter_map(|name| session.fact(name)).map(|fact| fact.at.place.line).collect();
    let parts: Vec<String> = [version, card, vram, ram].into_iter().flatten().collect();
    let text = messages.text("figure-start-read", &[("what", &parts.join(messages.list_mark()))]);
    (parts.len() > 1).then(|| told("start-read", text, Basis::Measured, lines.into_iter().collect()))
}

/// ComfyUI ended while it started, and no line names an error; or the log ends there. `log` tells where the rest of it is.
pub fn finding(view: &Context<'_>, messages: &Messages<'_>, log: &str) -> Option<Finding> {
    let start = unfinished(view)?;
    let stage = stage_name(start, messages);
    let line = start.at.place.line.to_string();
    let mut figures: Vec<Figure> = Vec::new();
    if let Some(next) = next_stage(start, messages) {
        let text = messages.text("figure-start-next", &[("stage", &stage), ("line", &line), ("next", &next)]);
        figures.push(told("start-stage", text, Basis::Measured, vec![start.at.place.line]));
    }
    figures.extend(read(view, messages));
    figures.extend(super::logged_error::figures_beside(None, view, messages));
    let last = |remark: &str| -> EvidenceReport { evidence(&start.at, Some(messages.text(remark, &[]))) };
    match ended_by(view) {
        Some(at) => {
            let ending = view.ending();
            let code = ending.and_then(|ending| ending.exit_code).map(|code| code.to_string());
            let native = ending.is_some_and(|ending| ending.kind == EndingKind::NativeCrash);
            let key = match (&code, native) {
                (Some(_), true) => "start-crashed",
                (Some(_), false) => "start-ended-code",
                (None, _) => "start-ended",
            };
            let code = code.unwrap_or_default();
            let hint =
                ending.and_then(|ending| ending.pause.as_ref()).filter(|pause| pause.rule == "launcher-portable-hint");
            if let Some(pause) = hint {
                let text = messages.text("figure-launcher-hint", &[]);
                figures.push(told("launcher-hint", text, Basis::Measured, vec![pause.place.line]));
            }
            let draft = FindingBuilder::new(
                Verdict::OtherError,
                view.number,
                Status::Likely,
                messages.text(key, &[("stage", &stage), ("code", &code)]),
            )
            .about("start-ended")
            .grade(Grade::Moderate, messages.text("grade-start-ended", &[]))
            .figures(figures)
            .settle(messages.text("settle-start-ended", &[]));
            Some(draft.because(vec![last("remark-start-last"), evidence(at, None)]))
        }
        None => {
            let settle = messages.text("settle-start-unfinished", &[("log", log)]);
            let draft = FindingBuilder::new(
                Verdict::InsufficientEvidence,
                view.number,
                Status::NotAssessable,
                messages.text("start-unfinished", &[("stage", &stage), ("line", &line)]),
            )
            .about("start-unfinished")
            .grade(Grade::Moderate, messages.text("grade-start-unfinished", &[]))
            .figures(figures)
            .settle(settle);
            Some(draft.because(vec![last("remark-start-last")]))
        }
    }
}
