//! Since when, and until when, ComfyUI could print a text: all releases of repositories, in one pass.
//!
//! Each Python file of each release is read once, however many releases have it. What a text's first version is
//! does not depend on the file or the function in which it stands: a text that moves keeps its age.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use rayon::prelude::*;

use super::git::Repository;
use super::literal::literals;
use super::shape::Shape;
use super::tree::{TreeError, is_wanted, version_in};
use crate::catalog::{MessageDef, Since, Version};

/// Share of both texts' letters that must be the same.
const SAME: f64 = 0.93;
/// Written letters below which a text is found everywhere.
const WEIGHT: usize = 6;
/// Of the commits before the first numbered release, one in so many is read.
const STRIDE: usize = 10;
/// The first numbered release. A repository without its tag cannot say what is older.
const FIRST: Version = Version::new(0, 0, 1);
/// Files that hold the version, the one that wins first.
const VERSION_FILES: [&str; 2] = ["comfyui_version.py", "pyproject.toml"];

/// A state of the sources: a release, or a commit from before the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Age {
    BeforeNumbers,
    Release(Version),
}

impl From<Age> for Since {
    fn from(age: Age) -> Self {
        match age {
            Age::BeforeNumbers => Since::BeforeNumbers,
            Age::Release(version) => Since::At(version),
        }
    }
}

/// The texts of all releases.
#[derive(Debug, Default)]
pub struct History {
    /// Releases that were read.
    pub releases: BTreeSet<Version>,
    /// Different Python files that were read.
    pub files: usize,
    texts: Vec<Text>,
    by_word: HashMap<String, Vec<usize>>,
}

#[derive(Debug)]
struct Text {
    shape: Shape,
    first: Age,
    last: Age,
}

/// The oldest and the newest state that has a text.
pub type Range = (Age, Age);

/// What the history says of one rule.
#[derive(Debug)]
pub struct Dated<'d> {
    pub rule: &'d MessageDef,
    /// Texts with as many places to fill in as the rule has.
    pub exact: Option<Range>,
    /// All texts that print such a line: one may fill in what another writes out.
    pub alike: Option<Range>,
}

impl Dated<'_> {
    fn ranges(&self) -> impl Iterator<Item = Range> {
        self.exact.into_iter().chain(self.alike)
    }

    /// Some release has the text as one text.
    pub fn is_found(&self) -> bool {
        self.alike.is_some()
    }

    /// The rule's first version is not one that the sources show.
    pub fn since_differs(&self) -> bool {
        self.is_found() && self.ranges().all(|(first, _)| Since::from(first) != self.rule.since)
    }

    /// The rule's last version is not one that the sources show; `newest` is the newest release read.
    pub fn until_differs(&self, newest: Version) -> bool {
        let said = self.rule.until.as_deref();
        let version = said.and_then(Version::parse);
        self.is_found()
            && self.ranges().all(|(_, last)| match last {
                Age::BeforeNumbers => said != Some("pre-0.0.1"),
                Age::Release(last) if last == newest => version.is_some_and(|version| version < newest),
                Age::Release(last) => version != Some(last),
            })
    }
}

/// Reads all releases of the repositories: their tags `v1.2.3`, and the first commit of each version that
/// `comfyui_version.py` or `pyproject.toml` names.
pub fn read_history(repositories: &[&Path]) -> Result<History, TreeError> {
    let mut history = History::default();
    let mut texts: HashMap<Shape, Range> = HashMap::new();
    for path in repositories {
        let repository = Repository::at(path);
        let states = states(&repository)?;
        history.releases.extend(states.iter().filter_map(|(age, _)| match age {
            Age::Release(version) => Some(*version),
            Age::BeforeNumbers => None,
        }));
        let mut ages: BTreeMap<String, Range> = BTreeMap::new();
        for (age, commit) in &states {
            for (path, object) in repository.files(commit)? {
                if is_wanted(&path) && path.ends_with(".py") {
                    let range = ages.entry(object).or_insert((*age, *age));
                    *range = (range.0.min(*age), range.1.max(*age));
                }
            }
        }
        history.files += ages.len();
        let ages: Vec<(String, Range)> = ages.into_iter().collect();
        for some in ages.chunks(500) {
            let contents = repository.contents(some.iter().map(|(object, _)| object.as_str()))?;
            let found: Vec<(Vec<Shape>, Range)> = contents
                .par_iter()
                .zip(some)
                .map(|(content, (_, range))| {
                    let literals = literals(content);
                    (
                        literals.iter().flat_map(Shape::of_literal).filter(|shape| shape.weight() >= WEIGHT).collect(),
                        *range,
                    )
                })
                .collect();
            for (shapes, (first, last)) in found {
                for shape in shapes {
                    let range = texts.entry(shape).or_insert((first, last));
                    *range = (range.0.min(first), range.1.max(last));
                }
            }
        }
    }
    for (shape, (first, last)) in texts {
        for word in shape.words() {
            history.by_word.entry(word).or_default().push(history.texts.len());
        }
        history.texts.push(Text { shape, first, last });
    }
    Ok(history)
}

/// The states to read, with their commits: oldest first.
fn states(repository: &Repository<'_>) -> Result<Vec<(Age, String)>, TreeError> {
    let mut releases: BTreeMap<Version, String> = BTreeMap::new();
    let mut tags = repository.lines(&["tag", "--list", "v[0-9]*"])?;
    tags.retain(|tag| tag.get(1..).is_some_and(|rest| rest.split('.').count() == 3 && rest.split('.').all(is_number)));
    let names: Vec<String> = tags.iter().map(|tag| format!("{tag}:{}", VERSION_FILES[0])).collect();
    for (tag, content) in tags.into_iter().zip(repository.contents(names.iter().map(String::as_str))?) {
        // Tags such as v0.1.1111 were tries; their sources name another version.
        let named = version_in(&BTreeMap::from([(VERSION_FILES[0].to_owned(), content)]));
        if let Some(version) = Version::parse(&tag).filter(|version| named.is_none_or(|named| named == *version)) {
            releases.insert(version, tag);
        }
    }
    for file in VERSION_FILES {
        let commits = repository.lines(&["log", "--first-parent", "--reverse", "--format=%H", "--", file])?;
        let names: Vec<String> = commits.iter().map(|commit| format!("{commit}:{file}")).collect();
        let contents = repository.contents(names.iter().map(String::as_str))?;
        for (commit, content) in commits.into_iter().zip(contents) {
            let files = BTreeMap::from([(file.to_owned(), content)]);
            if let Some(version) = version_in(&files) {
                releases.entry(version).or_insert(commit);
            }
        }
    }
    let mut states = Vec::new();
    if let Some(oldest) = releases.get(&FIRST) {
        let before = repository.lines(&["log", "--first-parent", "--format=%H", &format!("{oldest}^")])?;
        states.extend(before.into_iter().step_by(STRIDE).map(|commit| (Age::BeforeNumbers, commit)));
    }
    states.extend(releases.into_iter().map(|(version, commit)| (Age::Release(version), commit)));
    Ok(states)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl History {
    /// What the releases say of the rules whose texts ComfyUI's own files print.
    pub fn date<'d>(&self, rules: &'d [MessageDef]) -> Vec<Dated<'d>> {
        rules.par_iter().map(|rule| self.dated(rule)).collect()
    }

    fn dated<'d>(&self, rule: &'d MessageDef) -> Dated<'d> {
        let mut dated = Dated { rule, exact: None, alike: None };
        // The texts of other programs may look like one of ComfyUI's, and what is put together while it runs, or
        // matched by a pattern, cannot be looked for.
        let own = rule.source.split([':', ',', '(']).next().is_some_and(|file| file.trim_end().ends_with(".py"));
        if rule.regex || rule.composed || !own {
            return dated;
        }
        let wanted = Shape::of_template(&rule.text, rule.open);
        let words = wanted.words();
        let mut hits: HashMap<usize, usize> = HashMap::new();
        for number in words.iter().filter_map(|word| self.by_word.get(word)).flatten() {
            *hits.entry(*number).or_default() += 1;
        }
        let near = hits.into_iter().filter(|(_, count)| count * 5 >= words.len() * 3);
        for text in near.filter_map(|(number, _)| self.texts.get(number)) {
            let fit = wanted.fit(&text.shape);
            if fit.is_some_and(|fit| fit.first >= SAME && (rule.open || fit.second >= SAME)) {
                widen(&mut dated.alike, text);
                if rule.open || wanted.holes() == text.shape.holes() {
                    widen(&mut dated.exact, text);
                }
            }
        }
        dated
    }
}

fn widen(range: &mut Option<Range>, text: &Text) {
    let (first, last) = range.unwrap_or((text.first, text.last));
    *range = Some((first.min(text.first), last.max(text.last)));
}
