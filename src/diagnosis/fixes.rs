//! What to do and what not to do: the packs' remedies that act on the part that decided, and that this version and
//! these flags leave open.

use super::fill::Places;
use super::launcher::Launch;
use crate::catalog::messages::Messages;
use crate::catalog::{FlagRole, RemedyDef, SignDef, SignOf, SignPlace, Since, Verdict};
use crate::event::MIB;
use crate::hypothesis::by_design::SLOWER_FIGURE;
use crate::hypothesis::context::{Context, Gpu, Os};
use crate::hypothesis::finding::{Avoid, Finding, Status, Step};
use crate::hypothesis::oom::METAL;
use crate::hypothesis::phase::{self, Scene};
use crate::timeline::OomRecord;

/// Circumstance of a folder that holds no node pack, as signs call it.
const NO_INIT: &str = "no-init";
/// What an import is about that failed in no node pack.
const NO_PACK: &str = "no-pack";
/// Cases of an out-of-memory in which the phase or the requester decides what helps, as the verdicts' files call them.
const REFUSED: &str = "driver-refused";
const IMPOSSIBLE: &str = "activations";
const UNIFIED: &str = "unified";
const FRAMES: &str = "frames";
const RAM_LOADING: &str = "ram-loading";

/// Parts a finding's remedies act on.
pub fn parts<'f>(finding: &'f Finding, view: &Context<'_>, messages: &Messages<'_>) -> Vec<&'f str> {
    let about = finding.about.as_deref().unwrap_or_default();
    let case = match finding.id {
        Verdict::ImportFailure if finding.candidates.is_empty() => NO_PACK,
        Verdict::GpuOom => gpu_case(about, view, messages),
        Verdict::HostOom => ram_case(finding, view, messages),
        _ => about,
    };
    // Where nothing failed, what it is about decides alone.
    if finding.id.is_empty() || finding.mentioned {
        return vec![about];
    }
    let mut parts = finding.id.acts_on(case);
    // What was switched on matters for a crash, whoever called the library.
    if finding.id == Verdict::CustomNode && finding.crash {
        parts.push(crate::hypothesis::crash::CRASH);
    }
    parts
}

/// The out-of-memory that a report is about: the last one that nothing recovered from, else the last one.
fn last_oom<'t>(view: &Context<'t>) -> Option<&'t OomRecord> {
    let ooms = &view.session.ooms;
    ooms.iter().rev().find(|oom| !oom.recovered).or_else(|| ooms.last())
}

/// What was going on decides first: a load is not helped by a smaller picture, nor a text encoder by tiles.
fn gpu_case<'f>(about: &'f str, view: &Context<'_>, messages: &Messages<'_>) -> &'f str {
    let Some(oom) = last_oom(view) else { return about };
    let scene = Scene::of_oom(oom, view, messages);
    let split = crate::hypothesis::oom::split(oom, view, messages.packs);
    match about {
        "driver" if split.refused => REFUSED,
        "driver" | "fragmentation-or-driver" | "tiny-card" => about,
        "others" | "context" if oom.kind != METAL => about,
        _ if split.impossible => IMPOSSIBLE,
        _ if scene.is(phase::LOADING) || scene.is(phase::PATCHING) => phase::LOADING,
        _ if scene.is(phase::TEXT_ENCODING) => phase::TEXT_ENCODING,
        _ if oom.kind == METAL => UNIFIED,
        _ => about,
    }
}

/// A buffer of all frames is not helped by a smaller file, nor a file by fewer frames.
fn ram_case<'f>(finding: &'f Finding, view: &Context<'_>, messages: &Messages<'_>) -> &'f str {
    let about = finding.about.as_deref().unwrap_or_default();
    let scene = finding.prompt.map(|prompt| Scene::of_prompt(prompt, view, messages)).unwrap_or_default();
    let framed = finding.figures.iter().any(|figure| figure.name == "factors");
    match about {
        "killed" | "killed-in-container" | "silent-end" | "" => about,
        _ if framed || scene.is(phase::WHOLE_VIDEO) || scene.is(phase::UPSCALER) => FRAMES,
        "mmap" | "paging-file" => RAM_LOADING,
        _ if scene.is(phase::LOADING) || scene.is(phase::PATCHING) => RAM_LOADING,
        _ => about,
    }
}

/// Circumstances by the packs' closed list of tags.
// Long: one line for each tag of the packs' closed list.
pub fn tags(view: &Context<'_>, messages: &Messages<'_>, finding: &Finding) -> Vec<String> {
    let session = view.session;
    let signs = messages.packs.signs_of(SignOf::Circumstance);
    let mut tags: Vec<String> = signs.filter(|sign| shown(sign, view, finding)).map(|sign| sign.is.clone()).collect();
    let scene = match (finding.id, finding.prompt) {
        (Verdict::GpuOom, _) => last_oom(view).map(|oom| Scene::of_oom(oom, view, messages)),
        (_, Some(prompt)) => Some(Scene::of_prompt(prompt, view, messages)),
        _ => None,
    };
    let scene = scene.unwrap_or_default();
    let vae_last = session
        .ooms
        .last()
        .and_then(|oom| oom.last_load.as_ref())
        .is_some_and(|(class, _)| crate::hypothesis::classes::kind(messages.packs, class) == Some("vae"));
    // A VAE that works does one of the two, and the decoder stands in the traceback of both.
    let decode = match &scene.phase {
        Some(phase) => phase.is == phase::DECODING,
        None => vae_last || tags.iter().any(|tag| tag == "decode"),
    };
    let encode = scene.phase.as_ref().is_none_or(|phase| phase.is == phase::ENCODING);
    tags.retain(|tag| tag != "decode" && (tag != "encode" || !decode && encode));
    let mut add = |tag: &str, holds: bool| {
        if holds && !tags.iter().any(|known| known == tag) {
            tags.push(tag.to_owned());
        }
    };
    add("decode", decode);
    add("windows", view.os == Os::Windows);
    add("linux", matches!(view.os, Os::Linux | Os::Wsl));
    add("wsl", view.os == Os::Wsl);
    let container = view.in_container().is_some() || view.limit_mib.is_some();
    add("container", container || finding.id == Verdict::ContainerLimit);
    add("encode", scene.is(phase::ENCODING));
    add("sampling", scene.is(phase::SAMPLING));
    add("loading", scene.is(phase::LOADING));
    add("patching", scene.is(phase::PATCHING));
    add("text-encoding", scene.is(phase::TEXT_ENCODING));
    add("whole-video", scene.is(phase::WHOLE_VIDEO));
    add("upscaler", scene.is(phase::UPSCALER));
    let maker = match view.gpu {
        Gpu::Nvidia => "nvidia",
        Gpu::Amd => "amd",
        Gpu::Intel => "intel",
        Gpu::Apple => "apple",
        Gpu::DirectMl => "directml",
        Gpu::Cpu | Gpu::Unknown => "",
    };
    add(maker, !maker.is_empty());
    let over = session.host_ooms.iter().filter_map(|oom| oom.requested).fold(0.0, f64::max);
    add("request-over-ram", view.ram_mib().is_some_and(|ram| over > ram * MIB));
    add("attention", session.counts.attention_retries.is_some());
    let first = |what: &str| crate::hypothesis::defaults::first_true(messages.packs, what);
    let dynamic = view.dynamic_vram == Some(true);
    add("dynamic-vram", dynamic);
    add(
        "no-dynamic-vram",
        !dynamic && first("dynamic-vram").is_some_and(|first| view.span.older_than(first))
            || view.dynamic_vram == Some(false)
            || view.asks(FlagRole::DynamicVramOff).is_some(),
    );
    let sees = session.fact("cgroup_limit_mib").is_some()
        || first("sees-cgroup").is_some_and(|first| view.span.at_least(first));
    add("cgroup-unseen", (container || finding.id == Verdict::ContainerLimit) && !sees);
    add(
        "impossible-request",
        finding.figures.iter().any(|figure| figure.name == "capacity")
            && session.ooms.iter().any(|oom| crate::hypothesis::oom::split(oom, view, messages.packs).impossible),
    );
    let offload_cannot =
        last_oom(view).is_some_and(|oom| crate::hypothesis::oom::split(oom, view, messages.packs).offload_cannot(oom));
    // What nobody knows is no step that asks for too much.
    add("offload-cannot", offload_cannot && finding.about.as_deref() != Some("unexplained"));
    // What says more than that something is missing has a remedy of its own.
    let told = |reason: &str| {
        let mut signs = messages.packs.signs_of(SignOf::Circumstance);
        signs.any(|sign| (sign.is == NO_INIT || sign.place == SignPlace::Said) && sign.fits(reason))
    };
    let reasons: Vec<&str> = session
        .nodes
        .iter()
        .filter(|node| node.failed)
        .map(|node| node.reason.as_deref().unwrap_or_default())
        .collect();
    add("only-incomplete", !reasons.is_empty() && reasons.iter().all(|reason| told(reason)));
    crate::hypothesis::crash::tags(view, messages, finding, &mut add);
    add("crash-at-start", finding.about.as_deref() == Some("native-crash-at-start"));
    add("version-unknown", view.span.exact.is_none() && view.span.from.is_none());
    add("macos", view.os == Os::MacOs || session.ooms.iter().any(|oom| oom.kind == METAL));
    add("own-outside", finding.figures.iter().any(|figure| figure.name == "own-outside"));
    add("tiled-already", session.counts.tiled_retries.is_some());
    add("multi-gpu", session.devices.len() > 1);
    add("weights-over-limit", finding.figures.iter().any(|figure| figure.name == "weights-over-limit"));
    let portable = session.flag_fact("embedded_python") == Some(true);
    let by_path = |text: &str| text.contains("python_embeded");
    let texts = ["python_path", "required_by", "launcher"].into_iter().filter_map(|name| session.text(name));
    add("portable", portable || texts.into_iter().any(by_path));
    add("custom-nodes-off", view.nodes_off());
    add("pins-greedy", finding.figures.iter().any(|figure| figure.name == "pins-greedy"));
    add("device-clone", session.counts.device_clones.is_some());
    add("pack-suspected", !finding.candidates.is_empty());
    let full = finding.about.as_deref() == Some(crate::hypothesis::host::FULL_AT_CRASH);
    add("commit-limit", full || session.host_ooms.iter().any(|oom| oom.kind == "paging-file"));
    add("later-prompts", finding.figures.iter().any(|figure| figure.name == crate::hypothesis::slow::FIRST));
    for circumstance in &finding.circumstances {
        if !tags.contains(circumstance) {
            tags.push(circumstance.clone());
        }
    }
    tags
}

/// A text of the log, or of what was found in it, fits the sign.
fn shown(sign: &SignDef, view: &Context<'_>, finding: &Finding) -> bool {
    let session = view.session;
    let fits = |text: &str| sign.fits(text);
    match sign.place {
        SignPlace::Fact => view.shows(sign),
        SignPlace::Class => session.loads.keys().chain(session.dynamic.keys()).any(|class| fits(class)),
        SignPlace::Folder => {
            let raised = session.exceptions.iter().flat_map(|exception| &exception.dirs);
            session.nodes.iter().map(|node| &node.dir).chain(raised).any(|dir| fits(dir))
        }
        SignPlace::Node => session.exceptions.iter().filter_map(|exception| exception.node.as_deref()).any(fits),
        SignPlace::Frame => {
            let crashed = session.crash_stack.iter().flat_map(|stack| &stack.frames);
            session.exceptions.iter().flat_map(|exception| &exception.frames).any(|frame| fits(frame))
                || crashed.into_iter().any(|frame| fits(&frame.text()))
        }
        SignPlace::Fault => crate::hypothesis::context::fault_lines(session).any(fits),
        SignPlace::Figure => finding.figures.iter().any(|figure| fits(&figure.text)),
        SignPlace::Said => {
            finding.figures.iter().map(|figure| &figure.text).chain([&finding.summary]).any(|text| fits(text))
        }
        // Of a system, not of a circumstance.
        SignPlace::Path | SignPlace::Line => false,
    }
}

/// Steps against what `finding` names, cheapest first.
pub fn steps(
    view: &Context<'_>,
    messages: &Messages<'_>,
    finding: &Finding,
    others: &[Finding],
    places: &Places,
) -> Vec<Step> {
    let mut steps = own_steps(view, messages, finding, places);
    // A known bug that shows itself as this very thing has the shortest way out.
    let explained = others.iter().find(|other| {
        other.id == Verdict::VersionBug && other.status >= Status::Likely && explains(other, finding, messages)
    });
    if let Some(bug) = explained {
        steps.splice(0..0, bug_steps(view, messages, bug));
    } else if steps.is_empty() && finding.id == Verdict::OtherError {
        steps.extend(possible_bug(view, messages, finding, others));
    }
    // Where nobody knows a way out, the one observation that would settle it is what to do.
    let open = finding.id.is_wrong() || finding.figures.iter().any(|figure| figure.name == SLOWER_FIGURE);
    if steps.is_empty() && open {
        steps.extend(finding.settle.iter().map(|settle| plain(settle.clone())));
    }
    let launch = Launch::of(view, messages.packs);
    steps.into_iter().map(|step| started(step, launch.as_ref(), messages)).collect()
}

/// A step that adds flags, with the whole command where ComfyUI is started by one, else with where the flags go.
fn started(step: Step, launch: Option<&Launch<'_>>, messages: &Messages<'_>) -> Step {
    let known = launch.filter(|launch| launch.at.is_some() || launch.has_line());
    let Some(launch) = known.filter(|_| step.command.is_none() && !step.flags.is_empty()) else { return step };
    let flags: Vec<&str> = step.flags.iter().map(String::as_str).collect();
    match launch.command(&flags).filter(|_| !launch.def.by_hand) {
        Some(command) => Step { command: Some(command), ..step },
        None => Step {
            text: messages.text("step-with-how", &[("step", &step.text), ("how", &launch.how(messages, &flags))]),
            ..step
        },
    }
}

/// The workaround of a known bug whose text stands in the same prompt, when the log has nothing else to go by.
fn possible_bug(view: &Context<'_>, messages: &Messages<'_>, finding: &Finding, others: &[Finding]) -> Option<Step> {
    let beside = |other: &&Finding| {
        other.id == Verdict::VersionBug && other.session == finding.session && other.prompt == finding.prompt
    };
    others.iter().filter(beside).find_map(|other| {
        let id = other.about.as_deref()?;
        let bug = messages.packs.bugs.iter().find(|bug| bug.id == id)?;
        let usable = bug.workaround_flags.iter().all(|flag| may_suggest(flag, view, messages));
        let workaround = messages.packs.prose_text("bug", id, "workaround", messages.zh).filter(|_| usable)?;
        let title = messages.packs.prose_text("bug", id, "title", messages.zh).unwrap_or(id);
        let text = messages.text("step-possible-bug", &[("title", title), ("text", workaround)]);
        Some(Step { flags: bug.workaround_flags.clone(), ..plain(text) })
    })
}

/// The bug's structure is what `finding` found.
fn explains(bug: &Finding, finding: &Finding, messages: &Messages<'_>) -> bool {
    let Some(structure) = finding.id.structure() else { return false };
    let def = messages.packs.bugs.iter().find(|def| Some(def.id.as_str()) == bug.about.as_deref());
    def.is_some_and(|def| def.structure.iter().any(|name| name == structure))
}

fn own_steps(view: &Context<'_>, messages: &Messages<'_>, finding: &Finding, places: &Places) -> Vec<Step> {
    if finding.id == Verdict::VersionBug {
        let steps = bug_steps(view, messages, finding);
        if !steps.is_empty() {
            return steps;
        }
        return vec![plain(messages.text("step-go-back", &[]))];
    }
    let about = finding.about.as_deref().unwrap_or_default();
    let named = messages.packs.remedies.iter().any(|remedy| remedy.acts_on.iter().any(|part| part == about));
    if let Some(def) = crate::hypothesis::notice::of(finding, messages).filter(|_| !named) {
        let usable = def.flags.iter().all(|flag| may_suggest(flag, view, messages));
        let text = messages.packs.prose_text("mention", &def.id, "step", messages.zh).filter(|_| usable);
        return text.map(|text| Step { flags: def.flags.clone(), ..plain(text.to_owned()) }).into_iter().collect();
    }
    if finding.id == Verdict::InsufficientEvidence && !named {
        return finding.settle.iter().map(|settle| plain(settle.clone())).collect();
    }
    let parts = parts(finding, view, messages);
    let tags = tags(view, messages, finding);
    let narrow = finding.id.has_only_own_remedies();
    let mut chosen: Vec<&RemedyDef> = messages
        .packs
        .remedies
        .iter()
        .filter(|remedy| {
            let acts = |part: &String| parts.contains(&part.as_str());
            let fits = if narrow { remedy.acts_on.iter().all(acts) } else { remedy.acts_on.iter().any(acts) };
            fits && open(remedy, view, messages, &tags)
        })
        .collect();
    chosen.sort_by_key(|remedy| {
        // A remedy made for this part goes before one that helps it besides.
        let first = |part: &&str| remedy.acts_on.first().is_some_and(|acts| acts == part);
        let main = finding.id == Verdict::ImportFailure || parts.first().is_some_and(first);
        (!main, remedy.order)
    });
    let mut groups: Vec<&str> = Vec::new();
    let filled = chosen.into_iter().filter_map(|remedy| {
        if groups.contains(&remedy.group.as_str()) {
            return None;
        }
        let step = step(remedy, messages, places)?;
        groups.extend((!remedy.group.is_empty()).then_some(remedy.group.as_str()));
        Some(step)
    });
    answer_step(finding, messages, places).into_iter().chain(filled).collect()
}

/// What helps against a known bug: the repaired version, then the workaround of its record.
fn bug_steps(view: &Context<'_>, messages: &Messages<'_>, finding: &Finding) -> Vec<Step> {
    let id = finding.about.as_deref().unwrap_or_default();
    let Some(bug) = messages.packs.bugs.iter().find(|bug| bug.id == id) else { return Vec::new() };
    let mut steps = Vec::new();
    if let Some(fixed) = bug.fixed_in {
        steps.push(plain(messages.text("step-upgrade", &[("version", &fixed.to_string())])));
    }
    if finding.about.as_deref() == Some("comfy-aimdo-outdated") {
        steps.push(plain(messages.text("step-requirements", &[])));
    }
    // The flags exist in the versions that the bug affects; a log that does not tell its version can still be of one.
    let untold = view.span.exact.is_none();
    let free = |flag: &String| untold && !view.uses(flag);
    let usable = bug.workaround_flags.iter().all(|flag| may_suggest(flag, view, messages) || free(flag));
    if let Some(text) = messages.packs.prose_text("bug", id, "workaround", messages.zh)
        && usable
    {
        let text = if steps.is_empty() { text.to_owned() } else { messages.text("step-workaround", &[("text", text)]) };
        steps.push(Step { flags: bug.workaround_flags.clone(), ..plain(text) });
    }
    steps
}

fn plain(text: String) -> Step {
    Step { text, command: None, cost: None, flags: Vec::new(), remedy: None }
}

fn open(remedy: &RemedyDef, view: &Context<'_>, messages: &Messages<'_>, tags: &[String]) -> bool {
    let has = |tag: &String| tags.contains(tag);
    if !remedy.when.iter().all(has) || remedy.not_when.iter().any(has) {
        return false;
    }
    let idle = |name: &String| {
        if name.starts_with("--") {
            view.uses(name)
        } else {
            view.session.flag_fact(name) == Some(true) || (name == "dynamic_vram" && view.dynamic_vram == Some(true))
        }
    };
    if remedy.not_with.iter().any(idle) {
        return false;
    }
    if !remedy.drops.is_empty() && !remedy.drops.iter().any(|flag| view.uses(flag)) {
        return false;
    }
    let in_range = remedy.since.is_none_or(|since| view.span.overlaps(Since::At(since), None))
        && remedy.until.is_none_or(|until| view.span.overlaps(Since::Unknown, Some(until)));
    in_range && remedy.flags.iter().all(|flag| may_suggest(flag, view, messages))
}

/// The flag exists in every version this log can be from, does something there, and is not in use already.
pub fn may_suggest(flag: &str, view: &Context<'_>, messages: &Messages<'_>) -> bool {
    let name = flag.split(' ').next().unwrap_or(flag);
    let Some(def) = messages.packs.flag(name) else { return false };
    let used = view.uses(name);
    let idle = def.no_effect_with.iter().any(|cause| {
        if cause.starts_with("--") {
            view.uses(cause)
        } else {
            cause == "dynamic_vram" && view.dynamic_vram == Some(true) || view.session.flag_fact(cause) == Some(true)
        }
    });
    let clash = def.conflicts.iter().any(|other| view.uses(other));
    view.has_flag(def) && !used && !idle && !clash
}

/// What the answer to the finding's text tells to do.
fn answer_step(finding: &Finding, messages: &Messages<'_>, places: &Places) -> Option<Step> {
    let about = finding.about.as_deref()?;
    let answer = messages.packs.answers.iter().find(|answer| answer.id == about)?;
    let text = messages.packs.prose_text("answer", &answer.id, "step", messages.zh).filter(|text| !text.is_empty())?;
    let command = Some(answer.command.as_str()).filter(|command| !command.is_empty());
    Some(Step { command: command.and_then(|command| places.command(command)), ..plain(places.sentence(text)?) })
}

/// The remedy for this log; `None` when the log does not tell what one of its places stands for.
fn step(remedy: &RemedyDef, messages: &Messages<'_>, places: &Places) -> Option<Step> {
    let text = |field: &str| messages.packs.prose_text("remedy", &remedy.id, field, messages.zh);
    let command = match remedy.command.as_str() {
        "" => None,
        command => Some(places.command(command)?),
    };
    Some(Step {
        text: places.sentence(text("text").unwrap_or(&remedy.id))?,
        command,
        cost: text("cost").map(str::to_owned),
        flags: remedy.flags.clone(),
        remedy: Some(remedy.id.clone()),
    })
}

/// Common steps that would not help here.
pub fn avoid(view: &Context<'_>, messages: &Messages<'_>, finding: &Finding, places: &Places) -> Vec<Avoid> {
    let parts = parts(finding, view, messages);
    let tags = tags(view, messages, finding);
    messages
        .packs
        .avoids
        .iter()
        .filter(|def| {
            let acts = def.acts_on.iter().any(|part| parts.contains(&part.as_str()));
            let in_range = def.since.is_none_or(|since| view.span.overlaps(Since::At(since), None))
                && def.until.is_none_or(|until| view.span.overlaps(Since::Unknown, Some(until)));
            acts && in_range && def.when.iter().all(|tag| tags.contains(tag))
        })
        .filter_map(|def| {
            let text = places.sentence(messages.packs.prose_text("avoid", &def.id, "text", messages.zh)?)?;
            let why = messages.packs.prose_text("avoid", &def.id, "why", messages.zh).unwrap_or_default();
            Some(Avoid { text, why: places.sentence(why)? })
        })
        .collect()
}
