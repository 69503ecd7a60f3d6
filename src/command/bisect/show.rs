//! A session on the console: the plan, the next round, all rounds, the answer.

use crate::bisect::{Blank, Group, Next, Outcome, Steadiness, UnitSet, Why, expected_rounds, halvings};
use crate::diagnosis::Messages;
use crate::render::{Block, Item, Quote};
use crate::report::bisection::Symptom;

use super::launch;
use super::state::{Mark, Reason, Record, State};

/// Packs named in one sentence.
const NAMES_SHOWN: usize = 6;
/// Rounds of an unsteady search, beside those of a steady one: seen in simulations of ten to a hundred packs.
const UNSTEADY_MORE: u32 = 15;

/// Puts a session into words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Show<'a> {
    pub(super) state: &'a State,
    pub(super) messages: Messages<'a>,
    /// What names the session on a command line, with a blank in front; empty for the usual one.
    pub(super) option: &'a str,
}

impl Show<'_> {
    fn say(&self, id: &str, values: &[(&str, &str)]) -> String {
        self.messages.text(id, values)
    }

    /// What is searched, and how long it may take.
    pub(super) fn plan(&self, path: &str) -> Vec<Block> {
        let state = self.state;
        let in_question = state.install.packs.len() - state.keep.len().min(state.install.packs.len());
        let mut title = self.title();
        if let Some(line) = state.symptom_line {
            let found = self.say("bisect-shown-in-line", &[("line", &line.to_string())]);
            title.push(Block::Figures(vec![found]));
        } else if state.symptom() == Symptom::Growth {
            title.push(Block::Figures(vec![self.say("bisect-shown-in-readings", &[])]));
        }
        let rounds = self.rounds_to_come(in_question);
        if !state.keep.is_empty() {
            title.push(Block::line(self.say("bisect-label-keep", &[]), self.names(&state.keep)));
        }
        title.push(Block::line(self.say("bisect-label-rounds", &[]), rounds));
        title.push(self.each_round());
        title.push(Block::line(self.say("bisect-label-file", &[]), path));
        title
    }

    /// How many rounds it takes for one guilty pack, by how surely the symptom shows.
    fn rounds_to_come(&self, in_question: usize) -> String {
        let steadiness = self.state.steadiness();
        let certain = steadiness == Steadiness::Certain;
        let least = expected_rounds(in_question, certain);
        if self.state.runs > 1 || steadiness == Steadiness::ByChance {
            let rounds = (halvings(in_question) * 2 + UNSTEADY_MORE).to_string();
            return self.say("bisect-plan-unsteady", &[("rounds", &rounds), ("steady", &least.to_string())]);
        }
        if steadiness == Steadiness::Unsettled {
            let rounds = (least + 1).to_string();
            return self.say("bisect-plan-unsettled", &[("rounds", &rounds)]);
        }
        let again = least.saturating_sub(expected_rounds(in_question, true)).to_string();
        let (rounds, more) = (least.to_string(), halvings(in_question).to_string());
        let id = if certain { "bisect-plan-certain" } else { "bisect-plan-steady" };
        self.say(id, &[("rounds", &rounds), ("halvings", &more), ("again", &again)])
    }

    fn title(&self) -> Vec<Block> {
        let count = self.state.install.packs.len();
        let values = [("n", &*count.to_string()), ("symptom", &*self.state.symptom)];
        vec![Block::Section(self.say(if count == 1 { "bisect-title-one" } else { "bisect-title" }, &values))]
    }

    fn each_round(&self) -> Block {
        let run = match self.state.symptom() {
            Symptom::Import(_) => self.say("bisect-each-import", &[]),
            _ if self.state.prompts == 1 => self.say("bisect-each-run-one", &[]),
            _ => self.say("bisect-each-run", &[("n", &self.state.prompts.to_string())]),
        };
        let hand_over = match self.state.symptom() {
            Symptom::Manual => {
                ("bisect-each-hand", format!("comfy-triage bisect bad | good | skip | keep DIR{}", self.option))
            }
            Symptom::Growth => {
                ("bisect-each-step", format!("comfy-triage bisect step LOG --samples FILE{}", self.option))
            }
            _ => ("bisect-each-step", format!("comfy-triage bisect step LOG{}", self.option)),
        };
        let items = vec![
            Item::text(self.say("bisect-each-start", &[])),
            Item::text(run),
            Item { text: self.say(hand_over.0, &[]), command: Some(hand_over.1), quotes: Vec::new() },
        ];
        Block::Items { label: self.say("bisect-label-each", &[]), items, numbered: true }
    }

    /// Where it stands: what is proved, and the next round or the answer.
    pub(super) fn stand(&self) -> Vec<Block> {
        match self.state.next() {
            Next::Done(outcome) => self.answer(&outcome),
            Next::Run { on, why, found } => {
                let mut blocks = Vec::new();
                if !found.is_empty() {
                    let names = self.groups(&found);
                    let text = self.say("bisect-found-so-far", &[("names", &names)]);
                    blocks.push(Block::line(self.say("bisect-label-so-far", &[]), text));
                }
                blocks.extend(self.round(&on, &why, &found));
                blocks
            }
        }
    }

    fn round(&self, on: &UnitSet, why: &Why, found: &[Group]) -> Vec<Block> {
        let state = self.state;
        let names = state.names(on);
        let number = self.say("bisect-round", &[("n", &(state.rounds.len() + 1).to_string())]);
        let all = state.install.packs.len().to_string();
        let on_text = self.say("bisect-on", &[("n", &names.len().to_string()), ("all", &all)]);
        let why = self.why(why, on, found);
        let mut items = vec![Item::text(format!("{why} {on_text}"))];
        let again = state.rounds.last().filter(|last| last.seen == Mark::CannotRun && last.keep.is_empty());
        if again.is_some() {
            items.push(Item::text(self.say("bisect-keep-hint", &[])));
        }
        append(&mut items, launch::items(state, &names, &self.messages));
        vec![Block::Section(number), Block::Items { label: String::new(), items, numbered: false }]
    }

    pub(super) fn why(&self, why: &Why, on: &UnitSet, found: &[Group]) -> String {
        match why {
            Why::Control if on.is_empty() => self.say("bisect-why-control", &[]),
            Why::Control => self.say("bisect-why-control-keep", &[]),
            Why::ControlAgain { .. } => self.say("bisect-why-control-again", &[]),
            Why::Steadiness => self.say("bisect-why-steadiness", &[]),
            Why::Part { left } => self.say("bisect-why-part", &[("left", &left.to_string())]),
            Why::Again { quiet: 1 } => self.say("bisect-why-again-one", &[]),
            Why::Again { quiet } => self.say("bisect-why-again", &[("quiet", &quiet.to_string())]),
            Why::Rate => self.say("bisect-why-rate", &[]),
            Why::Missing => self.say("bisect-why-missing", &[]),
            Why::Only => self.say("bisect-why-only", &[("names", &self.names(&self.state.names(on)))]),
            Why::Without { unit } => {
                let without = self.state.names(&UnitSet::from_iter([*unit]));
                self.say("bisect-why-without", &[("names", &self.names(&without))])
            }
            Why::Rest => self.say("bisect-why-rest", &[("names", &self.groups(found))]),
        }
    }

    /// All rounds in a table.
    pub(super) fn rounds(&self) -> Vec<Block> {
        let mut blocks = self.title();
        let head = ["round", "seen", "on", "reason"].map(|column| self.say(&format!("bisect-table-{column}"), &[]));
        let rows = self.state.rounds.iter().enumerate().map(|(index, round)| {
            let seen = self.say(&format!("bisect-mark-{}", round.seen.word()), &[]);
            vec![(index + 1).to_string(), seen, self.few(&round.on), round.reason.clone()]
        });
        let rows: Vec<Vec<String>> = rows.collect();
        if !rows.is_empty() {
            blocks.push(Block::Table { head: head.to_vec(), rows });
        }
        blocks
    }

    /// All rounds with their packs, logs and lines.
    pub(super) fn log(&self) -> Vec<Block> {
        let mut blocks = self.title();
        for (index, round) in self.state.rounds.iter().enumerate() {
            blocks.push(self.one(index + 1, round));
        }
        blocks
    }

    /// One round with its lines.
    pub(super) fn one(&self, number: usize, round: &Record) -> Block {
        let seen = self.say(&format!("bisect-mark-{}", round.seen.word()), &[]);
        let on = if round.on.is_empty() { self.say("bisect-nothing-on", &[]) } else { self.names(&round.on) };
        let log = round.log.as_ref().map(|log| format!(" · {log}")).unwrap_or_default();
        let colon = if self.messages.zh { "：" } else { ":" };
        let label = format!("{} · {seen} · {on}{log}{colon}", self.say("bisect-round", &[("n", &number.to_string())]));
        let quotes = round.lines.iter().map(|line| Quote {
            place: line.line.to_string(),
            text: line.text.clone(),
            remark: None,
        });
        let items = vec![Item { text: round.reason.clone(), command: None, quotes: quotes.collect() }];
        Block::Items { label, items, numbered: false }
    }

    fn answer(&self, outcome: &Outcome) -> Vec<Block> {
        let mut blocks = Vec::new();
        match outcome {
            Outcome::NotTheUnits { kept } if kept.is_empty() => {
                blocks.push(Block::Section(self.say("bisect-answer-core", &[])));
                blocks.push(self.next_step(
                    "bisect-answer-core-next",
                    &format!("comfy-triage checklist {}", self.log_of_control()),
                ));
            }
            Outcome::NotTheUnits { kept } => {
                let names = self.names(&self.state.names(kept));
                blocks.push(Block::Section(self.say("bisect-answer-core-or-kept", &[("names", &names)])));
            }
            Outcome::Culprits { groups, doubt } => {
                self.culprits(groups, &mut blocks);
                blocks.push(Block::Figures(vec![self.doubt(*doubt)]));
            }
            Outcome::CannotTell { why, groups, suspects } => {
                let id = match why {
                    Blank::Gone => "bisect-blank-gone",
                    Blank::Rare => "bisect-blank-rare",
                    Blank::Skipped => "bisect-blank-skipped",
                    Blank::Void => "bisect-blank-void",
                    Blank::NeverRuns => "bisect-blank-never-runs",
                };
                blocks.push(Block::Section(self.say(id, &[])));
                if !groups.is_empty() {
                    self.culprits(groups, &mut blocks);
                }
                if !suspects.is_empty() {
                    let names = self.names(&self.state.names(suspects));
                    let id = if suspects.len() == 1 { "bisect-one-suspect" } else { "bisect-suspects" };
                    let text = self.say(id, &[("names", &names)]);
                    blocks.push(Block::line(self.say("bisect-label-suspects", &[]), text));
                }
            }
        }
        self.rename_back(&mut blocks);
        blocks
    }

    fn culprits(&self, groups: &[Group], blocks: &mut Vec<Block>) {
        for group in groups {
            let id = match group {
                Group { inseparable: true, .. } => "bisect-answer-inseparable",
                Group { units, .. } if units.len() == 1 => "bisect-answer-one",
                Group { .. } => "bisect-answer-together",
            };
            let names = self.state.names(&group.units);
            blocks.push(Block::Section(self.say(id, &[("names", &self.names(&names))])));
            blocks.push(Block::Figures(vec![self.evidence(&names)]));
        }
        let mut items = vec![Item::text(self.say("bisect-next-update", &[]))];
        if let Some(log) = self.log_of_only(groups) {
            items.push(Item {
                text: self.say("bisect-next-author", &[]),
                command: Some(format!("comfy-triage checklist {log}")),
                quotes: Vec::new(),
            });
        }
        let guilty: Vec<String> = groups.iter().flat_map(|group| self.state.names(&group.units)).collect();
        let off = self.off_with(&guilty);
        let on: Vec<String> = self
            .state
            .install
            .packs
            .iter()
            .map(|pack| pack.dir.clone())
            .filter(|dir| !guilty.contains(dir) && !off.contains(dir))
            .collect();
        items.push(Item::text(self.say("bisect-next-work", &[])));
        append(&mut items, launch::items(self.state, &on, &self.messages));
        if !off.is_empty() {
            items.push(Item::text(self.say("bisect-next-needed", &[("names", &self.names(&off))])));
        }
        blocks.push(Block::Items { label: self.say("bisect-label-next", &[]), items, numbered: false });
    }

    /// What doubt is left, in one sentence.
    fn doubt(&self, doubt: f64) -> String {
        if doubt <= 0.0 {
            return self.say("bisect-doubt-none", &[]);
        }
        let share = crate::text::number((doubt * 1000.0).ceil() / 10.0, 1);
        self.say("bisect-doubt", &[("share", &share)])
    }

    /// How often it happened with nothing on but these and what must be on with them, and stayed away without.
    fn evidence(&self, names: &[String]) -> String {
        let has_all = |round: &&Record| names.iter().all(|name| round.on.contains(name));
        let happened = |round: &&Record| round.seen == Mark::Bad && round.broken.is_empty();
        let with = || self.state.rounds.iter().filter(has_all).filter(happened);
        let least = with().map(|round| round.on.len()).min().unwrap_or(0);
        let bad = with().filter(|round| round.on.len() == least).count().to_string();
        let others: Vec<String> = with()
            .find(|round| round.on.len() == least)
            .map(|round| round.on.iter().filter(|dir| !names.contains(dir)).cloned().collect())
            .unwrap_or_default();
        let quiet = |round: &&Record| round.seen == Mark::Good && !has_all(round);
        let good = self.state.rounds.iter().filter(quiet).count().to_string();
        let others_shown = self.names(&others);
        let values = [("bad", bad.as_str()), ("good", good.as_str()), ("kept", others_shown.as_str())];
        self.say(if others.is_empty() { "bisect-answer-evidence" } else { "bisect-answer-evidence-kept" }, &values)
    }

    /// Packs that the confirmation round left off beside the guilty ones, since they need them.
    fn off_with(&self, guilty: &[String]) -> Vec<String> {
        let rest = self.state.rounds.iter().rev().find(|round| round.why == Reason::Rest && round.seen == Mark::Good);
        let Some(rest) = rest else { return Vec::new() };
        let all = self.state.install.packs.iter().map(|pack| &pack.dir);
        all.filter(|dir| !rest.on.contains(dir) && !guilty.contains(dir)).cloned().collect()
    }

    fn log_of_only(&self, groups: &[Group]) -> Option<String> {
        let first = self.state.names(&groups.first()?.units);
        let rounds = self
            .state
            .rounds
            .iter()
            .filter(|round| round.seen == Mark::Bad && first.iter().all(|name| round.on.contains(name)));
        rounds.min_by_key(|round| round.on.len()).and_then(|round| round.log.clone())
    }

    fn log_of_control(&self) -> String {
        let control = self.state.rounds.iter().rev().find(|round| round.on.is_empty() && round.seen == Mark::Bad);
        control.and_then(|round| round.log.clone()).unwrap_or_else(|| "LOG".to_owned())
    }

    fn next_step(&self, id: &str, command: &str) -> Block {
        let item = Item { text: self.say(id, &[]), command: Some(command.to_owned()), quotes: Vec::new() };
        Block::Items { label: String::new(), items: vec![item], numbered: false }
    }

    fn rename_back(&self, blocks: &mut Vec<Block>) {
        let commands = launch::renames_back(self.state);
        if !commands.is_empty() {
            let items = vec![launch::listed(self.say("bisect-rename-back", &[]), &commands)];
            blocks.push(Block::Items { label: String::new(), items, numbered: false });
        }
    }

    fn groups(&self, groups: &[Group]) -> String {
        let names: Vec<String> = groups.iter().flat_map(|group| self.state.names(&group.units)).collect();
        self.names(&names)
    }

    fn names(&self, names: &[String]) -> String {
        match names.get(NAMES_SHOWN..) {
            Some(more) if more.len() > 1 => {
                let shown = names.get(..NAMES_SHOWN).unwrap_or(names).join(", ");
                self.say("bisect-many-on", &[("first", &shown), ("n", &more.len().to_string())])
            }
            _ => names.join(", "),
        }
    }

    fn few(&self, names: &[String]) -> String {
        match names {
            [] => self.say("bisect-nothing-on", &[]),
            [first] => first.clone(),
            [first, more @ ..] => self.say("bisect-many-on", &[("first", first), ("n", &more.len().to_string())]),
        }
    }
}

/// Adds items; a command without a text of its own goes beneath the text before it.
fn append(items: &mut Vec<Item>, more: Vec<Item>) {
    for item in more {
        match items.last_mut() {
            Some(last) if item.text.is_empty() && last.command.is_none() => last.command = item.command,
            _ => items.push(item),
        }
    }
}
