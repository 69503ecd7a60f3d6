//! Whether this should be an issue at all, and whose.

use super::case::Case;
use super::{Advice, Condition, Decision, State};
use crate::catalog::{BugDef, ChecklistRoute, Verdict};
use crate::diagnosis::{Messages, same_dir};
use crate::report::comparison::SeenIn;
use crate::report::report::{Candidate, Grade, Step};

/// Lines shown for the advice.
const LINES: usize = 4;

/// Repaired faults that are named.
const REPAIRED: usize = 3;

/// Weighs verdict and conditions.
pub(super) fn advice(main: &Case<'_>, conditions: &[Condition], messages: &Messages<'_>) -> Advice {
    let decide = Decide { main, conditions, messages };
    let verdict = &main.run.report.verdict;
    match verdict.primary.checklist_route() {
        ChecklistRoute::Nobody => decide.nobody("checklist-no-issue-design"),
        ChecklistRoute::Memory if verdict.grade < Grade::Strong => decide.nobody("checklist-no-issue-memory-likely"),
        ChecklistRoute::Memory => decide.nobody("checklist-no-issue-memory"),
        ChecklistRoute::Log => {
            decide.say(Decision::NotYet, "unknown", None, "checklist-not-yet-log", &[], decide.steps())
        }
        ChecklistRoute::KnownBug => decide.known_bug(),
        ChecklistRoute::Node => decide.node(),
        ChecklistRoute::Conditions => decide.by_conditions(),
    }
}

struct Decide<'d, 'r> {
    main: &'d Case<'r>,
    conditions: &'d [Condition],
    messages: &'d Messages<'d>,
}

impl Decide<'_, '_> {
    fn state(&self, id: &str) -> State {
        self.conditions
            .iter()
            .find(|condition| condition.id == id)
            .map_or(State::CannotTell, |condition| condition.state)
    }

    fn steps(&self) -> Vec<Step> {
        self.main.run.report.next_steps.iter().take(3).cloned().collect()
    }

    fn say(
        &self,
        decision: Decision,
        whom: &str,
        place: Option<String>,
        sentence: &str,
        values: &[(&str, &str)],
        next: Vec<Step>,
    ) -> Advice {
        let verdict = &self.main.run.report.verdict;
        let evidence = self.main.problem().into_iter().flat_map(|problem| &problem.evidence).take(LINES);
        Advice {
            decision,
            whom: whom.to_owned(),
            place,
            headline: self.messages.text(sentence, values),
            reason: verdict.headline.clone(),
            evidence: evidence.map(|line| SeenIn { run: self.main.number, line: line.clone() }).collect(),
            next,
        }
    }

    fn nobody(&self, sentence: &str) -> Advice {
        self.say(Decision::NoIssue, "nobody", None, sentence, &[], self.steps())
    }

    /// A known bug needs no second report.
    fn known_bug(&self) -> Advice {
        let about = self.main.problem().and_then(|problem| problem.about.clone());
        let bug = self.messages.packs.bugs.iter().find(|bug| Some(&bug.id) == about.as_ref());
        let Some(bug) = bug else { return self.by_conditions() };
        let links = self.messages.packs.prose_list("bug", &bug.id, "links");
        // A bug of ComfyUI has links to its own tracker; one of somebody else's has a link to theirs besides.
        let theirs = self.messages.packs.forms.iter().filter(|form| form.whom != "core");
        let whom = theirs
            .filter(|form| links.iter().any(|link| link.starts_with(&form.place)))
            .map(|form| form.whom.as_str())
            .next()
            .unwrap_or("core");
        let place =
            links.iter().find(|link| link.contains("/issues/")).or(links.first()).map(|link| (*link).to_owned());
        match bug.fixed_in {
            Some(fixed) => self.say(
                Decision::NoIssue,
                "nobody",
                place,
                "checklist-no-issue-fixed",
                &[("version", &fixed.to_string())],
                self.steps(),
            ),
            None if place.is_some() => self.say(
                Decision::NoIssue,
                whom,
                place,
                "checklist-no-issue-known",
                &[("checked", &bug.checked)],
                self.steps(),
            ),
            None => self.by_conditions(),
        }
    }

    /// The traceback or the import table names the pack.
    fn node(&self) -> Advice {
        let about = self.main.problem().and_then(|problem| problem.about.clone());
        let named = self.candidates().first().map(|candidate| candidate.dir.clone());
        let loaded = |dir: &String| self.main.session().nodes.iter().any(|node| same_dir(&node.dir, dir));
        let dir = named.or_else(|| about.filter(loaded));
        let Some(dir) = dir else { return self.by_conditions() };
        let decision = if self.main.run.report.verdict.primary == Verdict::ImportFailure {
            Decision::NotYet
        } else {
            Decision::Open
        };
        let sentence = if decision == Decision::Open { "checklist-open-node" } else { "checklist-not-yet-import" };
        self.say(decision, "node", Some(self.repository(&dir)), sentence, &[("pack", &dir)], self.steps())
    }

    fn candidates(&self) -> Vec<&Candidate> {
        let list = self.main.problem().map(|problem| problem.candidates.as_slice()).unwrap_or_default();
        list.iter().filter(|candidate| matches!(candidate.why.as_str(), "traceback" | "known-fault")).collect()
    }

    /// Where the pack lives, when the packs know; else its folder.
    fn repository(&self, dir: &str) -> String {
        let known = self.messages.packs.nodes.iter().find(|node| node.dirs.iter().any(|known| same_dir(known, dir)));
        known.filter(|node| !node.repository.is_empty()).map_or_else(
            || {
                self.messages
                    .packs
                    .node_folders()
                    .next()
                    .map_or_else(|| dir.to_owned(), |folder| format!("{folder}/{dir}"))
            },
            |node| self.place_of("node").unwrap_or_default().replace("{repository}", &node.repository),
        )
    }

    /// Where reports to `whom` go.
    fn place_of(&self, whom: &str) -> Option<&str> {
        self.messages.packs.forms.iter().find(|form| form.whom == whom).map(|form| form.place.as_str())
    }

    /// Core only when a clean start shows it too.
    fn by_conditions(&self) -> Advice {
        let core = self.place_of("core").map(str::to_owned);
        let clean = self.state("clean-start");
        let packs = self.main.view.packs_loaded().count();
        let n = packs.to_string();
        match clean {
            State::Met if self.state("repeats") == State::NotMet => {
                self.say(Decision::NotYet, "core", core, "checklist-not-yet-repeat", &[], self.missing())
            }
            State::Met if self.state("newest") == State::NotMet => self.update_first(core),
            State::Met => self.say(Decision::Open, "core", core, "checklist-open-core", &[], self.missing()),
            State::NotMet => {
                let named = self.candidates().first().map(|candidate| candidate.dir.clone());
                match named {
                    Some(dir) => self.say(
                        Decision::Open,
                        "node",
                        Some(self.repository(&dir)),
                        "checklist-open-node",
                        &[("pack", &dir)],
                        self.missing(),
                    ),
                    None => self.say(
                        Decision::NotYet,
                        "node",
                        None,
                        "checklist-not-yet-bisect",
                        &[("n", &n), ("rounds", &rounds(packs))],
                        self.bisect(),
                    ),
                }
            }
            State::CannotTell if packs == 0 => {
                self.say(Decision::NotYet, "unknown", None, "checklist-not-yet-clean", &[], self.missing())
            }
            State::CannotTell => {
                // What the newest version and a clean start tell comes before any bisection.
                let first = self
                    .conditions
                    .iter()
                    .filter(|condition| matches!(condition.id.as_str(), "newest" | "clean-start"));
                let first = first.flat_map(|condition| condition.supply.iter().cloned());
                let next = first.chain(self.bisect()).collect();
                self.say(
                    Decision::NotYet,
                    "unknown",
                    None,
                    "checklist-not-yet-packs",
                    &[("n", &n), ("rounds", &rounds(packs))],
                    next,
                )
            }
        }
    }

    /// An old version: the form asks for the newest one, and faults of the same kind were repaired since.
    fn update_first(&self, core: Option<String>) -> Advice {
        let packs = self.messages.packs;
        let own = self.main.printed_version().or(self.main.view.span.from);
        let newest = packs.releases.last();
        let problem = self.main.problem().map(|problem| problem.id);
        let leak = problem.is_some_and(Verdict::is_leak);
        // Of the same kind: what shows as a leak is held against leaks, anything else against what it matched.
        let same_kind = |bug: &&BugDef| bug.structure.iter().any(|what| what == "leak") == leak && leak;
        let repaired = packs.bugs.iter().filter(same_kind).filter(|bug| {
            let range = own.zip(newest);
            bug.fixed_in.zip(range).is_some_and(|(fixed, (own, newest))| own < fixed && fixed <= newest.version)
        });
        let titles: Vec<String> = repaired
            .map(|bug| packs.prose_text("bug", &bug.id, "title", self.messages.zh).unwrap_or(&bug.id).to_owned())
            .take(REPAIRED)
            .collect();
        let (shown, latest) = (self.main.version(), newest.map(|release| release.version.to_string()));
        let date = newest.map(|release| release.date.as_str()).unwrap_or_default();
        let what = titles.join("; ");
        let values = [
            ("own", shown.as_str()),
            ("newest", latest.as_deref().unwrap_or_default()),
            ("date", date),
            ("what", &what),
        ];
        let sentence = if titles.is_empty() { "checklist-not-yet-old" } else { "checklist-not-yet-old-fixed" };
        self.say(Decision::NotYet, "core", core, sentence, &values, self.missing())
    }

    /// What supplies what is missing.
    fn missing(&self) -> Vec<Step> {
        self.conditions.iter().flat_map(|condition| condition.supply.iter().cloned()).collect()
    }

    fn bisect(&self) -> Vec<Step> {
        let command = format!("comfy-triage bisect start {}", self.main.run.name);
        vec![plain(self.messages.text("checklist-supply-bisect", &[]), Some(command))]
    }
}

fn plain(text: String, command: Option<String>) -> Step {
    Step { text, command, cost: None, flags: Vec::new(), remedy: None }
}

/// Halvings until one of `packs` is left.
fn rounds(packs: usize) -> String {
    (usize::BITS - packs.saturating_sub(1).leading_zeros()).to_string()
}
