//! The comparison itself: each rule is looked for in the sources, each text of the memory files among the rules.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::literal::{Call, literals};
use super::shape::{Shape, likeness};
use super::tree::Tree;
use super::verified::{Expectation, LookupOutcome, Reason, RuleRow, UnknownText, Verified};
use crate::catalog::{MessageDef, Since, Version, VersionSpan};

/// Share of a rule's letters that must stand in a source text.
const FOUND: f64 = 0.8;
/// The same where the rest is put in while the program runs, from words that stand in the same file.
const COMPOSED: f64 = 0.2;
/// Likeness of words from which on a new text looks like a reworded old one: in the same file, in another.
const REWORDED: (f64, f64) = (0.45, 0.7);
/// Written letters below which a text proves nothing outside of its own file.
const WEIGHT: usize = 6;
/// Areas whose sources are searched for texts that no rule knows.
const MEMORY_AREAS: [&str; 9] =
    ["memory-baseline", "load", "unload", "leak", "oom", "pin", "cache", "dynamic-vram", "offload"];

/// Rules of those areas from which on a file is one of the memory files.
const MEMORY_RULES: usize = 3;

/// A line of a text in the sources.
struct Place<'t> {
    path: &'t str,
    line: usize,
    call: Call,
    function: String,
    shape: Shape,
    words: BTreeSet<String>,
    /// Number of the text it belongs to.
    literal: usize,
}

struct Sources<'t> {
    places: Vec<Place<'t>>,
    by_word: HashMap<String, Vec<usize>>,
    by_file: BTreeMap<&'t str, Vec<usize>>,
    words_of_file: BTreeMap<&'t str, BTreeSet<String>>,
    folders: BTreeSet<&'t str>,
    literals: usize,
}

/// A rule with its text in the form of the sources.
struct Known<'d> {
    def: &'d MessageDef,
    shapes: Vec<Shape>,
    words: BTreeSet<String>,
}

/// Compares the rules with the tree, which is taken to be of `version`.
pub fn verify(tree: &Tree, version: Version, rules: &[MessageDef]) -> Verified {
    let sources = Sources::of(tree);
    let known: Vec<Known<'_>> = rules.iter().map(Known::of).collect();
    let mut rows = Vec::new();
    let mut elsewhere: BTreeMap<String, usize> = BTreeMap::new();
    for rule in &known {
        match sources.own_file(&rule.def.source) {
            Ok(path) => rows.push(row(rule, &path, version, &sources)),
            Err(package) => *elsewhere.entry(package).or_default() += 1,
        }
    }
    let mut candidates = candidates(&sources, &known);
    pair(&mut rows, &mut candidates, &known);
    // Errors are raised everywhere; only one that takes the place of a known text is of interest.
    candidates.retain(|candidate| candidate.call != Call::Raise || candidate.replaces.is_some());
    Verified {
        tree: tree.name.clone(),
        version,
        files: tree.files.len(),
        texts: sources.literals,
        rows,
        elsewhere,
        candidates,
    }
}

impl<'d> Known<'d> {
    fn of(def: &'d MessageDef) -> Self {
        let shapes: Vec<Shape> = if def.regex {
            def.matches.iter().map(|line| Shape::of_line(line)).collect()
        } else {
            vec![Shape::of_template(&def.text, def.open)]
        };
        let words = shapes.first().map(Shape::words).unwrap_or_default();
        Self { def, shapes, words }
    }
}

impl<'t> Sources<'t> {
    fn of(tree: &'t Tree) -> Self {
        let mut sources = Self {
            places: Vec::new(),
            by_word: HashMap::new(),
            by_file: BTreeMap::new(),
            words_of_file: BTreeMap::new(),
            folders: tree.files.keys().filter_map(|path| path.split_once('/').map(|(folder, _)| folder)).collect(),
            literals: 0,
        };
        for (path, text) in &tree.files {
            for literal in literals(text) {
                sources.literals += 1;
                for shape in Shape::of_literal(&literal) {
                    sources.add(path, literal.line, literal.call, literal.function.clone(), shape);
                }
            }
        }
        sources
    }

    fn add(&mut self, path: &'t str, line: usize, call: Call, function: String, shape: Shape) {
        let number = self.places.len();
        let words = shape.words();
        for word in &words {
            self.by_word.entry(word.clone()).or_default().push(number);
        }
        self.by_file.entry(path).or_default().push(number);
        self.words_of_file.entry(path).or_default().extend(words.iter().cloned());
        self.places.push(Place { path, line, call, function, shape, words, literal: self.literals });
    }

    /// The file of this tree's project that a rule names as its source, or whose text it is instead.
    fn own_file(&self, source: &str) -> Result<String, String> {
        let name = source.split([':', ',', '(']).next().unwrap_or_default().trim();
        let folder = name.split_once('/').map(|(folder, _)| folder);
        let own = name.ends_with(".py")
            && !name.contains(' ')
            && folder.is_none_or(|folder| self.folders.contains(folder) || self.is_project_folder(folder));
        if own { Ok(name.to_owned()) } else { Err(folder.unwrap_or(name).trim().to_owned()) }
    }

    /// Folders that ComfyUI has in some version; an old tree lacks the newer ones.
    fn is_project_folder(&self, folder: &str) -> bool {
        folder == "app" || folder == "utils" || folder.starts_with("comfy_") || folder == "api_server"
    }

    /// Numbers of the places that have enough words of a rule.
    fn with_words(&self, words: &BTreeSet<String>) -> Vec<usize> {
        let mut hits: HashMap<usize, usize> = HashMap::new();
        for number in words.iter().filter_map(|word| self.by_word.get(word)).flatten() {
            *hits.entry(*number).or_default() += 1;
        }
        hits.into_iter().filter(|(_, count)| count * 5 >= words.len() * 3).map(|(number, _)| number).collect()
    }
}

fn row(rule: &Known<'_>, path: &str, version: Version, sources: &Sources<'_>) -> RuleRow {
    let def = rule.def;
    RuleRow {
        id: def.id.clone(),
        area: def.area.clone(),
        source: def.source.clone(),
        since: def.since,
        until: def.until.clone(),
        expectation: expectation(def, version),
        outcome: look(rule, path, version, sources),
    }
}

fn expectation(def: &MessageDef, version: Version) -> Expectation {
    let until = def.until.as_deref();
    let last = until.and_then(Version::parse);
    let holds = until != Some("pre-0.0.1") && VersionSpan::exactly(version).overlaps(def.since, last);
    match (holds, def.since) {
        (false, _) => Expectation::OtherVersion,
        (true, Since::Unknown) => Expectation::Undated,
        (true, _) => Expectation::Expected,
    }
}

// Long: one search that goes from the nearest place to the farthest.
fn look(rule: &Known<'_>, path: &str, version: Version, sources: &Sources<'_>) -> LookupOutcome {
    let expected = expectation(rule.def, version);
    let here = sources.by_file.get(path).map_or(&[][..], Vec::as_slice);
    let mut numbers: BTreeSet<usize> = here.iter().copied().collect();
    let weight = rule.shapes.iter().map(Shape::weight).max().unwrap_or(0);
    // A short text stands in many files; for another version's only its own counts.
    if weight >= if expected == Expectation::OtherVersion { WEIGHT * 3 } else { WEIGHT } {
        numbers.extend(sources.with_words(&rule.words));
    }
    let mut best: Option<(f64, bool, &Place<'_>)> = None;
    let mut piece: Option<&Place<'_>> = None;
    for place in numbers.iter().filter_map(|number| sources.places.get(*number)) {
        let own = place.path == path;
        let fits = rule.shapes.iter().filter_map(|shape| shape.fit(&place.shape));
        let fit = fits.reduce(|a, b| if b.first > a.first { b } else { a });
        let part = rule.shapes.iter().any(|shape| place.shape.is_piece_of(shape));
        let skeleton = place.call.speaks() && fit.is_some_and(|fit| fit.first >= COMPOSED && fit.second >= 0.99);
        if own && (part || skeleton) {
            piece = piece.or(Some(place));
        }
        let Some(share) = fit.map(|fit| fit.first) else { continue };
        // Another version's text may differ in what is filled in only.
        let same_holes = rule.shapes.iter().any(|shape| shape.holes() == place.shape.holes());
        let exact = same_holes && fit.is_some_and(|fit| fit.second >= 0.99);
        if expected == Expectation::OtherVersion && !exact {
            continue;
        }
        let better = best.is_none_or(|(other, other_own, _)| {
            (own && share >= COMPOSED, share) > (other_own && other >= COMPOSED, other)
        });
        if better || best.is_some_and(|(other, _, _)| share >= FOUND && other < FOUND) {
            best = Some((share, own, place));
        }
    }
    let at = |place: &Place<'_>| (place.path.to_owned(), place.line);
    if let Some((_, _, place)) = best.filter(|(share, _, _)| *share >= FOUND) {
        let (path, line) = at(place);
        return LookupOutcome::Found { path, line };
    }
    let in_file = sources.words_of_file.get(path);
    let all_words = in_file.is_some_and(|words| rule.words.iter().all(|word| words.contains(word)));
    if expected == Expectation::OtherVersion {
        return LookupOutcome::Missing { reason: Reason::NotThere };
    }
    let pieced = match (best, piece) {
        (Some((share, true, place)), _) if all_words && (share >= COMPOSED || rule.words.is_empty()) => Some(place),
        (_, piece) => piece,
    };
    if let Some(place) = pieced {
        let (path, line) = at(place);
        return LookupOutcome::Composed { path, line };
    }
    // A pattern cannot be looked for in a source; where the function that prints it is there, it stands for it.
    let function = rule.def.source.split_once(':').map(|(_, function)| function);
    let printed = here
        .iter()
        .filter_map(|number| sources.places.get(*number))
        .find(|place| Some(place.function.as_str()) == function);
    if let Some(place) = printed.filter(|_| rule.def.regex) {
        let (path, line) = at(place);
        return LookupOutcome::Composed { path, line };
    }
    let reason = if in_file.is_none() {
        Reason::NoFile { path: path.to_owned() }
    } else if all_words && !rule.words.is_empty() {
        Reason::Composed
    } else {
        Reason::NotThere
    };
    LookupOutcome::Missing { reason }
}

fn candidates(sources: &Sources<'_>, known: &[Known<'_>]) -> Vec<UnknownText> {
    let mut files: BTreeMap<&str, usize> = BTreeMap::new();
    for rule in known.iter().filter(|rule| MEMORY_AREAS.contains(&rule.def.area.as_str())) {
        *files.entry(rule.def.source.split(':').next().unwrap_or_default()).or_default() += 1;
    }
    files.retain(|_, rules| *rules >= MEMORY_RULES);
    let mut found: Vec<UnknownText> = Vec::new();
    let mut told = BTreeSet::new();
    for place in &sources.places {
        let sentence = place.words.len() >= 2 || place.shape.holes() > 0;
        let wanted = place.call.speaks() && files.contains_key(place.path) && place.shape.weight() >= 4 && sentence;
        if !wanted || is_known(place, known) || !told.insert(place.literal) {
            continue;
        }
        let near = known.iter().map(|rule| (rule, likeness(&rule.words, &place.words)));
        let nearest = near.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, alike)| *alike >= 0.3);
        found.push(UnknownText {
            path: place.path.to_owned(),
            line: place.line,
            function: place.function.clone(),
            call: place.call,
            text: place.shape.to_string(),
            nearest: nearest.map(|(rule, alike)| (rule.def.id.clone(), (alike * 100.0).round() / 100.0)),
            replaces: None,
            shape: place.shape.clone(),
        });
    }
    found
}

fn is_known(place: &Place<'_>, known: &[Known<'_>]) -> bool {
    known.iter().any(|rule| {
        let shared = rule.words.intersection(&place.words).count();
        let near = shared * 2 >= rule.words.len().min(place.words.len().max(1));
        near && rule.shapes.iter().any(|shape| {
            shape
                .fit(&place.shape)
                .is_some_and(|fit| (shape.weight() >= 4 && fit.first >= FOUND) || fit.second >= FOUND)
        })
    })
}

/// Gives each missing text of this version the new one that looks most like it, best pairs first.
fn pair(rows: &mut [RuleRow], candidates: &mut [UnknownText], known: &[Known<'_>]) {
    let words: HashMap<&str, &BTreeSet<String>> =
        known.iter().map(|rule| (rule.def.id.as_str(), &rule.words)).collect();
    let mut pairs = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let missing = matches!(row.outcome, LookupOutcome::Missing { .. }) && row.expectation == Expectation::Expected;
        let Some(own) = words.get(row.id.as_str()).filter(|_| missing) else { continue };
        for (other, candidate) in candidates.iter().enumerate() {
            let same_file = row.source.split(':').next() == Some(candidate.path.as_str());
            let alike = likeness(own, &candidate.shape.words());
            if alike >= if same_file { REWORDED.0 } else { REWORDED.1 } {
                let same_function = row.source.ends_with(&format!(":{}", candidate.function));
                pairs.push((alike + if same_function { 0.1 } else { 0.0 }, number, other));
            }
        }
    }
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, number, other) in pairs {
        let (Some(row), Some(candidate)) = (rows.get_mut(number), candidates.get_mut(other)) else { continue };
        let free = candidate.replaces.is_none()
            && !matches!(row.outcome, LookupOutcome::Missing { reason: Reason::Reworded { .. } });
        if free {
            candidate.replaces = Some(row.id.clone());
            row.outcome = LookupOutcome::Missing {
                reason: Reason::Reworded {
                    path: candidate.path.clone(),
                    line: candidate.line,
                    text: candidate.text.clone(),
                },
            };
        }
    }
}
