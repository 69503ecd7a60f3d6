//! What the log speaks against, and what it cannot tell.

use super::draft::evidence;
use super::finding::{EvidenceReport, Finding, RuledOut};
use super::growth;
use super::view::{LimitSource, View};
use super::words::Words;
use crate::rule::Verdict;
use crate::timeline::{EndingKind, Seen};

/// Hypotheses that this log speaks against, with the reason.
pub fn ruled_out(
    view: &View<'_>,
    views: &[View<'_>],
    words: &Words<'_>,
    chosen: &Finding,
    others: &[Finding],
) -> Vec<RuledOut> {
    let session = view.session;
    let mut list = Vec::new();
    let named = |id: Verdict| chosen.id == id || others.iter().any(|finding| finding.id == id);
    let ran = session.prompts.executed > 0;
    let last = || -> Vec<EvidenceReport> { session.last_executed.iter().map(|at| evidence(at, None)).collect() };
    if !ran {
        return list;
    }
    let quiet = |view: &&View<'_>| view.session.leaks.is_empty() && super::leak::ruled_out(view).is_some();
    let counted = &view.timeline.left_out;
    if quiet(&view) && counted.leaks.starts == 0 && views.iter().all(|other| other.session.leaks.is_empty()) {
        // Other starts that speak for it are counted as well.
        let prompts = views.iter().filter(quiet).map(|view| view.session.prompts.executed).sum();
        let executed = words.count("prompt-one", "prompt-many", prompts, &[]);
        list.push(RuledOut {
            id: Verdict::LeakConfirmed,
            reason: words.say("not-leak", &[("prompts", &executed)]),
            evidence: last(),
        });
    }
    let mentioned =
        session.exceptions.iter().any(|exception| exception.message.to_lowercase().contains("out of memory"));
    let one = |seen: Seen| seen.starts > 0;
    if !named(Verdict::GpuOom)
        && !one(counted.gpu_ooms)
        && session.ooms.is_empty()
        && session.counts.attention_retries.is_none()
        && !mentioned
    {
        list.push(RuledOut { id: Verdict::GpuOom, reason: words.say("not-oom", &[]), evidence: Vec::new() });
    }
    let stopped_well =
        view.ending().is_some_and(|ending| matches!(ending.kind, EndingKind::CleanStop | EndingKind::StillRunning));
    let other = views.iter().any(|view| view.ending().is_some_and(|ending| ending.other_killed.is_some()));
    let died = other || one(counted.killed) || one(counted.host_ooms);
    if !named(Verdict::HostOom) && !died && session.host_ooms.is_empty() && stopped_well {
        list.push(RuledOut { id: Verdict::HostOom, reason: words.say("not-killed", &[]), evidence: Vec::new() });
    }
    let once = session.loads.values().all(|load| load.reload_prompts == 0 && load.rebuilt_prompts == 0);
    if !named(Verdict::ReloadEachPrompt) && session.prompts.executed >= 3 && !session.loads.is_empty() && once {
        list.push(RuledOut {
            id: Verdict::ReloadEachPrompt,
            reason: words.say("not-reload", &[]),
            evidence: Vec::new(),
        });
    }
    if let Some((_, LimitSource::CgroupLine)) = view.limit_mib
        && let Some(fact) = session.fact("cgroup_limit_mib")
    {
        list.push(RuledOut {
            id: Verdict::ContainerLimit,
            reason: words.say("not-container", &[]),
            evidence: vec![evidence(&fact.at, None)],
        });
    }
    if view.nodes_off()
        && let Some(at) = &session.nodes_disabled
    {
        list.push(RuledOut {
            id: Verdict::CustomNode,
            reason: words.say("not-node", &[]),
            evidence: vec![evidence(at, None)],
        });
    }
    list.retain(|item| item.id != chosen.id);
    list
}

/// What ComfyUI's start would have told, and this log does not.
fn missing_of_start(view: &View<'_>, words: &Words<'_>) -> String {
    let session = view.session;
    let card = session.fact("device").is_some();
    let missing = [
        ("missing-version", view.span.is_unknown()),
        ("missing-card", !card),
        ("missing-vram", card && view.vram_mib().is_none()),
        ("missing-ram", view.ram_mib().is_none()),
    ];
    let list: Vec<String> = missing.iter().filter(|(_, holds)| *holds).map(|(key, _)| words.say(key, &[])).collect();
    list.join(", ")
}

/// What stays open, most useful first.
pub fn cannot_tell(view: &View<'_>, words: &Words<'_>, chosen: &Finding, others: &[Finding]) -> Vec<String> {
    let session = view.session;
    let mut list = Vec::new();
    let prompts = words.count("prompt-one", "prompt-many", session.prompts.executed, &[]);
    // Of another program's log there is nothing to miss.
    if matches!(chosen.about.as_deref(), Some("insufficient-not-comfyui" | "insufficient-empty")) {
        return list;
    }
    let mut add = |key: &str, holds: bool, values: &[(&str, &str)]| {
        if holds {
            list.push(words.say(key, values));
        }
    };
    let id = chosen.id;
    add("gap-who", id == Verdict::LeakConfirmed && chosen.candidates.is_empty() && !view.nodes_off(), &[]);
    let open = session.prompts.executed > 0
        && matches!(
            id,
            Verdict::NoFault | Verdict::CachingByDesign | Verdict::PinningByDesign | Verdict::CycleCollected
        );
    let measured = others.iter().find(|other| other.session == chosen.session && growth::is_growth(other));
    match measured {
        Some(finding) => add("gap-growth-measured", open, &[("what", &finding.summary)]),
        None => add("gap-growth", open, &[("prompts", &prompts)]),
    }
    let missing = missing_of_start(view, words);
    let no_start = session.fact("total_vram_mib").is_none() && !missing.is_empty();
    add("gap-start", no_start, &[("missing", &missing)]);
    add("gap-version", view.span.is_unknown() && !no_start, &[]);
    add("gap-last-call", id == Verdict::LeakConfirmed, &[]);
    add("gap-kill-cause", id == Verdict::HostOom && chosen.grade < super::finding::Grade::Strong, &[]);
    add("gap-info-hidden", !view.timeline.info_visible && session.has_work(), &[]);
    list
}
