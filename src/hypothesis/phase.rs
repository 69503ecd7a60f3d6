//! In which step of a prompt's work memory ran out, and what kind of node asked for it: by the traceback, by the type
//! of the node, or by the lines before.

use super::classes::kind;
use super::context::Context;
use super::finding::Basis;
use crate::catalog::messages::Messages;
use crate::catalog::{SignOf, SignPlace};
use crate::timeline::{Exception, FrameSign, OomRecord, Pictures};

/// Steps of the work, as the packs' signs call them.
pub const LOADING: &str = "loading";
pub const PATCHING: &str = "patching";
pub const TEXT_ENCODING: &str = "text-encoding";
pub const SAMPLING: &str = "sampling";
pub const DECODING: &str = "decoding";
pub const ENCODING: &str = "encoding";
/// Kinds of nodes that ask for memory, as the packs' signs call them.
pub const WHOLE_VIDEO: &str = "whole-video";
pub const UPSCALER: &str = "upscaler";

/// What shows a phase or a requester.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// As the packs' signs call it.
    pub is: String,
    pub line: Option<u64>,
    /// A frame or a name says it, or it follows from the order of lines.
    pub basis: Basis,
    /// Function of the frame.
    pub function: Option<String>,
}

impl Seen {
    fn of_frame(sign: &FrameSign) -> Self {
        let function = Some(sign.function.clone()).filter(|function| !function.is_empty());
        Self { is: sign.is.clone(), line: Some(sign.line), basis: Basis::Measured, function }
    }

    fn derived(is: &str, line: Option<u64>) -> Self {
        Self { is: is.to_owned(), line, basis: Basis::Derived, function: None }
    }
}

/// Where memory ran out.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    pub phase: Option<Seen>,
    pub requester: Option<Seen>,
}

impl Scene {
    pub fn is(&self, name: &str) -> bool {
        let named = |seen: &Option<Seen>| seen.as_ref().is_some_and(|seen| seen.is == name);
        named(&self.phase) || named(&self.requester)
    }

    /// Of a GPU's out-of-memory.
    pub fn of_oom(oom: &OomRecord, view: &Context<'_>, messages: &Messages<'_>) -> Self {
        let exception = failed_in(view, oom.prompt);
        // A dialog's text names the node above the message.
        let title = view.session.title.as_ref().map(|title| title.node.as_str());
        let mut scene = Self::of_exception(exception, oom.node.as_deref().or(title), messages);
        if scene.phase.is_none() {
            scene.phase = by_lines(oom, view, messages);
        }
        scene
    }

    /// Of RAM that was refused in this prompt.
    pub fn of_prompt(prompt: u64, view: &Context<'_>, messages: &Messages<'_>) -> Self {
        let mut scene = Self::of_exception(failed_in(view, prompt), None, messages);
        if scene.phase.is_none() && scene.requester.is_none() {
            let mut pictures = view.session.pictures.iter().rev();
            let many = |pictures: &&Pictures| {
                pictures.prompt == prompt && pictures.sizes.frames.is_some_and(|frames| frames > 1)
            };
            scene.requester = pictures.find(many).map(|seen| Seen::derived(WHOLE_VIDEO, Some(seen.line)));
        }
        scene
    }

    fn of_exception(exception: Option<&Exception>, node: Option<&str>, messages: &Messages<'_>) -> Self {
        let node = node.or_else(|| exception.and_then(|exception| exception.node.as_deref()));
        let line = exception.and_then(|exception| exception.node_line);
        let by_node = |of: SignOf| {
            let node = node?;
            let mut signs = messages.packs.signs_of(of).filter(|sign| sign.place == SignPlace::Node);
            let sign = signs.find(|sign| sign.fits(node))?;
            Some(Seen { is: sign.is.clone(), line, basis: Basis::Measured, function: None })
        };
        let frame = |sign: Option<&FrameSign>| sign.map(Seen::of_frame);
        Self {
            phase: frame(exception.and_then(|exception| exception.phase.as_ref())).or_else(|| by_node(SignOf::Phase)),
            requester: frame(exception.and_then(|exception| exception.requester.as_ref()))
                .or_else(|| by_node(SignOf::Requester)),
        }
    }
}

/// The exception that told of memory in this prompt.
pub fn failed_in<'t>(view: &Context<'t>, prompt: u64) -> Option<&'t Exception> {
    let mut exceptions = view.session.exceptions.iter().rev();
    exceptions.find(|exception| exception.is_oom && exception.prompt == prompt)
}

/// No frame and no name tells: what was going on by the lines before.
fn by_lines(oom: &OomRecord, view: &Context<'_>, messages: &Messages<'_>) -> Option<Seen> {
    let line = oom.last_load.as_ref().map(|(_, line)| *line);
    if oom.sampling.is_some() {
        return Some(Seen::derived(SAMPLING, line));
    }
    let patched = view.session.counts.lora_errors.as_ref().filter(|errors| errors.last_prompt == oom.prompt);
    if let Some(errors) = patched.filter(|_| oom.loading.is_some()) {
        return Some(Seen::derived(PATCHING, Some(errors.first.place.line)));
    }
    if oom.loading.is_some() {
        return Some(Seen::derived(LOADING, line));
    }
    let class = oom.last_load.as_ref().map(|(class, _)| class.as_str())?;
    // A VAE decodes or encodes; which of the two, its load does not tell.
    (kind(messages.packs, class) == Some("text-encoder")).then(|| Seen::derived(TEXT_ENCODING, line))
}

/// Where it ran out, in words that go on a sentence: ` while the weights of Flux2 were being loaded`.
pub fn in_words(scene: &Scene, oom: Option<&OomRecord>, messages: &Messages<'_>) -> String {
    let class =
        oom.and_then(|oom| oom.loading.as_deref().or_else(|| oom.last_load.as_ref().map(|(class, _)| class.as_str())));
    let step = oom.and_then(|oom| oom.sampling);
    let phase = scene.phase.as_ref().map_or("", |phase| phase.is.as_str());
    match (phase, class, step) {
        (LOADING, Some(class), _) => messages.text("phase-loading-class", &[("class", class)]),
        (LOADING, None, _) => messages.text("phase-loading", &[]),
        (PATCHING, Some(class), _) => messages.text("phase-patching-class", &[("class", class)]),
        (PATCHING, None, _) => messages.text("phase-patching", &[]),
        (TEXT_ENCODING, ..) => messages.text("phase-text-encoding", &[]),
        (SAMPLING, _, Some((0, total))) => messages.text("phase-first-step", &[("total", &total.to_string())]),
        (SAMPLING, _, Some((done, total))) => {
            messages.text("phase-later-step", &[("done", &done.to_string()), ("total", &total.to_string())])
        }
        (SAMPLING, _, None) => messages.text("phase-sampling", &[]),
        (DECODING, ..) => messages.text("phase-decoding", &[]),
        (ENCODING, ..) => messages.text("phase-encoding", &[]),
        _ => String::new(),
    }
}
