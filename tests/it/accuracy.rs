//! The confusion matrix over all cases as Markdown, for `docs/accuracy.md`:
//! `cargo test --release --test accuracy -- --ignored --nocapture`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::string_slice)] // a test may fail loudly

use std::collections::{BTreeMap, BTreeSet};

use crate::case::{candidates, facts, leaks, primary, score};

#[test]
#[ignore = "prints a document; what must hold is asserted in cases.rs"]
fn confusion_matrix() {
    let mut matrix: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    let mut columns = BTreeSet::new();
    let (mut all, mut right, mut exact, mut figures, mut innocent) = (0, 0, 0, 0, 0);
    let (mut wrong, mut harmful) = (Vec::new(), Vec::new());
    for case in crate::case::all() {
        let report = case.report();
        let said = primary(&report).to_owned();
        all += 1;
        exact += usize::from(said == case.truth());
        figures +=
            usize::from(facts::differences(&case, &report).is_empty() && leaks::differences(&case, &report).is_empty());
        innocent += candidates::innocent(&case, &report).len();
        if score::is_right(&case, &report) {
            right += 1;
        } else {
            wrong.push(format!("| {} | {} | {} | {said} |", case.name, case.truth(), case.acceptable().join(", ")));
        }
        harmful.extend(score::harm(&case, &report).map(|harm| format!("- {}: {harm}", case.name)));
        columns.insert(said.clone());
        *matrix.entry(case.truth().to_owned()).or_default().entry(said).or_default() += 1;
    }

    println!("| measure | value |\n|---|---|");
    println!("| verdict is one that the log allows | {right} of {all} |");
    println!("| verdict is what was really wrong | {exact} of {all} |");
    println!("| cases with every figure exact | {figures} of {all} |");
    println!("| harmful verdicts | {} |", harmful.len());
    println!("| innocent node packs accused | {innocent} |");
    println!("\nRows: what was really wrong. Columns: what the report says from the log alone.\n");
    println!("| | {} |", columns.iter().cloned().collect::<Vec<_>>().join(" | "));
    println!("|---|{}", "---:|".repeat(columns.len()));
    for (truth, row) in &matrix {
        let cells: Vec<String> =
            columns.iter().map(|column| row.get(column).map_or(String::new(), usize::to_string)).collect();
        println!("| **{truth}** | {} |", cells.join(" | "));
    }
    if !wrong.is_empty() {
        println!("\n| case | truth | may be said | said |\n|---|---|---|---|\n{}", wrong.join("\n"));
    }
    if !harmful.is_empty() {
        println!("\nHarmful:\n\n{}", harmful.join("\n"));
    }
}
