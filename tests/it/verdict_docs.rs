//! Each verdict has all its texts, in both languages.

use comfy_triage::catalog::Packs;

#[test]
fn every_verdict_says_what_it_means_in_both_languages() {
    let packs = Packs::built_in();
    assert_eq!(packs.verdicts.len(), comfy_triage::catalog::Verdict::ALL.len());
    for verdict in &packs.verdicts {
        for field in ["name", "says", "supports", "contradicts", "to_do", "not_to_do"] {
            let text = |zh: bool| packs.prose_text("verdict", verdict.id.as_str(), field, zh);
            let (english, chinese) = (text(false).expect("an English text"), text(true).expect("a Chinese text"));
            assert_ne!(chinese, english, "{} {field} has a Chinese text of its own", verdict.id);
        }
        let ranked = packs.precedence.iter().any(|row| row.verdicts.contains(&verdict.id));
        assert!(ranked, "{} may become the answer", verdict.id);
    }
}
