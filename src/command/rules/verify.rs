//! `rules verify`: the packs held against ComfyUI's sources, as a table, as Markdown, or as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use super::super::{Console, Ended, Exit};
use crate::catalog::{Packs, Since, Version};
use crate::cli::VerifyArgs;
use crate::error::UsageError;
use crate::render::{Block, Item, Labels, Palette, View, blocks, markdown_blocks};
use crate::source_check::{
    Expectation, FlagsVerified, LookupOutcome, Reason, RuleRow, Verified, proposal, read_tree, verify, verify_flags,
};

#[derive(Serialize, JsonSchema)]
pub(in crate::command) struct VerifyOutput<'a> {
    schema_version: u32,
    messages: Option<&'a Verified>,
    flags: &'a FlagsVerified,
    proposal: &'a str,
}

/// Runs the command. Exit status 1 when a text or flag of the version is missing, or a range is wrong.
// Long: the steps of one call, each of which may end it with its own exit status.
pub(super) fn run(args: &VerifyArgs, console: &mut Console<'_>) -> io::Result<Ended> {
    let packs = super::super::packs(&args.packs, console)?;
    let file = Packs::definitions(&super::super::folders(&args.packs, console));
    let tree = match args.comfyui.as_deref().map(|path| read_tree(path, args.rev.as_deref())).transpose() {
        Ok(tree) => tree,
        Err(error) => {
            console.fault(&error)?;
            return Ok(Ok(Exit::Refused));
        }
    };
    let version = match (&args.version, tree.as_ref().and_then(|tree| tree.version)) {
        (Some(given), _) => match Version::parse(given) {
            Some(version) => version,
            None => return Ok(Err(Box::new(UsageError::Version { given: given.clone() }))),
        },
        (None, Some(version)) => version,
        (None, None) => return Ok(Err(Box::new(UsageError::NoVersion))),
    };
    let help = match &args.help_text {
        None => None,
        Some(path) => match std::fs::read(path) {
            Ok(bytes) => Some((path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned())),
            Err(source) => {
                let path = path.display().to_string();
                return Ok(Err(Box::new(UsageError::SideEvidence { what: "help text", path, source })));
            }
        },
    };
    let flags = verify_flags(
        tree.as_ref(),
        help.as_ref().map(|(name, text)| (name.as_str(), text.as_str())),
        version,
        &file.flag,
    );
    let verified = tree.as_ref().map(|tree| verify(tree, version, &file.message));
    let before = packs.releases.iter().map(|release| release.version).filter(|other| *other < version).max();
    let proposal = verified.as_ref().map(|verified| proposal(verified, &file.message, before)).unwrap_or_default();
    if args.json {
        let output =
            VerifyOutput { schema_version: 1, messages: verified.as_ref(), flags: &flags, proposal: &proposal };
        writeln!(console.out, "{}", crate::shown::json(&output)?)?;
    } else {
        let labels = Labels::new(&packs, super::super::chinese(&args.language, console));
        let mut told = Vec::new();
        if let Some(verified) = &verified {
            tell(verified, &labels, &mut told);
        }
        tell_flags(&flags, &labels, &mut told);
        let mut text = String::new();
        if args.markdown {
            text = markdown_blocks(&told);
        } else {
            let width = console.around.columns.unwrap_or(super::list::NO_EDGE);
            blocks(&mut text, &told, &View { width, palette: Palette::COLOUR, ..View::default() });
        }
        console.out.write_all(text.trim_start_matches('\n').as_bytes())?;
        if !proposal.is_empty() {
            let title = labels.get("verify-proposal");
            let (open, close) = if args.markdown { ("```toml\n", "```\n") } else { ("", "") };
            write!(console.out, "\n{}{title}\n\n{open}{proposal}{close}", if args.markdown { "### " } else { "" })?;
        }
    }
    Ok(Ok(if clean(verified.as_ref(), &flags) { Exit::Done } else { Exit::Failed }))
}

fn clean(verified: Option<&Verified>, flags: &FlagsVerified) -> bool {
    let texts = verified.is_none_or(|verified| {
        verified.rows(Expectation::Expected).all(|row| row.outcome.is_found())
            && !verified.rows(Expectation::OtherVersion).any(|row| matches!(row.outcome, LookupOutcome::Found { .. }))
    });
    texts && flags.missing.is_empty() && flags.other_version.is_empty()
}

fn tell(verified: &Verified, labels: &Labels<'_>, out: &mut Vec<Block>) {
    let count = |number: usize| number.to_string();
    let head = labels.with(
        "verify-tree",
        &[
            ("tree", &verified.tree),
            ("version", &verified.version.to_string()),
            ("files", &count(verified.files)),
            ("texts", &count(verified.texts)),
        ],
    );
    out.push(Block::Section(head));
    let kinds = [
        (Expectation::Expected, "verify-expected"),
        (Expectation::Undated, "verify-undated"),
        (Expectation::OtherVersion, "verify-other"),
    ];
    let mut rows: Vec<Vec<String>> = kinds
        .iter()
        .map(|(kind, label)| {
            let of =
                |is: fn(&LookupOutcome) -> bool| count(verified.rows(*kind).filter(|row| is(&row.outcome)).count());
            vec![
                labels.get(label),
                count(verified.rows(*kind).count()),
                of(|outcome| matches!(outcome, LookupOutcome::Found { .. })),
                of(|outcome| matches!(outcome, LookupOutcome::Composed { .. })),
                of(|outcome| matches!(outcome, LookupOutcome::Missing { .. })),
            ]
        })
        .collect();
    let elsewhere: usize = verified.elsewhere.values().sum();
    rows.push(vec![labels.get("verify-elsewhere"), count(elsewhere), "–".into(), "–".into(), "–".into()]);
    let head = ["rules", "count", "found", "composed", "missing"].map(|name| labels.get(&format!("col-{name}")));
    out.push(Block::Table { head: head.to_vec(), rows });
    missing(verified, Expectation::Expected, "verify-missing", labels, out);
    missing(verified, Expectation::Undated, "verify-undated-missing", labels, out);
    let wrong = verified.rows(Expectation::OtherVersion).filter_map(|row| match &row.outcome {
        LookupOutcome::Found { path, line } => {
            let values = [("range", range(row)), ("path", path.clone()), ("line", line.to_string())];
            let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
            Some(vec![row.id.clone(), labels.with("why-range", &values)])
        }
        _ => None,
    });
    table("verify-wrong-range", &["id", "why"], wrong.collect(), labels, out);
    let candidates = verified.candidates.iter().map(|candidate| {
        let nearest = candidate.nearest.as_ref().map(|(id, alike)| format!("{id} {:.0}%", alike * 100.0));
        vec![format!("{}:{}", candidate.path, candidate.line), nearest.unwrap_or_default(), candidate.text.clone()]
    });
    table("verify-candidates", &["place", "nearest", "text"], candidates.collect(), labels, out);
    let packages = verified.elsewhere.iter().map(|(name, number)| vec![name.clone(), number.to_string()]);
    table("verify-elsewhere", &["source", "count"], packages.collect(), labels, out);
}

fn missing(verified: &Verified, kind: Expectation, title: &str, labels: &Labels<'_>, out: &mut Vec<Block>) {
    let rows = verified.rows(kind).filter_map(|row| match &row.outcome {
        LookupOutcome::Missing { reason } => Some(vec![row.id.clone(), row.source.clone(), why(reason, labels)]),
        _ => None,
    });
    table(title, &["id", "source", "why"], rows.collect(), labels, out);
}

fn table(title: &str, head: &[&str], rows: Vec<Vec<String>>, labels: &Labels<'_>, out: &mut Vec<Block>) {
    if !rows.is_empty() {
        out.push(Block::Section(labels.get(title)));
        let head = head.iter().map(|name| labels.get(&format!("col-{name}"))).collect();
        out.push(Block::Table { head, rows });
    }
}

fn why(reason: &Reason, labels: &Labels<'_>) -> String {
    match reason {
        Reason::Reworded { path, line, text } => {
            labels.with("why-reworded", &[("path", path), ("line", &line.to_string()), ("text", text)])
        }
        Reason::Composed => labels.get("why-composed"),
        Reason::NoFile { path } => labels.with("why-no-file", &[("path", path)]),
        Reason::NotThere => labels.get("why-not-there"),
    }
}

fn range(row: &RuleRow) -> String {
    let since = match row.since {
        Since::At(version) => version.to_string(),
        Since::BeforeNumbers => "pre-0.0.1".to_owned(),
        Since::Unknown => "?".to_owned(),
    };
    format!("{since}…{}", row.until.as_deref().unwrap_or_default())
}

fn tell_flags(flags: &FlagsVerified, labels: &Labels<'_>, out: &mut Vec<Block>) {
    out.push(Block::Section(labels.with("verify-flags", &[("from", &flags.from)])));
    let counts = [flags.there.to_string(), flags.found.to_string()];
    let text = labels.with("verify-flags-count", &[("there", &counts[0]), ("found", &counts[1])]);
    out.push(Block::Figures(vec![text]));
    for (label, names) in [
        ("verify-flags-missing", &flags.missing),
        ("verify-flags-other", &flags.other_version),
        ("verify-flags-unknown", &flags.unknown),
    ] {
        if !names.is_empty() {
            let items = vec![Item::text(labels.list(names))];
            out.push(Block::Items { label: labels.get(label), items, numbered: false });
        }
    }
}
