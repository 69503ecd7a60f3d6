//! Flags of the command line: those of the rules against those of a tree, or of a saved `--help`.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::literal::{Call, literals};
use super::shape::Shape;
use super::tree::Tree;
use crate::catalog::{FlagDef, Since, Version, VersionSpan};

/// What the comparison came to.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct FlagsVerified {
    /// Where the flags were read.
    pub from: String,
    /// Flags there.
    pub there: usize,
    /// Known for this version, and there.
    pub found: usize,
    /// Known for this version, yet not there.
    pub missing: Vec<String>,
    /// There, yet known only for other versions.
    pub other_version: Vec<String>,
    /// There, and not known at all.
    pub unknown: Vec<String>,
}

/// Flags that a saved `python main.py --help` explains.
pub fn help_flags(text: &str) -> BTreeSet<String> {
    let mut flags = BTreeSet::new();
    for line in text.lines() {
        // `  -h, --help  show …`: options stand at the beginning; behind two blanks the explanation begins.
        let line = line.trim_start();
        if !line.starts_with('-') {
            continue;
        }
        let head = line.split("  ").next().unwrap_or_default();
        flags.extend(head.split([' ', ',', '=', '[', ']']).filter(|word| is_flag(word)).map(str::to_owned));
    }
    flags
}

/// Flags that the sources define.
pub(super) fn tree_flags(tree: &Tree) -> BTreeSet<String> {
    let mut flags = BTreeSet::new();
    for text in ["comfy/cli_args.py", "main.py"].iter().filter_map(|path| tree.files.get(*path)) {
        for literal in literals(text).iter().filter(|literal| literal.call == Call::Argument) {
            flags.extend(Shape::of_literal(literal).iter().map(ToString::to_string).filter(|word| is_flag(word)));
        }
    }
    flags
}

fn is_flag(word: &str) -> bool {
    word.strip_prefix("--").is_some_and(|name| {
        name.starts_with(|letter: char| letter.is_ascii_lowercase())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    })
}

/// Compares the flags of a version with those in `help`, or with those of the tree.
pub fn verify_flags(
    tree: Option<&Tree>,
    help: Option<(&str, &str)>,
    version: Version,
    flags: &[FlagDef],
) -> FlagsVerified {
    let (from, there) = match (help, tree) {
        (Some((name, text)), _) => (name.to_owned(), help_flags(text)),
        (None, Some(tree)) => ("comfy/cli_args.py".to_owned(), tree_flags(tree)),
        (None, None) => (String::new(), BTreeSet::new()),
    };
    let mut out = FlagsVerified { from, there: there.len(), ..FlagsVerified::default() };
    let mut known = BTreeSet::from(["--help".to_owned()]);
    for flag in flags {
        let names: Vec<&String> =
            flag.aliases.iter().chain([&flag.name]).filter(|name| name.starts_with("--")).collect();
        known.extend(names.iter().map(|name| (*name).clone()));
        let is_there = names.iter().any(|name| there.contains(*name));
        // With an unknown beginning, a version that did not have it yet may be known.
        let too_early = flag.since_after.is_some_and(|after| version <= after);
        let holds = !too_early && VersionSpan::exactly(version).overlaps(flag.since, flag.until);
        let dated = flag.since != Since::Unknown;
        match (holds, is_there) {
            (true, true) => out.found += 1,
            (true, false) if dated => out.missing.push(flag.name.clone()),
            (false, true) => out.other_version.push(flag.name.clone()),
            _ => {}
        }
    }
    out.unknown = there.into_iter().filter(|flag| !known.contains(flag)).collect();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_help_is_read() {
        let help = "usage: main.py [-h] [--listen [IP]]\n\noptions:\n  -h, --help            show this\n  --listen [IP]         Use --port too\n  --fp8_e4m3fn-unet     Store\n                        --not-this is text\n";
        let flags: Vec<String> = help_flags(help).into_iter().collect();
        assert_eq!(flags[..3], ["--fp8_e4m3fn-unet", "--help", "--listen"]);
        assert!(!flags.contains(&"--port".to_owned()));
    }
}
