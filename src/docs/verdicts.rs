//! The page of verdicts: which finding becomes the answer, and what each answer means.

use std::fmt::Write as _;

use crate::catalog::{Packs, PrecedenceWhen, VerdictDef};

const HEAD: &str = "# Verdicts

What each answer of comfy-triage means, what supports and contradicts it, what to do and what not to do. The texts are those of the files in `rules/verdicts/`, where the Chinese ones stand too (`comfy-triage explain ID --lang zh`).

## Which finding becomes the verdict

Every hypothesis is examined by itself and may be confirmed, likely, possible, ruled out, or not assessable. One of them answers. The rows of `rules/verdicts/precedence.toml` are tried from the top; in a row, from left to right.

| rank | condition | verdicts |
|---|---|---|
";

const GRADES: &str = "
A *grade* says which evidence is present, in words: `certain` (nothing else can have written this), `strong` (the deciding text or arithmetic is there), `moderate` (one deciding thing is missing), `weak` (it fits; little speaks for it). The reason stands beside it in every report. There are no percentages.
";

pub(super) fn page(packs: &Packs) -> String {
    let mut out = String::from(HEAD);
    for row in &packs.precedence {
        let verdicts: Vec<String> = row.verdicts.iter().map(|verdict| format!("`{verdict}`")).collect();
        let _ = writeln!(out, "| {} | {} | {} |", row.rank, condition(row.when), verdicts.join(", "));
    }
    out.push_str(GRADES);
    for verdict in &packs.verdicts {
        section(&mut out, packs, verdict);
    }
    out
}

fn section(out: &mut String, packs: &Packs, verdict: &VerdictDef) {
    let id = verdict.id.as_str();
    let text = |field: &str, zh: bool| packs.prose_text("verdict", id, field, zh).unwrap_or_default();
    let _ = write!(out, "\n## {id}\n\n*{}* · {}\n\n{}\n", text("name", false), text("name", true), text("says", false));
    let parts = [
        ("Supports it.", "supports"),
        ("Speaks against it.", "contradicts"),
        ("What to do.", "to_do"),
        ("What not to do.", "not_to_do"),
    ];
    for (head, field) in parts {
        let _ = write!(out, "\n**{head}** {}\n", text(field, false));
    }
}

fn condition(when: PrecedenceWhen) -> &'static str {
    match when {
        PrecedenceWhen::ProvenKill => "a line proves that the process was killed",
        PrecedenceWhen::UnrecoveredFailure => "the last failure, after which no prompt ended well",
        PrecedenceWhen::RecoveredFailure => "failures that a later prompt recovered from",
        PrecedenceWhen::Fault => "the finding is likely or confirmed",
        PrecedenceWhen::ShownOrAsked => "by design: numbers of the log show it, or `--asked` named it",
        PrecedenceWhen::Mentioned => "nothing failed by it, but it is worth a word (`[[mention]]`)",
        PrecedenceWhen::Always => "nothing else holds",
    }
}
