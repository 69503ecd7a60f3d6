//! All packs together: the built-in one, and those that the user laid over it.
//!
//! The built-in packs were turned into JSON when the program was built; folders are read as TOML. Both
//! become the same structs. A broken file or rule is reported and left out; the rest still works.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use miette::{Diagnostic, NamedSource, SourceSpan};
use serde::{Deserialize, Serialize};

use super::matcher::{Matcher, Rule, RuleError};
use super::schema::{
    AimdoDef, AvoidDef, BugDef, ClassDef, DefaultDef, FlagDef, MessageDef, NodeDef, OomPhraseDef, PackHead, PrecedenceDef,
    Prose, ReleaseDef, RemedyDef, SentenceDef, VerdictDef,
};
use super::template::Template;

/// Newest format of pack files that this program reads.
pub const FORMAT: u32 = 1;
/// A pack file larger than this is refused.
const FILE_LIMIT: u64 = 2 * 1024 * 1024;
/// A pack of more files than this is refused.
const FILES_LIMIT: usize = 500;

const HEAD: &str = include_str!(concat!(env!("OUT_DIR"), "/head.json"));
const CORE: &str = include_str!(concat!(env!("OUT_DIR"), "/core.json"));
const PROSE: &str = include_str!(concat!(env!("OUT_DIR"), "/prose.json"));
const EN: &str = include_str!(concat!(env!("OUT_DIR"), "/en.json"));
const ZH: &str = include_str!(concat!(env!("OUT_DIR"), "/zh.json"));

/// Everything that may stand in one pack file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PackFile {
    pub message: Vec<MessageDef>,
    pub oom_phrase: Vec<OomPhraseDef>,
    pub bug: Vec<BugDef>,
    pub node: Vec<NodeDef>,
    pub flag: Vec<FlagDef>,
    pub release: Vec<ReleaseDef>,
    pub default: Vec<DefaultDef>,
    pub aimdo: Vec<AimdoDef>,
    pub class: Vec<ClassDef>,
    pub verdict: Vec<VerdictDef>,
    pub precedence: Vec<PrecedenceDef>,
    pub remedy: Vec<RemedyDef>,
    pub avoid: Vec<AvoidDef>,
    pub sentence: Vec<SentenceDef>,
}

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

/// What is wrong with a pack, with the place in the user's file.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum PackError {
    #[error("cannot read the rule pack file {path}: {reason}")]
    #[diagnostic(code(rules::unreadable), help("check that the file exists and that you may read it"))]
    Unreadable { path: String, reason: String },
    #[error("{path} is larger than {limit} bytes")]
    #[diagnostic(code(rules::too_large), help("split the pack into several files"))]
    TooLarge { path: String, limit: u64 },
    #[error("{path} holds more than {limit} files")]
    #[diagnostic(code(rules::too_many_files), help("name the pack's own folder, not one above it"))]
    TooManyFiles { path: String, limit: usize },
    #[error("{path} is not a rule pack file: {message}")]
    #[diagnostic(code(rules::syntax), help("see docs/rule-format.md; `comfy-triage rules check` lists all faults of a pack"))]
    Syntax {
        path: String,
        message: String,
        #[source_code]
        text: NamedSource<String>,
        #[label("here")]
        at: Option<SourceSpan>,
    },
    #[error("{path}: rule `{id}` is not used: {reason}")]
    #[diagnostic(code(rules::rule), help("the rest of the pack is used; see docs/rule-format.md"))]
    Rule {
        path: String,
        id: String,
        reason: String,
        #[source_code]
        text: NamedSource<String>,
        #[label("this rule")]
        at: Option<SourceSpan>,
    },
    #[error("the pack in {path} is written in format {format}; this program reads up to format {FORMAT}")]
    #[diagnostic(code(rules::newer_format), help("update comfy-triage, or use an older version of the pack"))]
    NewerFormat { path: String, format: u32 },
    #[error("the folder {path} has no pack.toml, so it is no rule pack")]
    #[diagnostic(code(rules::no_head), help("name the folder that holds pack.toml; see docs/rule-format.md"))]
    NoHead { path: String },
}

/// Prose of one item, read on demand.
pub type ProseTable = serde_json::Map<String, serde_json::Value>;

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
    infos: Vec<PackInfo>,
    /// Sentences that user packs bring or replace.
    sentences: BTreeMap<String, Prose>,
    /// Prose of items from user packs, by table and id.
    user_prose: BTreeMap<(String, String), ProseTable>,
    prose: OnceLock<BTreeMap<String, ProseTable>>,
    english: OnceLock<BTreeMap<String, String>>,
    chinese: OnceLock<BTreeMap<String, String>>,
}

impl Packs {
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
        let head: PackHead = serde_json::from_str(HEAD).expect("built-in pack head is checked by a test");
        let file: PackFile = serde_json::from_str(CORE).expect("built-in packs are checked by a test");
        let mut layers = Layers { file, infos: vec![info(&head, "built-in")], ..Layers::default() };
        for folder in folders {
            match read_folder(folder) {
                Ok((head, files, mut faults)) => {
                    problems.append(&mut faults);
                    layers.add(&head, folder, files);
                }
                Err(error) => problems.push(*error),
            }
        }
        let packs = layers.compile(&mut problems);
        (packs, problems)
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

    /// Prose fields (`means`, `title`, `links`, …) of an item.
    pub fn prose(&self, table: &str, id: &str) -> Option<&ProseTable> {
        if let Some(found) = self.user_prose.get(&(table.to_owned(), id.to_owned())) {
            return Some(found);
        }
        let all = self.prose.get_or_init(|| serde_json::from_str(PROSE).unwrap_or_default());
        all.get(table)?.get(id)?.as_object()
    }

    /// One prose field in one language.
    pub fn prose_text(&self, table: &str, id: &str, field: &str, zh: bool) -> Option<&str> {
        let value = self.prose(table, id)?.get(field)?;
        let text = |language: &str| value.get(language).and_then(serde_json::Value::as_str).filter(|text| !text.is_empty());
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

/// A file of a user pack, kept for its spans.
struct SourceFile {
    path: String,
    text: String,
    file: PackFile,
    /// The same file as plain values, for prose.
    raw: serde_json::Value,
}

#[derive(Default)]
struct Layers {
    file: PackFile,
    infos: Vec<PackInfo>,
    sentences: BTreeMap<String, Prose>,
    user_prose: BTreeMap<(String, String), ProseTable>,
    /// Where the rules of user packs come from, by id.
    origins: BTreeMap<String, (String, String)>,
}

/// Replaces the items of `below` that have the same key, appends the others, tells which were replaced.
fn lay<T>(below: &mut Vec<T>, above: Vec<T>, key: impl Fn(&T) -> String, overrides: &mut Vec<String>) {
    for item in above {
        let id = key(&item);
        match below.iter_mut().find(|other| key(other) == id) {
            Some(slot) => {
                *slot = item;
                overrides.push(id);
            }
            None => below.push(item),
        }
    }
}

impl Layers {
    fn add(&mut self, head: &PackHead, folder: &Path, files: Vec<SourceFile>) {
        let mut overrides = Vec::new();
        for source in files {
            let SourceFile { path, text, file, raw } = source;
            for message in &file.message {
                self.origins.insert(message.id.clone(), (path.clone(), text.clone()));
            }
            self.keep_prose(&raw);
            let below = &mut self.file;
            lay(&mut below.message, file.message, |item| item.id.clone(), &mut overrides);
            lay(&mut below.oom_phrase, file.oom_phrase, |item| item.id.clone(), &mut overrides);
            lay(&mut below.bug, file.bug, |item| item.id.clone(), &mut overrides);
            lay(&mut below.node, file.node, |item| item.id.clone(), &mut overrides);
            lay(&mut below.flag, file.flag, |item| item.name.clone(), &mut overrides);
            lay(&mut below.release, file.release, |item| item.version.to_string(), &mut overrides);
            lay(&mut below.default, file.default, |item| item.id.clone(), &mut overrides);
            lay(&mut below.aimdo, file.aimdo, |item| item.key(), &mut overrides);
            lay(&mut below.class, file.class, |item| item.key(), &mut overrides);
            lay(&mut below.verdict, file.verdict, |item| item.id.clone(), &mut overrides);
            lay(&mut below.precedence, file.precedence, |item| item.rank.to_string(), &mut overrides);
            lay(&mut below.avoid, file.avoid, |item| item.id.clone(), &mut overrides);
            lay(&mut below.remedy, file.remedy, |item| item.id.clone(), &mut overrides);
            for sentence in file.sentence {
                self.sentences.insert(sentence.id, Prose { en: sentence.en, zh: sentence.zh });
            }
        }
        let mut info = info(head, &folder.display().to_string());
        info.overrides = overrides;
        self.infos.push(info);
    }

    fn keep_prose(&mut self, raw: &serde_json::Value) {
        let Some(tables) = raw.as_object() else { return };
        for (table, items) in tables {
            for item in items.as_array().into_iter().flatten() {
                let id = ["id", "name", "version", "pattern"].iter().find_map(|key| item.get(*key)?.as_str());
                if let (Some(id), Some(fields)) = (id, item.as_object()) {
                    self.user_prose.insert((table.clone(), id.to_owned()), fields.clone());
                }
            }
        }
    }

    fn compile(self, problems: &mut Vec<PackError>) -> Packs {
        let mut rules = Vec::with_capacity(self.file.message.len());
        for def in &self.file.message {
            match Rule::compile(def) {
                Ok(rule) => rules.push(rule),
                Err(error) => problems.push(self.rule_error(&def.id, &error)),
            }
        }
        let (matcher, refused) = Matcher::new(rules);
        for (id, error) in &refused {
            problems.push(self.rule_error(id, error));
        }
        let mut oom_phrases = Vec::new();
        for def in &self.file.oom_phrase {
            match Template::parse(&def.text) {
                Ok(template) => oom_phrases.push(OomPhrase { template, sum: def.sum }),
                Err(error) => problems.push(self.rule_error(&def.id, &RuleError::Template(error))),
            }
        }
        let mut precedence = self.file.precedence;
        precedence.sort_by_key(|row| row.rank);
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
            infos: self.infos,
            sentences: self.sentences,
            user_prose: self.user_prose,
            prose: OnceLock::new(),
            english: OnceLock::new(),
            chinese: OnceLock::new(),
        }
    }

    fn rule_error(&self, id: &str, error: &RuleError) -> PackError {
        let (path, text) = self.origins.get(id).cloned().unwrap_or_else(|| ("built-in".to_owned(), String::new()));
        let at = text.find(&format!("\"{id}\"")).map(|at| SourceSpan::from(at..at + id.len() + 2));
        PackError::Rule {
            text: NamedSource::new(&path, text),
            path,
            id: id.to_owned(),
            reason: error.to_string(),
            at,
        }
    }
}

type Folder = (PackHead, Vec<SourceFile>, Vec<PackError>);

fn read_folder(folder: &Path) -> Result<Folder, Box<PackError>> {
    let mut paths = Vec::new();
    list_toml(folder, folder, &mut paths)?;
    paths.sort();
    let head_path = folder.join("pack.toml");
    if !head_path.is_file() {
        return Err(Box::new(PackError::NoHead { path: folder.display().to_string() }));
    }
    let text = read_text(&head_path)?;
    let head: PackHead = toml::from_str(&text).map_err(|error| syntax(&head_path, &text, &error))?;
    if head.format > FORMAT {
        return Err(Box::new(PackError::NewerFormat { path: folder.display().to_string(), format: head.format }));
    }
    let mut files = Vec::new();
    let mut faults = Vec::new();
    for path in paths.iter().filter(|path| **path != head_path) {
        match read_file(path) {
            Ok(file) => files.push(file),
            Err(error) => faults.push(*error),
        }
    }
    Ok((head, files, faults))
}

fn read_file(path: &Path) -> Result<SourceFile, Box<PackError>> {
    let text = read_text(path)?;
    let file: PackFile = toml::from_str(&text).map_err(|error| syntax(path, &text, &error))?;
    let raw = toml::from_str::<toml::Value>(&text)
        .ok()
        .and_then(|value| serde_json::to_value(value).ok())
        .unwrap_or(serde_json::Value::Null);
    Ok(SourceFile { path: path.display().to_string(), text, file, raw })
}

fn syntax(path: &Path, text: &str, error: &toml::de::Error) -> Box<PackError> {
    let shown = path.display().to_string();
    Box::new(PackError::Syntax {
        message: error.message().to_owned(),
        text: NamedSource::new(&shown, text.to_owned()),
        path: shown,
        at: error.span().map(SourceSpan::from),
    })
}

fn read_text(path: &Path) -> Result<String, Box<PackError>> {
    let shown = || path.display().to_string();
    let unreadable = |error: std::io::Error| Box::new(PackError::Unreadable { path: shown(), reason: error.to_string() });
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > FILE_LIMIT {
        return Err(Box::new(PackError::TooLarge { path: shown(), limit: FILE_LIMIT }));
    }
    std::fs::read_to_string(path).map_err(unreadable)
}

fn list_toml(root: &Path, folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), Box<PackError>> {
    let unreadable =
        |error: std::io::Error| Box::new(PackError::Unreadable { path: folder.display().to_string(), reason: error.to_string() });
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let kind = entry.file_type().map_err(unreadable)?;
        let path = entry.path();
        if kind.is_dir() {
            list_toml(root, &path, paths)?;
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
            if paths.len() > FILES_LIMIT {
                return Err(Box::new(PackError::TooManyFiles { path: root.display().to_string(), limit: FILES_LIMIT }));
            }
        }
    }
    Ok(())
}
