//! Holds `since` and `until` of every message rule against all releases of ComfyUI, in one pass:
//!
//! ```text
//! cargo run --release --example since -- REPOSITORY...
//! ```
//!
//! Each repository is a clone of ComfyUI with its whole history (`git clone --bare` is enough). Exit status 1 when a
//! rule says another version than the sources do. What cannot be dated in this way is listed as unproven.
#![allow(clippy::print_stdout, clippy::print_stderr)] // a tool for the maintainer's terminal

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use comfy_triage::catalog::Packs;
use comfy_triage::source_check::{Age, Dated, read_history};

fn age(age: Age) -> String {
    match age {
        Age::BeforeNumbers => "pre-0.0.1".to_owned(),
        Age::Release(version) => version.to_string(),
    }
}

fn main() -> miette::Result<ExitCode> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let paths: Vec<_> = paths.iter().map(PathBuf::as_path).collect();
    let history = read_history(&paths)?;
    let Some(newest) = history.releases.last().copied() else {
        eprintln!("no release found; name a clone of ComfyUI that has its tags");
        return Ok(ExitCode::from(2));
    };
    println!("{} releases up to {newest}, {} different Python files", history.releases.len(), history.files);
    let rules = Packs::definitions(&[]).message;
    let dated = history.date(&rules);
    let (found, unproven): (Vec<&Dated<'_>>, Vec<_>) = dated.iter().partition(|rule| rule.is_found());
    let wrong: Vec<_> = found.iter().filter(|rule| rule.since_differs() || rule.until_differs(newest)).collect();
    println!("{} rules dated, {} of them otherwise than they say:", found.len(), wrong.len());
    for dated in &wrong {
        let rule = dated.rule;
        let until = rule.until.as_deref().unwrap_or("-");
        let ranges = [dated.exact, dated.alike].into_iter().flatten();
        let seen: BTreeSet<String> = ranges.map(|(first, last)| format!("{}..{}", age(first), age(last))).collect();
        let seen: Vec<String> = seen.into_iter().collect();
        println!("  {}: {}..{until} but {} ({})", rule.id, rule.since, seen.join(" or "), rule.source);
    }
    println!("{} rules unproven (composed at run time, patterns, or texts of other programs):", unproven.len());
    for Dated { rule, .. } in unproven {
        println!("  {}: {} ({})", rule.id, rule.since, rule.source);
    }
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
