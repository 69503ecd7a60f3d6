//! The answer that fits a screen: headline, grade, the lines that say so, what it is not, and what to do.
//!
//! Decides what is shown and how much of it; rows and colours come later.

use std::collections::BTreeSet;

use super::View;
use super::document::{Block, Document, Item, Quote, push_items};
use super::label::Labels;
use super::palette::Tone;
use crate::catalog::{Verdict, VerdictClass};
use crate::report::{Candidate, Figure, Finding, PromptsReport, Reference, Report, Status, Step};
use crate::text::width;

/// Widest figure that shares a row, in columns.
const SHORT_FIGURE: usize = 36;
/// Lines that one message of an allocator may take.
const LINES_OF_A_MESSAGE: u64 = 8;

/// How many items of each kind are shown.
#[derive(Debug, Clone, Copy)]
struct Limits {
    evidence: usize,
    figures: usize,
    also: usize,
    ruled_out: usize,
    who: usize,
    steps: usize,
    avoid: usize,
    cannot_tell: usize,
    references: usize,
}

impl Limits {
    const SCREEN: Self = Self {
        evidence: 4,
        figures: 8,
        also: 3,
        ruled_out: 4,
        who: 3,
        steps: 3,
        avoid: 2,
        cannot_tell: 2,
        references: 2,
    };
    const NONE: Self = Self {
        evidence: usize::MAX,
        figures: usize::MAX,
        also: usize::MAX,
        ruled_out: usize::MAX,
        who: usize::MAX,
        steps: usize::MAX,
        avoid: usize::MAX,
        cannot_tell: usize::MAX,
        references: usize::MAX,
    };
}

/// The outline of a report: its brief part, and with `--verbose` all the rest.
pub(crate) fn outline(report: &Report, labels: &Labels<'_>, view: &View) -> Document {
    let limits = if view.verbose { Limits::NONE } else { Limits::SCREEN };
    let mut brief = Brief { report, labels, limits, costs: view.verbose, blocks: Vec::new(), left_out: false };
    brief.tell();
    let Brief { mut blocks, left_out, .. } = brief;
    if view.verbose {
        super::miniature::add(report, labels, view, &mut blocks);
        super::full::add(report, labels, &mut blocks);
    }
    Document {
        headline: report.verdict.headline.clone(),
        verdict: labels.verdict(report.verdict.primary),
        tone: tone(report.verdict.primary),
        grade: labels.grade(report.verdict.grade),
        graded: labels.graded(report.verdict.primary, report.verdict.grade),
        blocks,
        more: (left_out && !view.verbose).then(|| labels.get("more")),
    }
}

pub(super) fn tone(verdict: Verdict) -> Tone {
    match verdict.class() {
        VerdictClass::Failure | VerdictClass::Fault => Tone::Fault,
        VerdictClass::ByDesign | VerdictClass::Harmless => Tone::Fine,
        VerdictClass::None if verdict == Verdict::NoFault => Tone::Fine,
        VerdictClass::None => Tone::Doubt,
    }
}

struct Brief<'a> {
    report: &'a Report,
    labels: &'a Labels<'a>,
    limits: Limits,
    costs: bool,
    blocks: Vec<Block>,
    left_out: bool,
}

impl Brief<'_> {
    fn tell(&mut self) {
        let report = self.report;
        let primary = report.findings.iter().find(|finding| finding.id == report.verdict.primary);
        self.first_step();
        if !report.verdict.grade_reason.is_empty() {
            self.push("why", vec![Item::text(&report.verdict.grade_reason)]);
        }
        if let Some(finding) = primary {
            let quotes: Vec<Quote> =
                self.first(&finding.evidence, self.limits.evidence).iter().map(Quote::of).collect();
            if !quotes.is_empty() {
                self.blocks.push(Block::Quotes(quotes));
            }
            // What maintainers said and what a log cannot show are paragraphs: they stand last, and wait for `--verbose`.
            let short =
                finding.figures.iter().take_while(|figure| !matches!(figure.name.as_str(), "said" | "needs")).count();
            let limit = if self.limits.figures == usize::MAX { usize::MAX } else { self.limits.figures.min(short) };
            let figures = self.first(&finding.figures, limit);
            if !figures.is_empty() {
                self.blocks.push(Block::Figures(figure_rows(figures, self.labels)));
            }
        }
        self.prompts();
        self.ending();
        self.also(primary);
        self.ruled_out();
        self.who(primary);
        self.references(primary);
        self.steps();
        self.avoid();
        let told = |settle: &&str| report.next_steps.iter().any(|step| step.text == **settle);
        if let Some(settle) = primary.and_then(|finding| finding.settle.as_deref()).filter(|settle| !told(settle)) {
            self.push("settle", vec![Item::text(settle)]);
        }
        let cannot_tell = self.first(&report.cannot_tell, self.limits.cannot_tell);
        self.push("cannot-tell", cannot_tell.iter().map(Item::text).collect());
        if report.partial {
            self.push("unread", report.fitness.gaps.iter().take(1).map(Item::text).collect());
        }
    }

    /// The first `limit` of `all`, noting whether any were left out.
    fn first<'t, T>(&mut self, all: &'t [T], limit: usize) -> &'t [T] {
        self.left_out |= all.len() > limit;
        all.get(..limit).unwrap_or(all)
    }

    fn push(&mut self, label: &str, items: Vec<Item>) {
        push_items(&mut self.blocks, self.labels, label, items);
    }

    /// How many prompts there were and what became of them.
    fn prompts(&mut self) {
        let of =
            |count: fn(&PromptsReport) -> u64| self.report.sessions.iter().map(|one| count(&one.prompts)).sum::<u64>();
        let failed = of(|one| one.failed + one.broken);
        // Of a server that is up, prompts without an end wait; of one that is gone, nobody works on them.
        let running = u64::from(self.report.ending.in_flight.is_some());
        let unended = of(|one| one.lost).max(running);
        let up = self.report.ending.kind == "still-running";
        let queued = self.report.sessions.last().filter(|_| up).map_or(0, |one| one.prompts.lost);
        let counts = [
            ("received", of(|one| one.got)),
            ("ended", of(|one| one.executed.saturating_sub(one.failed + one.interrupted))),
            ("interrupted", of(|one| one.interrupted)),
            ("failed", failed),
            ("refused", of(|one| one.invalid)),
            ("ignored", of(|one| one.ignored)),
            ("unended", unended.saturating_sub(queued)),
            ("queued", queued),
        ];
        if counts.iter().all(|(_, count)| *count == 0) {
            return;
        }
        let told = counts.iter().filter(|(name, count)| *count > 0 || *name == "ended");
        let words: Vec<String> = told
            .map(|(name, count)| self.labels.with(&format!("count-{name}"), &[("n", &count.to_string())]))
            .collect();
        self.push("prompts", vec![Item::text(self.labels.list(&words))]);
    }

    /// Only an end that says something: a log that goes on, or a clean stop, needs no line.
    fn ending(&mut self) {
        let ending = &self.report.ending;
        if matches!(ending.kind.as_str(), "killed" | "abrupt" | "native-crash" | "given-up") && !ending.text.is_empty()
        {
            self.push("ending", vec![Item::text(&ending.text)]);
        }
    }

    /// Secondary verdicts, and further findings of the primary kind.
    fn also(&mut self, primary: Option<&Finding>) {
        let report = self.report;
        let mut seen: Vec<&Finding> = Vec::new();
        for id in &report.verdict.secondary {
            seen.extend(report.findings.iter().find(|finding| finding.id == *id));
        }
        let of_the_same_kind = report.findings.iter().filter(|finding| {
            finding.id == report.verdict.primary && finding.status >= Status::Likely && primary != Some(*finding)
        });
        seen.extend(of_the_same_kind);
        let items = self
            .first(&seen, self.limits.also)
            .iter()
            .map(|finding| Item {
                text: self.labels.with(
                    "about-what",
                    &[("what", &self.labels.graded(finding.id, finding.grade)), ("text", &finding.summary)],
                ),
                quotes: finding.evidence.first().map(Quote::of).into_iter().collect(),
                command: None,
            })
            .collect();
        self.push("also", items);
    }

    fn ruled_out(&mut self) {
        let shown = self.first(&self.report.ruled_out, self.limits.ruled_out);
        let words: Vec<String> = shown
            .iter()
            .map(|out| format!("{}{}", self.labels.verdict_name(out.id), self.labels.bracket(&out.reason)))
            .collect();
        if !words.is_empty() {
            self.push("ruled-out", vec![Item::text(self.labels.join(&words))]);
        }
    }

    /// Candidates of the primary finding, else of the first one that has any.
    fn who(&mut self, primary: Option<&Finding>) {
        let named = primary.filter(|finding| !finding.candidates.is_empty());
        let also = || {
            let findings =
                self.report.findings.iter().filter(|finding| self.report.verdict.secondary.contains(&finding.id));
            findings.into_iter().find(|finding| !finding.candidates.is_empty())
        };
        if let Some(finding) = named.or_else(also) {
            let shown = self.first(&finding.candidates, self.limits.who);
            let items = shown.iter().map(|who| Item::text(candidate(who, self.labels))).collect();
            self.push("who", items);
        }
    }

    fn references(&mut self, primary: Option<&Finding>) {
        if let Some(finding) = primary {
            let shown = self.first(&finding.references, self.limits.references);
            let items = shown.iter().map(|link| Item::text(reference(link, self.labels))).collect();
            self.push("see", items);
        }
    }

    /// The one thing to do, above everything that proves it.
    fn first_step(&mut self) {
        let items: Vec<Item> = self.report.next_steps.iter().take(1).map(|step| self.step(step)).collect();
        self.push("do-first", items);
    }

    fn step(&self, step: &Step) -> Item {
        let cost = step.cost.as_deref().filter(|_| self.costs);
        let cost = cost.map(|cost| self.labels.with("cost", &[("text", cost)]));
        Item {
            text: self.labels.sentences(&step.text, cost.as_deref().unwrap_or_default()),
            command: step.command.clone(),
            quotes: Vec::new(),
        }
    }

    /// What to try when the first step did not do it.
    fn steps(&mut self) {
        let further = self.report.next_steps.get(1..).unwrap_or_default();
        let steps = self.first(further, self.limits.steps);
        // What a step costs is for the one who weighs them; a screen has no room for it.
        self.left_out |= !self.costs && self.report.next_steps.iter().any(|step| step.cost.is_some());
        let items: Vec<Item> = steps.iter().map(|step| self.step(step)).collect();
        if !items.is_empty() {
            let numbered = items.len() > 1;
            self.blocks.push(Block::Items { label: self.labels.get("next"), items, numbered });
        }
    }

    fn avoid(&mut self) {
        let shown = self.first(&self.report.avoid, self.limits.avoid);
        let items = shown.iter().map(|avoid| Item::text(self.labels.sentences(&avoid.text, &avoid.why))).collect();
        self.push("avoid", items);
    }
}

/// Figures with what they rest on, `385 MiB = 24 × 16.06  [estimate; line 32]`. Short neighbours that rest on
/// the same share a row.
pub(crate) fn figure_rows(figures: &[Figure], labels: &Labels<'_>) -> Vec<String> {
    let short = |figure: &Figure| width(&figure.text) <= SHORT_FIGURE;
    figures
        .chunk_by(|a, b| a.basis == b.basis && near(&a.lines, &b.lines) && short(a) && short(b))
        .filter_map(|row| {
            let mut notes = vec![labels.basis(row.first()?.basis)];
            let lines: BTreeSet<u64> = row.iter().flat_map(|figure| figure.lines.iter().copied()).collect();
            notes.extend(labels.lines(&lines.into_iter().collect::<Vec<_>>()));
            let texts: Vec<&str> = row.iter().map(|figure| figure.text.as_str()).collect();
            Some(format!("{}  [{}]", texts.join(" | "), labels.join(&notes)))
        })
        .collect()
}

/// The lines of both can be those of one message; what rests on no line stands apart from what does.
fn near(a: &[u64], b: &[u64]) -> bool {
    match (a.first(), b.first()) {
        (Some(a), Some(b)) => a.abs_diff(*b) <= LINES_OF_A_MESSAGE,
        (None, None) => true,
        _ => false,
    }
}

/// `ComfyUI-X (in the traceback; line 14)`
pub(crate) fn candidate(candidate: &Candidate, labels: &Labels<'_>) -> String {
    let mut notes = vec![candidate.reason.trim_end_matches(['.', '。']).to_owned()];
    notes.extend(candidate.at.as_ref().map(|at| labels.line(at)));
    format!("{}{}", candidate.dir, labels.bracket(&labels.join(&notes)))
}

/// A link with its state and the day it was looked at.
pub(crate) fn reference(reference: &Reference, labels: &Labels<'_>) -> String {
    let known = matches!(reference.state.as_str(), "open" | "closed" | "unknown");
    let state = if known { labels.get(&format!("state-{}", reference.state)) } else { reference.state.clone() };
    let seen = match reference.checked.as_str() {
        "" => state,
        date => labels.with("seen-on", &[("state", &state), ("date", date)]),
    };
    labels.with("dated-link", &[("link", &reference.link), ("state", &seen)])
}
