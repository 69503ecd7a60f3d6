//! The packs as documentation: pages for people, a JSON Schema for editors.
//!
//! Pages are made from the packs alone, so they cannot say anything else than the program does. Writing them to
//! disk is left to the caller; a test holds the committed pages against these.

mod areas;
mod fields;
mod items;
mod verdicts;

use std::collections::BTreeMap;

use crate::catalog::{PackFile, Packs};

/// What stands at the top of each page.
const NOTE: &str = "<!-- Made by `comfy-triage rules docs docs`. Change rules/ instead. -->\n\n";
/// Between these lines of `rule-format.md` the fields are listed.
const BEGIN: &str = "<!-- fields: begin, made by `comfy-triage rules docs docs` -->";
const END: &str = "<!-- fields: end -->";

/// All pages by their path under `docs/`.
pub fn pages(packs: &Packs, file: &PackFile) -> BTreeMap<String, String> {
    let mut pages = areas::pages(packs, file);
    pages.insert("rules/known-bugs.md".to_owned(), items::bugs(packs));
    pages.insert("rules/node-packs.md".to_owned(), items::nodes(packs));
    pages.insert("rules/flags.md".to_owned(), items::flags(packs));
    pages.insert("verdicts.md".to_owned(), verdicts::page(packs));
    pages.insert("rule-format.schema.json".to_owned(), fields::schema());
    for page in pages.iter_mut().filter(|(path, _)| path.ends_with(".md")).map(|(_, page)| page) {
        page.insert_str(0, NOTE);
    }
    pages
}

/// `rule-format.md` with its list of fields brought up to date; `None` when the page has no place for it.
pub fn with_fields(page: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{}\n{END}{after}", fields::tables()))
}

/// Inline code that may hold any letters.
fn code(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    let blank = if longest > 0 { " " } else { "" };
    format!("{ticks}{blank}{}{blank}{ticks}", text.replace('\n', " "))
}

/// A fenced block.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat((longest + 1).max(3));
    format!("{ticks}{language}\n{text}\n{ticks}\n")
}

/// Text of a table's cell or of a paragraph: nothing in it is markup.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.trim().chars() {
        match letter {
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => {
                out.push('\\');
                out.push(letter);
            }
            '<' => out.push_str("&lt;"),
            '\n' => out.push(' '),
            other => out.push(other),
        }
    }
    out
}
