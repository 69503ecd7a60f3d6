//! The tags by which remedies are chosen: what the log shows of the machine, the phase and who asked.

use crate::catalog::messages::Messages;
use crate::catalog::{FlagRole, SignDef, SignOf, SignPlace, Verdict};
use crate::event::MIB;
use crate::hypothesis::context::{Context, Gpu, Os};
use crate::hypothesis::finding::Finding;
use crate::hypothesis::oom::METAL;
use crate::hypothesis::phase::{self, Scene};
use crate::timeline::OomRecord;

/// Circumstance of a folder that holds no node pack, as signs call it.
const NO_INIT: &str = "no-init";
/// What an import is about that failed in no node pack.
const NO_PACK: &str = "no-pack";
/// Cases of an out-of-memory in which the phase or the requester decides what helps, as the verdicts' files call them.
const REFUSED: &str = "driver-refused";
const REFUSED_LOAD: &str = "driver-loading";
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
        "driver" if scene.is(phase::LOADING) => REFUSED_LOAD,
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
    add("by-readings", crate::hypothesis::growth::is_growth(finding));
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
