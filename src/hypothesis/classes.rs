//! What the packs know of model classes: whose they are, and what kind of thing they name.

use crate::catalog::messages::Messages;
use crate::catalog::{ClassDef, Packs};

/// Words in class names that many packs share, so that they hint at none.
const COMMON: [&str; 28] = [
    "model",
    "image",
    "video",
    "audio",
    "encoder",
    "decoder",
    "wrapper",
    "module",
    "network",
    "sampler",
    "loader",
    "unet",
    "diffusion",
    "transformer",
    "patcher",
    "control",
    "vision",
    "comfy",
    "comfyui",
    "custom",
    "nodes",
    "mixer",
    "upscale",
    "inner",
    "clip",
    "text",
    "flux",
    "pipeline",
];

fn find<'p>(packs: &'p Packs, class: &str) -> Option<&'p ClassDef> {
    packs
        .classes
        .iter()
        .find(|def| def.name.as_deref() == Some(class))
        .or_else(|| packs.classes.iter().find(|def| def.pattern.as_deref().is_some_and(|pattern| fits(pattern, class))))
}

fn fits(pattern: &str, class: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(rest), Some(_)) => class.contains(rest.trim_end_matches('*')),
        (Some(end), None) => class.ends_with(end),
        (None, Some(start)) => class.starts_with(start),
        (None, None) => pattern == class,
    }
}

/// The class is ComfyUI's own, or may be: only one that no entry fits is foreign.
pub fn is_core(packs: &Packs, class: &str) -> bool {
    find(packs, class).is_some()
}

/// What kind of thing the class is, in words.
pub fn label(messages: &Messages<'_>, class: &str) -> Option<String> {
    let def = find(messages.packs, class)?;
    let key = def.name.as_deref().or(def.pattern.as_deref())?;
    messages.packs.prose_text("class", key, "label", messages.zh).map(str::to_owned).or_else(|| Some(def.kind.clone()))
}

/// Kind of the class as the packs name it (`vae`, `text-encoder`, …).
pub fn kind<'p>(packs: &'p Packs, class: &str) -> Option<&'p str> {
    find(packs, class).map(|def| def.kind.as_str())
}

/// The telling parts of a class name, in lower case: `ZorblaxNet` → `zorblax`.
pub fn name_tokens(class: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut token = String::new();
    for letter in class.chars() {
        if letter.is_uppercase() || !letter.is_alphanumeric() {
            tokens.push(std::mem::take(&mut token));
        }
        if letter.is_alphanumeric() {
            token.extend(letter.to_lowercase());
        }
    }
    tokens.push(token);
    tokens.retain(|token| token.len() >= 5 && !COMMON.contains(&token.as_str()));
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_telling_parts_of_a_name_hint() {
        assert_eq!(name_tokens("ZorblaxNet"), ["zorblax"]);
        assert!(name_tokens("TextEncoderModel").is_empty());
        assert_eq!(name_tokens("QuibbleMixerModel"), ["quibble"]);
    }

    #[test]
    fn patterns_have_stars_at_their_ends_only() {
        assert!(
            fits("*TEModel_", "ZImageTEModel_") && fits("Control*", "ControlNet") && fits("*Clip*", "SD1ClipModel")
        );
        assert!(!fits("*TEModel_", "TEModel_x"));
    }
}
