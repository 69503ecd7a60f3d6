//! Lints of `pack.toml`: the pack's name, version, range and date.

use super::{Finding, Lint};

pub(super) fn check(lint: &Lint<'_>, findings: &mut Vec<Finding>) {
    let source = &lint.source.head_text;
    let head = &lint.source.head;
    let place = |field: &str| {
        let start = source.text.lines().scan(0, |at, line| {
            let here = *at;
            *at += line.len() + 1;
            Some((here, line))
        });
        let mut lines = start.filter(|(_, line)| line.trim_start().starts_with(field));
        lines.next().map(|(at, line)| at..at + line.len())
    };
    let mut add = |code: &str, field: &str, message: String, help: &str| {
        let mut finding = Finding::in_file(code, source, place(field), message).help(help);
        finding.field = field.to_owned();
        findings.push(finding);
    };
    if !is_plain(&head.id) {
        add("id-form", "id", format!("`{}` is not in kebab-case", head.id), "use a-z, 0-9 and `-`");
    }
    if !is_semver(&head.version) {
        add(
            "head-version",
            "version",
            format!("`{}` is no version of three numbers", head.version),
            "write it as 1.2.3",
        );
    }
    if let (Some(from), Some(to)) = (head.verified_from, head.verified_to)
        && from > to
    {
        add("range", "verified_from", format!("verified from {from} to {to}: the range is the wrong way round"), "");
    }
    if !head.date.is_empty() && !is_date(&head.date) {
        add("date", "date", format!("`{}` is no date", head.date), "write it as 2026-11-30");
    }
    if head.title.en.trim().is_empty() != head.title.zh.trim().is_empty() {
        add("prose-missing", "title", "the title is in one language only".to_owned(), "give both `en` and `zh`");
    }
}

/// `a-z`, `0-9` and single `-` between them.
pub(super) fn is_plain(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !id.is_empty() && id.bytes().all(plain) && !id.starts_with('-') && !id.ends_with('-') && !id.contains("--")
}

/// `1.2.3`, with an optional `-…` or `+…` behind.
fn is_semver(version: &str) -> bool {
    let numbers = version.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<&str> = numbers.split('.').collect();
    parts.len() == 3 && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A day that there is.
pub(super) fn is_date(date: &str) -> bool {
    date.len() == 10 && chrono::NaiveDate::parse_from_str(date, "%Y-%m-%d").is_ok()
}
