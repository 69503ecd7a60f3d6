//! A report helps: its first screen holds the facts and the steps of the case's rubric (`help` in `expect.json`), early,
//! and says nothing that is false for this log or harmful.
//!
//! The rubric asks for things in any wording. What is not met yet stands in `fixtures/help-open.toml` with its reason;
//! an entry there that is met makes the test fail as well, so that the list only shrinks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use comfy_triage::catalog::Packs;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::render::{Format, Printer, View};
use comfy_triage::report::{Question, answer, read_log};
use fancy_regex::Regex;
use rayon::prelude::*;
use serde_json::Value;

use crate::case::{Case, json};

/// Lines of the default view that fit a screen.
const SCREEN: usize = 40;
/// Lines in which the answer and the action stand.
const TOP: usize = 5;
/// Share of the reports with a step that tell one within the first lines.
const EARLY: f64 = 0.9;

fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A quoted line of the log is no statement of the program.
static QUOTE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^\s*(?:[AB] )?\d+(?:(?:…|\.\.\.)\d+)? \| .*$"));
/// A sentence that advises against something does not advise it.
static AGAINST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(do not|don't|no need to|need not|never|avoid|not necessary|(is|are) (not|no) (a )?(fix|cure|help)|(would|will|does|do|can) ?not help|won't help|instead of)\b",
    )
});
static SENTENCE_END: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?<=[.!?:;]) +|(?<= )- "));

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn unquoted(text: &str) -> String {
    flat(&QUOTE.replace_all(text, ""))
}

/// What the screen says in favour of something.
fn claims(text: &str) -> String {
    let mut rest = 0;
    let mut sentences = Vec::new();
    for end in SENTENCE_END.find_iter(text) {
        let end = end.unwrap();
        sentences.push(&text[rest..end.start()]);
        rest = end.end();
    }
    sentences.push(&text[rest..]);
    sentences.retain(|sentence| !AGAINST.is_match(sentence).unwrap());
    sentences.join(" ")
}

fn found(item: &Value, text: &str) -> bool {
    json::texts(&item["any"]).iter().any(|wanted| pattern(&format!("(?i){wanted}")).is_match(text).unwrap())
}

/// What the first screen of a report says, and its verdict.
fn screen(case: &Case, packs: &Packs) -> (Vec<String>, String) {
    let bytes = std::fs::read(crate::case::root().join(case.log())).unwrap();
    let source = Source::from_reader(case.log(), std::io::Cursor::new(bytes)).unwrap();
    let read = read_log(source, packs, &ReadOptions::default()).unwrap();
    let asked = json::texts(&case.expect["help"]["asked"]).into_iter().map(str::to_owned).collect();
    let report = answer(&case.log(), &read, packs, &Question { asked, ..Question::default() });
    let verdict = report.verdict.primary.as_str().to_owned();
    let mut out = Vec::new();
    Printer::new(Format::Text, View::default(), packs, false, 1).report(report, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    (text.lines().take(SCREEN).map(str::to_owned).collect(), verdict)
}

/// What a report lacks, and whether a step stands early enough; `None` where the rubric asks for no step.
struct Judged {
    faults: BTreeSet<String>,
    early: Option<bool>,
}

fn items(rubric: &Value) -> &[Value] {
    rubric.as_array().map_or(&[], Vec::as_slice)
}

fn judge(case: &Case, packs: &Packs) -> Judged {
    let rubric = &case.expect["help"];
    let (lines, verdict) = screen(case, packs);
    let seen = lines.join("\n");
    let (text, told) = (flat(&seen), unquoted(&seen));
    let claims = claims(&text);
    let about = |item: &Value| item["about"].as_str().unwrap().to_owned();
    let is_step = |item: &Value| item["step"] == true;
    let mut faults = BTreeSet::new();
    let asked = !json::texts(&rubric["asked"]).is_empty();
    let acceptable = match &case.expect["acceptable_asked"] {
        Value::Array(_) if asked => json::texts(&case.expect["acceptable_asked"]),
        _ => case.acceptable(),
    };
    if !acceptable.contains(&verdict.as_str()) {
        faults.insert(format!("verdict: {verdict}"));
    }
    for item in items(&rubric["must"]) {
        if !found(item, if is_step(item) { &told } else { &text }) {
            faults.insert(format!("lacks: {}", about(item)));
        }
    }
    for item in items(&rubric["must_not"]) {
        if found(item, &claims) {
            faults.insert(format!("says: {}", about(item)));
        }
    }
    let top = unquoted(&lines[..lines.len().min(TOP)].join("\n"));
    let steps: Vec<&Value> = items(&rubric["must"]).iter().filter(|item| is_step(item)).collect();
    let early = (!steps.is_empty()).then(|| steps.iter().any(|item| found(item, &top)));
    Judged { faults, early }
}

/// What is not met yet: case, fault, reason.
fn open() -> BTreeMap<String, BTreeMap<String, String>> {
    let text = std::fs::read_to_string(crate::case::root().join("fixtures/help-open.toml")).unwrap();
    toml::from_str(&text).unwrap()
}

#[test]
fn every_report_helps() {
    let packs = Packs::built_in();
    let cases: Vec<Case> = crate::case::all().into_iter().filter(|case| case.expect.get("help").is_some()).collect();
    assert!(cases.len() >= 180, "only {} cases have a rubric", cases.len());
    let judged: Vec<Judged> = cases.par_iter().map(|case| judge(case, &packs)).collect();
    let open = open();
    let mut wrong = Vec::new();
    for (case, judged) in cases.iter().zip(&judged) {
        let listed: BTreeSet<String> =
            open.get(&case.name).map(|faults| faults.keys().cloned().collect()).unwrap_or_default();
        wrong.extend(judged.faults.difference(&listed).map(|fault| format!("{} {fault}", case.name)));
        wrong.extend(
            listed.difference(&judged.faults).map(|fault| format!("{} is listed, but met: {fault}", case.name)),
        );
    }
    wrong.extend(
        open.keys()
            .filter(|name| !cases.iter().any(|case| &case.name == *name))
            .map(|name| format!("{name} is listed, but no case")),
    );
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    let late: Vec<&str> = cases
        .iter()
        .zip(&judged)
        .filter_map(|(case, judged)| (judged.early == Some(false)).then_some(case.name.as_str()))
        .collect();
    let steps = judged.iter().filter(|judged| judged.early.is_some()).count();
    assert!(
        (steps - late.len()) as f64 >= EARLY * steps as f64,
        "the step stands late in {} of {steps}: {late:?}",
        late.len()
    );
}

#[test]
fn every_open_fault_has_a_reason() {
    for (name, faults) in open() {
        for (fault, reason) in faults {
            assert!(reason.len() >= 20, "{name}: {fault}: {reason:?}");
        }
    }
}
