//! `docs/dialects.md` is made from the dialects: `UPDATE_DOCS=1 cargo test --test it dialect::page` writes it.

use std::fmt::Write as _;
use std::fs;

use comfy_triage::input::DIALECTS;

const HEAD: &str = "\
# Dialects of prefixes

Terminals, containers, loggers and people put something before ComfyUI's texts. Each dialect is one file in \
`src/input/prefix/`, which holds these examples; they are its tests, and this page is made from them \
(`UPDATE_DOCS=1 cargo test --test it dialect::page`). Prefixes may stand behind each other. Others that a log shows \
again and again before ComfyUI's texts are inferred (`src/event/prefix_inference.rs`).
";

#[test]
fn the_page_shows_the_examples() {
    let mut page = HEAD.to_owned();
    for dialect in &DIALECTS {
        let _ = writeln!(page, "\n## {}\n\n{}.\n\n```", dialect.name, dialect.about);
        for (line, _) in dialect.examples {
            let _ = writeln!(page, "{line}");
        }
        let _ = writeln!(page, "```");
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/dialects.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path, &page).expect("docs can be written");
    }
    assert_eq!(fs::read_to_string(path).expect("the page is there"), page);
}
