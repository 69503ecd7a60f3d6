//! `docs/verdicts.md` tells what the packs tell.

use comfy_triage::catalog::Packs;

#[test]
fn every_verdict_and_row_of_precedence_stands_in_the_page() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/verdicts.md")).expect("the page is there");
    let packs = Packs::built_in();
    assert_eq!(packs.verdicts.len(), 16);
    for verdict in &packs.verdicts {
        assert!(page.contains(&format!("## {}\n", verdict.id)), "{} has no section", verdict.id);
        for field in ["says", "supports", "contradicts", "to_do", "not_to_do"] {
            let text = packs.prose_text("verdict", verdict.id.as_str(), field, false).expect("an English text");
            assert!(page.contains(text), "{} {field} differs from its file in rules/verdicts", verdict.id);
            let chinese = packs.prose_text("verdict", verdict.id.as_str(), field, true).expect("a Chinese text");
            assert_ne!(chinese, text, "{} {field} has a Chinese text of its own", verdict.id);
        }
    }
    for row in &packs.precedence {
        let verdicts: Vec<String> = row.verdicts.iter().map(|id| format!("`{id}`")).collect();
        let line =
            page.lines().find(|line| line.starts_with(&format!("| {} |", row.rank))).expect("the rank has a row");
        assert!(line.contains(&verdicts.join(", ")), "rank {}: {line}", row.rank);
        for id in &row.verdicts {
            assert!(packs.verdicts.iter().any(|verdict| verdict.id == *id), "{id} is a verdict");
        }
    }
}
