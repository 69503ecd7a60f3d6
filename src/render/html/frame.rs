//! The document around a page: one file that loads nothing, and that a browser keeps from loading anything.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::timeline::shapes;
use crate::render::label::Labels;

const STYLE: &str = include_str!("asset/style.css");
const SCRIPT: &str = include_str!("asset/script.js");

/// The whole document. Whatever stands in it is harmless text: what could steer a reader's eye or a parser is replaced.
pub(super) fn document(title: &str, labels: &Labels<'_>, body: &Markup) -> String {
    let lang = if labels.zh() { "zh-CN" } else { "en" };
    let say = |id: &str| labels.plain(&format!("page-{id}"), &[]);
    let document = html! {
        (DOCTYPE)
        html lang=(lang) {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")));
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body data-zoom-in=(say("zoom-in")) data-zoom-out=(say("zoom-out")) {
                a.skip href="#main" { (say("skip")) }
                (shapes())
                main id="main" { (body) }
                footer { p { (say("made-by")) " " (concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"))) } }
                div.tip role="status" aria-live="polite" hidden {}
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    inert(&document.into_string())
}

/// Nothing may be loaded; the one style and the one script are known by their hashes.
fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

/// Control characters, and marks that turn the direction of text, may stand in a log and must not reach a browser.
fn inert(document: &str) -> String {
    let harmless = |letter: char| match letter {
        '\n' => '\n',
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => '\u{fffd}',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    document.chars().map(harmless).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_and_the_script_cannot_end_early() {
        assert!(!STYLE.contains("</") && !SCRIPT.contains("</"));
        assert!(inert(STYLE) == STYLE && inert(SCRIPT) == SCRIPT, "else their hashes would not fit");
    }
}
