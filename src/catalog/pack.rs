//! All packs together: the built-in one, and those that the user laid over it.
//!
//! The built-in packs were turned into JSON when the program was built; folders are read as TOML. Both
//! become the same structs. A broken file or rule is reported and left out; the rest still works.
//!
//! Long: laying packs over each other and compiling them fill the same private table.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use miette::{NamedSource, SourceSpan};
use serde::Serialize;

use super::error::PackError;
use super::file::PackFile;
use super::folder::{PROBLEMS_LIMIT, PackSource, SourceText, read_folder};
use super::matcher::{Matcher, Rule, RuleError};
use super::prose_table::{self, ProseTable};
use super::schema::{
    AimdoDef, AnswerDef, AvoidDef, BugDef, CauseDef, ClassDef, DefaultDef, FlagDef, FormDef, InputDef, LauncherDef,
    MentionDef, NodeDef, NodeTypesDef, PackHead, PackageDef, PlaceDef, PrecedenceDef, Prose, ReleaseDef, RemedyDef,
    SignDef, SignOf, StageDef, VerdictDef,
};
use super::template::Template;
use super::verdict::Verdict;

/// Newest format of pack files that this program reads.
pub const FORMAT: u32 = 1;
/// Rules of all packs together; the matcher numbers them with 16 bits.
const RULES_LIMIT: usize = 60_000;
/// Regexes that are looked at before the first line is read. To compile one may take milliseconds.
const REGEX_CHECKS: usize = 200;
const HEAD: &str = include_str!(concat!(env!("OUT_DIR"), "/head.json"));
const CORE: &str = include_str!(concat!(env!("OUT_DIR"), "/core.json"));
const EN: &str = include_str!(concat!(env!("OUT_DIR"), "/en.json"));
const ZH: &str = include_str!(concat!(env!("OUT_DIR"), "/zh.json"));

/// Which pack took part in a report.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct PackInfo {
    pub id: String,
    pub version: String,
    /// `built-in`, or the folder.
    pub from: String,
    /// Ids that this pack replaced in those below it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
}

/// A compiled `[[oom_phrase]]`.
#[derive(Debug)]
pub struct OomPhrase {
    pub template: Template,
    pub sum: bool,
}

/// All packs, ready for use.
#[derive(Debug)]
pub struct Packs {
    matcher: Matcher,
    oom_phrases: Vec<OomPhrase>,
    pub bugs: Vec<BugDef>,
    pub nodes: Vec<NodeDef>,
    pub flags: Vec<FlagDef>,
    pub releases: Vec<ReleaseDef>,
    pub defaults: Vec<DefaultDef>,
    pub aimdo: Vec<AimdoDef>,
    pub classes: Vec<ClassDef>,
    pub verdicts: Vec<VerdictDef>,
    /// Rows of precedence, first rank first.
    pub precedence: Vec<PrecedenceDef>,
    pub remedies: Vec<RemedyDef>,
    pub avoids: Vec<AvoidDef>,
    /// In the order in which they are tried.
    pub launchers: Vec<LauncherDef>,
    pub forms: Vec<FormDef>,
    /// In the order in which they are tried.
    pub signs: Vec<SignDef>,
    /// What is worth a word although nothing failed.
    pub mentions: Vec<MentionDef>,
    /// Stages of a start, in their order.
    pub stages: Vec<StageDef>,
    /// Why imports fail, in the order in which they are tried.
    pub causes: Vec<CauseDef>,
    pub packages: Vec<PackageDef>,
    /// Errors that have an answer of their own, in the order in which they are tried.
    pub answers: Vec<AnswerDef>,
    pub inputs: Vec<InputDef>,
    /// Which pack a type of node belongs to.
    pub node_types: Vec<NodeTypesDef>,
    /// Where logs are, in the order in which they are looked at.
    pub places: Vec<PlaceDef>,
    infos: Vec<PackInfo>,
    /// Sentences that user packs bring or replace.
    sentences: BTreeMap<String, Prose>,
    /// Prose of items from user packs, by table and id.
    user_prose: BTreeMap<(String, String), ProseTable>,
    prose: BTreeMap<&'static str, prose_table::LazyTable>,
    english: OnceLock<BTreeMap<String, String>>,
    chinese: OnceLock<BTreeMap<String, String>>,
}

impl Packs {
    /// The node pack that a type of node belongs to.
    pub fn pack_of(&self, node: &str) -> Option<&NodeTypesDef> {
        // The beginning of many types may be that of one type of another pack.
        let listed = |def: &&NodeTypesDef| def.types.iter().any(|known| known == node);
        self.node_types.iter().find(listed).or_else(|| self.node_types.iter().find(|def| def.fits(node)))
    }

    /// The built-in packs alone.
    ///
    /// # Panics
    /// Never in a released program: the blobs are made from `rules/` at build time and a test reads them.
    pub fn built_in() -> Self {
        let (packs, problems) = Self::with_folders(&[]);
        debug_assert!(problems.is_empty(), "built-in packs: {problems:?}");
        packs
    }

    /// The built-in packs with the packs in `folders` laid over them, in order. What could not be used is
    /// listed beside.
    pub fn with_folders(folders: &[PathBuf]) -> (Self, Vec<PackError>) {
        let mut problems = Vec::new();
        let mut layers = Layers::built_in();
        for folder in folders {
            match read_folder(folder) {
                Ok(mut pack) => {
                    problems.append(&mut pack.problems);
                    if layers.have_room_for(&pack) {
                        layers.add(&pack);
                    } else {
                        let path = pack.folder.display().to_string();
                        problems.push(PackError::TooManyRules { path, limit: RULES_LIMIT });
                    }
                }
                Err(error) => problems.push(*error),
            }
        }
        let packs = layers.compile(&mut problems);
        (packs, problems)
    }

    /// The items themselves, before they are compiled: the built-in ones with `folders` laid over them. Prose of
    /// message rules (`match`, `silent`, `source`, `means`) is filled in; faults are passed over.
    pub fn definitions(folders: &[PathBuf]) -> PackFile {
        let mut layers = Layers::built_in();
        if let Some(told) = prose_table::LazyTable::named("message") {
            for def in &mut layers.file.message {
                def.fill(told.item(&def.id));
            }
        }
        for pack in folders.iter().filter_map(|folder| read_folder(folder).ok()) {
            layers.add(&pack);
        }
        layers.file
    }

    /// One pack that was read from its folder, over the built-in packs or alone. Faults are passed over.
    pub(super) fn of_source(source: &PackSource, over_built_in: bool) -> Self {
        let mut layers = if over_built_in { Layers::built_in() } else { Layers::default() };
        layers.add(source);
        layers.compile(&mut Vec::new())
    }

    /// Head of the built-in pack.
    pub fn built_in_head() -> PackHead {
        serde_json::from_str(HEAD).expect("built-in pack head is checked by a test")
    }

    /// The message rules.
    pub fn matcher(&self) -> &Matcher {
        &self.matcher
    }

    /// Parts of the allocators' sentences.
    pub fn oom_phrases(&self) -> &[OomPhrase] {
        &self.oom_phrases
    }

    /// Ids, versions and places of the packs in use.
    pub fn infos(&self) -> &[PackInfo] {
        &self.infos
    }

    /// Changes where packs are said to come from: a folder's name may hold a user's.
    pub fn tell_places(&mut self, mut place: impl FnMut(&str) -> String) {
        for info in &mut self.infos {
            info.from = place(&info.from);
        }
    }

    /// A sentence of the program in the language asked for. `None` when no pack has it.
    pub fn sentence(&self, id: &str, zh: bool) -> Option<&str> {
        if let Some(prose) = self.sentences.get(id) {
            return Some(prose.in_language(zh));
        }
        let table = if zh { &self.chinese } else { &self.english };
        let text = if zh { ZH } else { EN };
        let found = table.get_or_init(|| serde_json::from_str(text).unwrap_or_default()).get(id);
        match found {
            Some(text) => Some(text),
            None if zh => self.sentence(id, false),
            None => None,
        }
    }

    /// A sentence of the built-in pack, without any pack being read: for faults, which may be about the packs.
    pub fn built_in_sentence(id: &str, zh: bool) -> Option<&'static str> {
        static TABLES: OnceLock<[BTreeMap<String, String>; 2]> = OnceLock::new();
        let [english, chinese] =
            TABLES.get_or_init(|| [EN, ZH].map(|text| serde_json::from_str(text).unwrap_or_default()));
        let table = if zh { chinese } else { english };
        table.get(id).map(String::as_str)
    }

    /// All that the built-in pack can say, as the build wrote it: for its words.
    pub fn built_in_texts() -> impl Iterator<Item = &'static str> {
        std::iter::once(EN).chain(prose_table::PROSE.iter().map(|(_, text)| *text))
    }

    /// Prose fields (`means`, `title`, `links`, …) of an item.
    pub fn prose(&self, table: &str, id: &str) -> Option<&ProseTable> {
        if let Some(found) = self.user_prose.get(&(table.to_owned(), id.to_owned())) {
            return Some(found);
        }
        self.prose.get(table)?.item(id)
    }

    /// One prose field in one language.
    pub fn prose_text(&self, table: &str, id: &str, field: &str, zh: bool) -> Option<&str> {
        let value = self.prose(table, id)?.get(field)?;
        let text =
            |language: &str| value.get(language).and_then(serde_json::Value::as_str).filter(|text| !text.is_empty());
        if zh { text("zh").or_else(|| text("en")) } else { text("en") }
    }

    /// One prose field that is a list of texts, or one text.
    pub fn prose_list(&self, table: &str, id: &str, field: &str) -> Vec<&str> {
        match self.prose(table, id).and_then(|prose| prose.get(field)) {
            Some(serde_json::Value::Array(items)) => items.iter().filter_map(serde_json::Value::as_str).collect(),
            Some(serde_json::Value::String(text)) => vec![text],
            _ => Vec::new(),
        }
    }
}

fn info(head: &PackHead, from: &str) -> PackInfo {
    PackInfo { id: head.id.clone(), version: head.version.clone(), from: from.to_owned(), overrides: Vec::new() }
}

#[derive(Default)]
struct Layers {
    file: PackFile,
    infos: Vec<PackInfo>,
    sentences: BTreeMap<String, Prose>,
    user_prose: BTreeMap<(String, String), ProseTable>,
    /// Where the rules of user packs come from, by id.
    origins: BTreeMap<String, SourceText>,
}

/// The program has a sentence of this id.
fn is_built_in_sentence(id: &str) -> bool {
    static IDS: OnceLock<BTreeMap<String, serde::de::IgnoredAny>> = OnceLock::new();
    IDS.get_or_init(|| serde_json::from_str(EN).unwrap_or_default()).contains_key(id)
}

impl Layers {
    fn built_in() -> Self {
        let head = Packs::built_in_head();
        let file: PackFile = serde_json::from_str(CORE).expect("built-in packs are checked by a test");
        Self { file, infos: vec![info(&head, "built-in")], ..Self::default() }
    }

    /// Left out rules would be the least specific ones, which are those that every log needs: so the whole pack is.
    fn have_room_for(&self, pack: &PackSource) -> bool {
        let more: usize = pack.files.iter().map(|source| source.file.message.len()).sum();
        self.file.message.len() + more <= RULES_LIMIT
    }

    fn add(&mut self, pack: &PackSource) {
        let over_built_in = !self.infos.is_empty();
        let mut info = info(&pack.head, &pack.folder.display().to_string());
        for source in &pack.files {
            for item in &source.items {
                if item.table == "message" || item.table == "oom_phrase" {
                    self.origins.insert(item.id(), source.source.clone());
                }
                self.user_prose.insert((item.table.clone(), item.id()), item.fields.clone());
            }
            let mut file = source.file.clone();
            for sentence in std::mem::take(&mut file.sentence) {
                if (over_built_in && is_built_in_sentence(&sentence.id)) || self.sentences.contains_key(&sentence.id) {
                    info.overrides.push(sentence.id.clone());
                }
                self.sentences.insert(sentence.id, Prose { en: sentence.en, zh: sentence.zh });
            }
            self.file.lay(file, &mut info.overrides);
        }
        self.infos.push(info);
    }

    /// The message rules, compiled; what could not be is left out and told.
    fn rules(&self, faults: &mut Vec<(String, RuleError)>) -> Vec<Rule> {
        let mut rules = Vec::with_capacity(self.file.message.len());
        let mut regexes = 0;
        let shared: Vec<&SignDef> = self.file.sign.iter().filter(|sign| sign.of == SignOf::SharedArea).collect();
        let mut areas: BTreeMap<&str, bool> = BTreeMap::new();
        for def in &self.file.message {
            let rule = Rule::compile(def).and_then(|rule| {
                // Those of the built-in pack are held by a test; whoever wrote another one wants to know.
                let is_checked = def.regex && self.origins.contains_key(&def.id) && regexes < REGEX_CHECKS;
                regexes += usize::from(is_checked);
                if is_checked { rule.check_regex().map(|()| rule) } else { Ok(rule) }
            });
            match rule {
                Ok(mut rule) => {
                    // Areas are few, and signs take their time.
                    rule.is_shared = match areas.get(&*def.area) {
                        Some(is_shared) => *is_shared,
                        None => {
                            let is_shared = shared.iter().any(|sign| sign.fits(&def.area));
                            areas.insert(&*def.area, is_shared);
                            is_shared
                        }
                    };
                    rules.push(rule);
                }
                Err(error) => faults.push((def.id.clone(), error)),
            }
        }
        rules
    }

    fn compile(self, problems: &mut Vec<PackError>) -> Packs {
        let mut faults = Vec::new();
        let rules = self.rules(&mut faults);
        let (matcher, refused) = Matcher::new(rules);
        faults.extend(refused);
        let mut oom_phrases = Vec::new();
        for def in &self.file.oom_phrase {
            match Template::parse(&def.text) {
                Ok(template) => oom_phrases.push(OomPhrase { template, sum: def.sum }),
                Err(error) => faults.push((def.id.clone(), RuleError::Template(error))),
            }
        }
        problems.extend(faults.iter().take(PROBLEMS_LIMIT).map(|(id, error)| self.rule_error(id, error)));
        if let Some((id, _)) = faults.get(PROBLEMS_LIMIT) {
            let path = self.origin(id).path;
            problems.push(PackError::More { path, count: faults.len() - PROBLEMS_LIMIT });
        }
        let mut precedence = self.file.precedence;
        precedence.sort_by_key(|row| row.rank);
        for row in precedence.iter_mut().filter(|row| row.verdicts.is_empty()) {
            row.verdicts = Verdict::of_rank(row.rank);
        }
        Packs {
            matcher,
            oom_phrases,
            bugs: self.file.bug,
            nodes: self.file.node,
            flags: self.file.flag,
            releases: self.file.release,
            defaults: self.file.default,
            aimdo: self.file.aimdo,
            classes: self.file.class,
            verdicts: self.file.verdict,
            precedence,
            remedies: self.file.remedy,
            avoids: self.file.avoid,
            launchers: self.file.launcher,
            forms: self.file.form,
            signs: self.file.sign,
            mentions: self.file.mention,
            causes: self.file.cause,
            packages: self.file.package,
            answers: self.file.answer,
            inputs: self.file.input,
            node_types: self.file.node_types,
            stages: {
                let mut stages = self.file.stage;
                stages.sort_by_key(|stage| stage.order);
                stages
            },
            places: self.file.place,
            infos: self.infos,
            sentences: self.sentences,
            user_prose: self.user_prose,
            prose: prose_table::all(),
            english: OnceLock::new(),
            chinese: OnceLock::new(),
        }
    }

    /// The file that a rule comes from.
    fn origin(&self, id: &str) -> SourceText {
        let built_in = || SourceText::new("built-in".to_owned(), Arc::default());
        self.origins.get(id).cloned().unwrap_or_else(built_in)
    }

    fn rule_error(&self, id: &str, error: &RuleError) -> PackError {
        let SourceText { path, text, .. } = self.origin(id);
        let at = text.find(&format!("\"{id}\"")).map(|at| SourceSpan::from(at..at + id.len() + 2));
        let (text, id) = (NamedSource::new(&path, text), id.to_owned());
        match error {
            RuleError::Regex(reason) => PackError::Regex { path, id, reason: last_line(reason), text, at },
            _ => PackError::Rule { path, id, reason: error.to_string(), text, at },
        }
    }
}

/// What is wrong with a regex, without the drawing of where.
fn last_line(reason: &str) -> String {
    let line = reason.lines().last().unwrap_or(reason);
    line.strip_prefix("error: ").unwrap_or(line).trim_end_matches('.').to_owned()
}
