//! One piece of RAM that was refused: how much, for what, and by whom.

use super::limit_figures;
use crate::catalog::Verdict;
use crate::catalog::messages::Messages;
use crate::event::MIB;
use crate::hypothesis::context::{Context, LimitSource};
use crate::hypothesis::factor::{self, Factors};
use crate::hypothesis::finding::{Basis, Candidate, Figure, Finding, Grade, Status};
use crate::hypothesis::finding_builder::{FindingBuilder, evidence, figure, told};
use crate::hypothesis::phase::{self, Scene};
use crate::text;
use crate::timeline::{Exception, HostOom};

/// What the packs call the limit of Windows on RAM and page file together.
const PAGING_FILE: &str = "paging-file";
/// A file that was to be mapped into memory.
const MMAP: &str = "mmap";

/// The last failed allocation of a start, one of `times`.
pub fn finding(view: &Context<'_>, messages: &Messages<'_>, oom: &HostOom, times: usize) -> Finding {
    let exception = phase::failed_in(view, oom.prompt);
    let scene = Scene::of_prompt(oom.prompt, view, messages);
    let factors = oom
        .array
        .as_ref()
        .and_then(factor::of_array)
        .or_else(|| oom.requested.and_then(|bytes| factor::of_request(bytes, oom.prompt, view)));
    let limit = view.limit_mib.filter(|(mib, source)| {
        *source != LimitSource::CgroupLine && view.ram_mib().is_some_and(|ram| ram > *mib * 1.1)
    });
    let id = if limit.is_some() { Verdict::ContainerLimit } else { Verdict::HostOom };
    let recovered =
        view.session.prompt_list.iter().any(|prompt| prompt.number > oom.prompt && prompt.ended && !prompt.failed);
    let mut figures = figures(oom, exception, factors, view, messages);
    figures.extend(limit_figures(view, messages));
    let mut lines = vec![evidence(&oom.at, None)];
    if let Some(at) = exception.and_then(|exception| exception.dir_at.as_ref()) {
        lines.push(evidence(at, None));
    }
    FindingBuilder::new(id, view.number, Status::Confirmed, summary(oom, &scene, factors, view, messages))
        .about(&oom.kind)
        .grade(Grade::Strong, messages.count("grade-allocation-one", "grade-allocation", times as u64, &[]))
        .figures(figures)
        .candidates(exception.and_then(|exception| ran_inside(exception, messages)).into_iter().collect())
        .recovered(recovered)
        .in_prompt(oom.prompt)
        .because(lines)
}

fn summary(
    oom: &HostOom,
    scene: &Scene,
    factors: Option<Factors>,
    view: &Context<'_>,
    messages: &Messages<'_>,
) -> String {
    let requested = oom.requested.map_or_else(|| "?".to_owned(), text::bytes);
    let ram = view.ram_mib().map_or_else(|| "?".to_owned(), text::mib);
    let over = oom.requested.zip(view.ram_mib()).is_some_and(|(bytes, ram)| bytes > ram * MIB);
    let frames = factors.map_or(0, |factors| factors.frames).to_string();
    let place = phase::in_words(scene, None, messages);
    let values = [("requested", requested.as_str()), ("ram", &ram), ("frames", &frames), ("where", place.as_str())];
    let key = match (oom.kind.as_str(), oom.requested) {
        (PAGING_FILE, _) => "host-paging-file",
        (MMAP, Some(_)) => "host-mmap",
        (_, Some(_)) if factors.is_some_and(|factors| factors.frames > 1) => "host-frames",
        (_, Some(_)) if over => "host-over-ram",
        (_, Some(_)) => "host-allocation",
        (_, None) if scene.is(phase::WHOLE_VIDEO) => "host-video-no-size",
        (_, None) => "host-allocation-no-size",
    };
    messages.text(key, &values)
}

fn figures(
    oom: &HostOom,
    exception: Option<&Exception>,
    factors: Option<Factors>,
    view: &Context<'_>,
    messages: &Messages<'_>,
) -> Vec<Figure> {
    let mut figures = Vec::new();
    let line = oom.at.place.line;
    if let (Some(bytes), Some(ram)) = (oom.requested, view.session.fact("total_ram_mib"))
        && let Some(mib) = view.ram_mib()
    {
        let values = [("requested", text::bytes(bytes)), ("ram", text::mib(mib))];
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let lines = vec![ram.at.place.line, line];
        figures.push(figure(
            "request",
            messages.text("figure-request-of-ram", &values),
            Basis::Measured,
            bytes,
            "bytes",
            lines,
        ));
    } else if let Some(bytes) = oom.requested {
        let text = messages.text("figure-request", &[("requested", &text::bytes(bytes))]);
        figures.push(figure("request", text, Basis::Measured, bytes, "bytes", vec![line]));
    }
    figures.extend(factors.map(|factors| factors.figure(oom.requested, line, messages)));
    if factors.is_none() {
        figures.extend(factor::pictures_before(oom.prompt, line, view, messages));
    }
    if let Some(node) = exception.and_then(|exception| exception.node.as_ref()) {
        let at = exception.and_then(|exception| exception.node_line).unwrap_or(line);
        figures.push(told("node", crate::hypothesis::failure::node_text(node, messages), Basis::Measured, vec![at]));
    }
    let seen = exception.and_then(|exception| exception.requester.as_ref().or(exception.phase.as_ref()));
    if let Some(sign) = seen.filter(|sign| !sign.function.is_empty()) {
        let text = messages.text("figure-in-function", &[("function", &sign.function)]);
        figures.push(told("frame", text, Basis::Measured, vec![sign.line]));
    }
    figures
}

/// The node pack in whose code it happened, which is not yet its fault.
fn ran_inside(exception: &Exception, messages: &Messages<'_>) -> Option<Candidate> {
    Some(Candidate {
        dir: exception.dirs.last()?.clone(),
        why: "traceback".to_owned(),
        reason: messages.text("candidate-ran-inside", &[]),
        at: exception.dir_at.as_ref().map(|at| crate::hypothesis::finding_builder::place(&at.place, None)),
    })
}
