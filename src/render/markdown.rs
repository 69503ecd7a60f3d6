//! An outline as Markdown that can be pasted into an issue: log text is fenced, prose is escaped.
//!
//! Nothing from a log may become a link, a mention, HTML or a heading.

use super::View;
use super::brief::outline;
use super::document::{Block, Item, Quote};
use super::label::Labels;
use super::layout::clean;
use crate::catalog::Packs;
use crate::report::Report;
use crate::text::cut_chars;

/// Longest log line in an excerpt, in characters.
const LINE_LIMIT: usize = 160;
/// Breaks what would be a mention, and shows nothing.
const WORD_JOINER: char = '\u{2060}';

/// The report as Markdown; with the name of its log when there are several.
pub fn markdown(report: &Report, packs: &Packs, view: &View, named: bool) -> String {
    let labels = Labels::new(packs, report.language == "zh");
    let outline = outline(report, &labels, view);
    let mut out = String::new();
    if named {
        out.push_str(&format!("## {}\n\n", escape(&report.source)));
    }
    out.push_str(&format!("**{}**\n\n", escape(&outline.headline)));
    out.push_str(&format!("{}\n", escape(&outline.graded)));
    out.push_str(&blocks(&outline.blocks));
    out
}

/// The report as one item of a list.
pub(crate) fn quiet(report: &Report, packs: &Packs, named: bool) -> String {
    let labels = Labels::new(packs, report.language == "zh");
    let verdict = &report.verdict;
    let source = if named { format!("{}: ", escape(&report.source)) } else { String::new() };
    format!(
        "- {source}{} {}: {}\n",
        code(verdict.primary.as_str()),
        labels.grade(verdict.grade),
        escape(&verdict.headline)
    )
}

/// Blocks one after the other, each behind an empty line.
pub(crate) fn blocks(blocks: &[Block]) -> String {
    let mut out = String::new();
    for block in blocks {
        out.push('\n');
        match block {
            Block::Quotes(quotes) => fence(&mut out, quotes, ""),
            Block::Figures(figures) => {
                figures.iter().for_each(|figure| out.push_str(&format!("- {}\n", escape(figure))))
            }
            Block::Items { label, items, numbered } => self::items(&mut out, label, items, *numbered),
            Block::Code(code) => {
                let ticks = fence_of(&[code.as_str()]);
                let lines: Vec<String> = code.lines().map(clean).collect();
                out.push_str(&format!("{ticks}\n{}\n{ticks}\n", lines.join("\n")));
            }
            Block::Section(title) => out.push_str(&format!("### {}\n", escape(title))),
            Block::Table { head, rows } => table(&mut out, head, rows),
        }
    }
    out
}

fn items(out: &mut String, label: &str, items: &[Item], numbered: bool) {
    let label = if label.is_empty() { String::new() } else { format!("**{}**", escape(label)) };
    if let ([Item { text, command: None, quotes }], false) = (items, numbered)
        && quotes.is_empty()
    {
        out.push_str(&format!("{label} {}\n", with_links(text)));
        return;
    }
    out.push_str(&format!("{label}\n\n"));
    for (index, item) in items.iter().enumerate() {
        let mark = if numbered { format!("{}. ", index + 1) } else { "- ".to_owned() };
        let indent = " ".repeat(mark.len());
        out.push_str(&format!("{mark}{}\n", with_links(&item.text)));
        if let Some(command) = &item.command {
            let ticks = fence_of(&[command.as_str()]);
            out.push_str(&format!("\n{indent}{ticks}sh\n{indent}{}\n{indent}{ticks}\n", clean(command)));
        }
        if !item.quotes.is_empty() {
            out.push('\n');
            fence(out, &item.quotes, &indent);
        }
    }
}

fn fence(out: &mut String, quotes: &[Quote], indent: &str) {
    let ticks = fence_of(&quotes.iter().map(|quote| quote.text.as_str()).collect::<Vec<_>>());
    out.push_str(&format!("{indent}{ticks}text\n"));
    let width = quotes.iter().map(|quote| quote.place.chars().count()).max().unwrap_or(0);
    for quote in quotes {
        let remark = quote.remark.as_deref().map(|remark| format!("   ({})", clean(remark))).unwrap_or_default();
        out.push_str(&format!("{indent}{:>width$} | {}{remark}\n", quote.place, cut_chars(&quote.text, LINE_LIMIT)));
    }
    out.push_str(&format!("{indent}{ticks}\n"));
}

/// More backticks than any text within has in a row.
pub(crate) fn fence_of(texts: &[&str]) -> String {
    let longest = texts.iter().flat_map(|text| text.split(|letter| letter != '`')).map(str::len).max().unwrap_or(0);
    "`".repeat((longest + 1).max(3))
}

fn table(out: &mut String, head: &[String], rows: &[Vec<String>]) {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    out.push_str(&line(head));
    out.push_str(&format!("|{}\n", "---|".repeat(head.len())));
    for row in rows {
        out.push_str(&line(row));
    }
}

/// Inline code; ids and commands have no backticks, but a rule pack may bring one.
fn code(text: &str) -> String {
    format!("`{}`", clean(text).replace('`', "'"))
}

/// Escaped text in which a word that is a link by itself stays one.
pub(crate) fn with_links(text: &str) -> String {
    let words: Vec<String> = text
        .split(' ')
        .map(|word| match word.starts_with("https://github.com/") && !word.contains(['<', '>', '`']) {
            true => format!("<{word}>"),
            false => escape(word),
        })
        .collect();
    words.join(" ")
}

/// Words that become links by themselves get a joiner inside: `GH-12`, `www.`, the hash of a commit.
fn inert(text: String) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for word in text.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric()) {
        let bare = word.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
        let hash = (7..=64).contains(&bare.len())
            && bare.bytes().all(|byte| byte.is_ascii_hexdigit())
            && bare.bytes().any(|byte| byte.is_ascii_digit())
            && bare.bytes().any(|byte| byte.is_ascii_alphabetic());
        let begins_link = (bare.eq_ignore_ascii_case("gh") && word.ends_with('-'))
            || (bare.eq_ignore_ascii_case("www") && word.ends_with('.'));
        match bare.split_at_checked(3) {
            Some((begin, rest)) if hash => {
                out.push_str(begin);
                out.push(WORD_JOINER);
                out.push_str(rest);
                out.push_str(word.get(bare.len()..).unwrap_or_default());
            }
            _ if begins_link => {
                out.push_str(bare);
                out.push(WORD_JOINER);
                out.push_str(word.get(bare.len()..).unwrap_or_default());
            }
            _ => out.push_str(word),
        }
    }
    out
}

/// Text that shows as it is in Markdown.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for letter in clean(text).chars() {
        match letter {
            '#' => {
                // A joiner, for `\#5` would be a link to an issue all the same.
                out.push_str("\\#");
                out.push(WORD_JOINER);
            }
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '!' => {
                out.push('\\');
                out.push(letter);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' => {
                out.push('@');
                out.push(WORD_JOINER);
            }
            ':' => {
                out.push(':');
                // `https:` followed by a joiner is no address that would be turned into a link.
                if out.ends_with("http:") || out.ends_with("https:") {
                    out.push(WORD_JOINER);
                }
            }
            other => out.push(other),
        }
    }
    inert(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_text_is_no_markup() {
        assert_eq!(escape("a_b *c* <img> #12 |x|"), "a\\_b \\*c\\* &lt;img&gt; \\#\u{2060}12 \\|x\\|");
        assert_eq!(escape("hi @team"), "hi @\u{2060}team");
        assert_eq!(escape("http://evil.example"), "http:\u{2060}//evil.example");
        assert_eq!(fence_of(&["a ```` b"]), "`````");
    }

    #[test]
    fn public_issues_stay_links() {
        let text = "https://github.com/Comfy-Org/ComfyUI/issues/1 (open)";
        assert_eq!(with_links(text), "<https://github.com/Comfy-Org/ComfyUI/issues/1> (open)");
    }
}
