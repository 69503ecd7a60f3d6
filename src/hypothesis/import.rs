//! Imports that failed: of node packs, of their scripts and of ComfyUI's own nodes, gathered by what they lack.

use super::Case;
use super::cause::{Cause, Causes};
use super::context::{Context, same_dir};
use super::finding::{Basis, Candidate, EvidenceReport, Figure, Finding, Grade, Status};
use super::finding_builder::{FindingBuilder, evidence, place, told};
use crate::catalog::messages::Messages;
use crate::catalog::{SignOf, Verdict};
use crate::timeline::{Evidence, Exception, ExceptionPlace};

/// Packs named in one clause.
const NAMED: usize = 4;
/// Groups told in the summary.
const TOLD: usize = 3;
/// Lines shown as evidence.
const LINES: usize = 6;

/// One import that failed.
struct Failure<'t, 'p> {
    dir: &'t str,
    path: &'t str,
    reason: Option<&'t str>,
    library: Option<&'t str>,
    at: &'t Evidence,
    reason_at: Option<&'t Evidence>,
    is_own: bool,
    prestartup: bool,
    cause: Option<Cause<'p>>,
}

/// Failures that have one cause.
struct Group<'f, 't, 'p> {
    cause: Option<&'f Cause<'p>>,
    /// The reason as it stands in the log, where no cause is known.
    reason: Option<&'t str>,
    failures: Vec<&'f Failure<'t, 'p>>,
}

pub fn examine(case: &Case<'_>) -> Vec<Finding> {
    finding(case.view, case.messages).into_iter().collect()
}

fn finding(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let causes = Causes::of(messages.packs);
    let all = failures(view, messages, &causes);
    let harmful: Vec<&Failure<'_, '_>> = all.iter().filter(|failure| !is_harmless(failure)).collect();
    // Where nothing else failed, a folder that was skipped is all there is to tell.
    let shown: Vec<&Failure<'_, '_>> = if harmful.is_empty() { all.iter().collect() } else { harmful };
    let first = *shown.first()?;
    let groups = groups(&shown);
    let status = if is_harmless(first) { Status::Possible } else { Status::Confirmed };
    let mut figures = reasons(&shown, &groups, messages);
    figures.extend(harmless(&all, &shown, messages));
    figures.extend(user_site(&shown, messages));
    figures.extend(numpy(view, &groups, messages));
    let draft = FindingBuilder::new(Verdict::ImportFailure, view.number, status, summary(&shown, &groups, messages))
        .about(first.dir)
        .grade(Grade::Certain, messages.text("grade-import", &[]))
        .figures(figures)
        .candidates(candidates(&shown, messages))
        .circumstances(circumstances(&groups, &shown, messages))
        .values(values(&groups, &shown, messages));
    Some(draft.because(lines(&shown)))
}

/// Folders whose import is known to have failed: what is raised there while they are imported is told by it.
pub fn tells(exception: &Exception, view: &Context<'_>, messages: &Messages<'_>) -> bool {
    let cut = exception.kind.is_none() && exception.message.is_empty() && exception.dirs.is_empty();
    if cut && !exception.in_execution && view.session.nodes.iter().any(|node| node.failed) {
        return true;
    }
    at_import(exception)
        && exception.dirs.first().is_some_and(|dir| {
            !messages.packs.is_own_folder(dir)
                && (view.session.nodes.iter().any(|node| node.failed && same_dir(&node.dir, dir))
                    || cut_off(exception, view, dir))
        })
}

/// A module's own code ran in a pack's folder, and no prompt: the pack was being imported.
fn at_import(exception: &Exception) -> bool {
    exception.in_module && !exception.in_execution && exception.place != ExceptionPlace::Prompt
}

/// The traceback of an import whose message is not in this log, nor a row that says that it went well.
fn cut_off(exception: &Exception, view: &Context<'_>, dir: &str) -> bool {
    let imported =
        view.session.nodes.iter().any(|node| same_dir(&node.dir, dir) && !node.failed && node.seconds.is_some());
    exception.kind.is_some() && !imported
}

fn failures<'t, 'p>(view: &Context<'t>, messages: &Messages<'p>, causes: &Causes<'p>) -> Vec<Failure<'t, 'p>> {
    let session = view.session;
    let mut all: Vec<Failure<'t, 'p>> = Vec::new();
    for node in session.nodes.iter().filter(|node| node.failed) {
        let reason = node.reason.as_deref();
        // A traceback that stands elsewhere may be all that tells the reason.
        let told = session.exceptions.iter().find(|exception| {
            at_import(exception)
                && exception.kind.is_some()
                && exception.dirs.first().is_some_and(|dir| same_dir(dir, &node.dir))
        });
        let told = told.filter(|_| reason.is_none());
        let library = node.library.as_deref().or_else(|| told?.library.as_deref());
        let reason = reason.or_else(|| told.map(|exception| exception.message.as_str()));
        all.push(Failure {
            dir: &node.dir,
            path: &node.path,
            reason,
            library,
            at: &node.at,
            reason_at: node.reason_at.as_ref().or_else(|| told?.last_line_at.as_ref()),
            is_own: node.is_own,
            prestartup: node.prestartup,
            cause: reason.and_then(|reason| causes.find(reason, library)),
        });
    }
    for exception in &session.exceptions {
        let Some(dir) = exception.dirs.first() else { continue };
        let known = all.iter().any(|failure| same_dir(failure.dir, dir)) || messages.packs.is_own_folder(dir);
        let by_user = super::failure::stopped_by_user(exception, messages);
        if by_user || known || !at_import(exception) || !cut_off(exception, view, dir) || exception.is_oom {
            continue;
        }
        let reason = exception.message.as_str();
        let at = exception.last_line_at.as_ref().unwrap_or(&exception.at);
        all.push(Failure {
            dir,
            path: "",
            reason: Some(reason),
            library: exception.library.as_deref(),
            at,
            reason_at: Some(at),
            is_own: false,
            prestartup: false,
            cause: causes.find(reason, exception.library.as_deref()),
        });
    }
    all
}

fn is_harmless(failure: &Failure<'_, '_>) -> bool {
    failure.cause.as_ref().is_some_and(|cause| cause.def.harmless)
}

/// Failures of one cause together, those of ComfyUI's own nodes apart; the largest group first.
fn groups<'f, 't, 'p>(shown: &[&'f Failure<'t, 'p>]) -> Vec<Group<'f, 't, 'p>> {
    let mut groups: Vec<Group<'f, 't, 'p>> = Vec::new();
    for failure in shown {
        let same = |group: &&mut Group<'f, 't, 'p>| {
            let one = group.failures.first().is_some_and(|first| first.is_own == failure.is_own);
            one && match (group.cause, &failure.cause) {
                (Some(cause), Some(own)) => cause.key() == own.key(),
                (None, None) => group.reason == failure.reason,
                _ => false,
            }
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.failures.push(failure),
            None => {
                groups.push(Group { cause: failure.cause.as_ref(), reason: failure.reason, failures: vec![failure] })
            }
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse((group.failures.len(), group.cause.is_some())));
    groups
}

/// The folders of a group, or how many more there are.
fn named(failures: &[&Failure<'_, '_>], messages: &Messages<'_>) -> String {
    let comma = messages.text("list-comma", &[]);
    let names: Vec<&str> = failures.iter().take(NAMED).map(|failure| failure.dir).collect();
    let list = names.join(&comma);
    match failures.len().checked_sub(NAMED).filter(|more| *more > 0) {
        Some(more) => messages.text("list-more", &[("list", &list), ("n", &more.to_string())]),
        None => list,
    }
}

fn why(group: &Group<'_, '_, '_>, messages: &Messages<'_>) -> Option<String> {
    match group.cause {
        Some(cause) => Some(cause.says(messages)),
        None => group.reason.map(|reason| crate::text::cut_chars(reason, 160)),
    }
}

fn summary(shown: &[&Failure<'_, '_>], groups: &[Group<'_, '_, '_>], messages: &Messages<'_>) -> String {
    // What begins with a dot is hidden on purpose; nobody made a node pack of it.
    if shown.iter().all(|failure| failure.dir.starts_with('.')) {
        return messages.text("import-hidden", &[("dirs", &named(shown, messages))]);
    }
    let number = shown.len() as u64;
    let own = shown.iter().all(|failure| failure.is_own);
    let (one, many) = match own {
        true => ("import-own-one", "import-own-many"),
        false if shown.iter().all(|failure| failure.prestartup) => ("import-prestartup", "import-many"),
        false => ("import-one", "import-many"),
    };
    let clauses: Vec<String> = groups
        .iter()
        .filter_map(|group| Some((group, why(group, messages)?)))
        .take(TOLD)
        .map(|(group, why)| match groups.len() {
            1 => why,
            _ => messages.text("import-clause", &[("dirs", &named(&group.failures, messages)), ("why", &why)]),
        })
        .collect();
    let dirs = named(shown, messages);
    if clauses.is_empty() {
        return messages.count(one, many, number, &[("dirs", &dirs)]);
    }
    let why = clauses.join(&messages.text("list-semicolon", &[]));
    if groups.len() > 1 {
        let told = groups.iter().filter(|group| self::why(group, messages).is_some()).count();
        let more = told.saturating_sub(clauses.len()) as u64;
        let why = match more {
            0 => why,
            _ => messages.count("list-more-cause", "list-more-causes", more, &[("list", &why)]),
        };

        return messages.count("import-many-why", "import-many-why", number, &[("why", &why)]);
    }
    let key = format!("{}-why", if number == 1 { one } else { many });
    messages.count(&key, &key, number, &[("dirs", &dirs), ("why", &why)])
}

/// The reason of each pack that the summary does not tell, or that it stands above what was pasted.
fn reasons(shown: &[&Failure<'_, '_>], groups: &[Group<'_, '_, '_>], messages: &Messages<'_>) -> Vec<Figure> {
    let mut figures = Vec::new();
    for failure in shown.iter().take(LINES) {
        let Some(reason) = failure.reason else { continue };
        let told_already = groups.len() == 1 && groups.iter().all(|group| group.cause.is_none());
        if !told_already {
            let text = messages.text("figure-import-reason", &[("dir", failure.dir), ("reason", reason)]);
            figures.push(told(
                "reason",
                text,
                Basis::Measured,
                vec![failure.reason_at.unwrap_or(failure.at).place.line],
            ));
        }
    }
    let silent: Vec<&Failure<'_, '_>> = shown.iter().filter(|failure| failure.reason.is_none()).copied().collect();
    if let Some(first) = silent.first() {
        let text = messages.text("figure-import-no-reason", &[("dirs", &named(&silent, messages))]);
        figures.push(told("reason", text, Basis::Unknown, vec![first.at.place.line]));
    }
    figures
}

/// Folders that were skipped without harm, beside packs that failed.
fn harmless(all: &[Failure<'_, '_>], shown: &[&Failure<'_, '_>], messages: &Messages<'_>) -> Option<Figure> {
    let skipped: Vec<&Failure<'_, '_>> = all.iter().filter(|failure| is_harmless(failure)).collect();
    let first = skipped.first().filter(|_| shown.iter().all(|failure| !is_harmless(failure)))?;
    let text = messages.text("figure-import-harmless", &[("dirs", &named(&skipped, messages))]);
    Some(told("harmless", text, Basis::Measured, vec![first.reason_at.unwrap_or(first.at).place.line]))
}

/// A library that failed was taken from the user's own packages, beside those of ComfyUI's Python.
fn user_site(shown: &[&Failure<'_, '_>], messages: &Messages<'_>) -> Option<Figure> {
    let (failure, file) = shown.iter().find_map(|failure| {
        let texts = [failure.library, failure.reason];
        let file = texts.into_iter().flatten().find(|text| messages.packs.shows(SignOf::UserSite, text))?;
        Some((failure, file))
    })?;
    let library = failure.cause.as_ref().and_then(|cause| cause.library.clone()).unwrap_or_default();
    let text =
        messages.text("figure-user-site", &[("library", &library), ("path", &crate::text::cut_chars(file, 120))]);
    Some(told("user-site", text, Basis::Measured, vec![failure.reason_at.unwrap_or(failure.at).place.line]))
}

/// The NumPy that is installed, where binaries were built for another one.
fn numpy(view: &Context<'_>, groups: &[Group<'_, '_, '_>], messages: &Messages<'_>) -> Option<Figure> {
    groups.iter().find(|group| group.cause.is_some_and(|cause| cause.def.tag == "numpy-2"))?;
    let fact = view.session.fact("numpy_version")?;
    let text = messages.text("figure-numpy", &[("version", fact.value.as_text()?)]);
    Some(told("numpy", text, Basis::Measured, vec![fact.at.place.line]))
}

fn lines(shown: &[&Failure<'_, '_>]) -> Vec<EvidenceReport> {
    let mut lines = Vec::new();
    for failure in shown.iter().take(LINES) {
        if let Some(at) = failure.reason_at {
            lines.push(evidence(at, None));
        }
        if failure.reason_at.is_none_or(|at| at.place.line != failure.at.place.line) {
            lines.push(evidence(failure.at, None));
        }
    }
    lines
}

fn candidates(shown: &[&Failure<'_, '_>], messages: &Messages<'_>) -> Vec<Candidate> {
    let packs = shown.iter().filter(|failure| !failure.is_own).take(8);
    packs
        .map(|failure| Candidate {
            dir: failure.dir.to_owned(),
            why: "import".to_owned(),
            reason: messages.text("candidate-import", &[]),
            at: Some(place(&failure.at.place, None)),
        })
        .collect()
}

/// What remedies ask for in `when`.
fn circumstances(groups: &[Group<'_, '_, '_>], shown: &[&Failure<'_, '_>], messages: &Messages<'_>) -> Vec<String> {
    let mut tags: Vec<String> = groups.iter().filter_map(|group| Some(group.cause?.def.tag.clone())).collect();
    let mut add = |tag: &str, holds: bool| {
        if holds {
            tags.push(tag.to_owned());
        }
    };
    // A cause has a cure of its own; where none is known, the requirements are the likeliest.
    add("cause-unknown", groups.iter().any(|group| group.cause.is_none()));
    let helps = |group: &Group<'_, '_, '_>| group.cause.is_none_or(|cause| cause.def.requirements);
    add("requirements-help", groups.iter().any(helps));
    let file = |failure: &&&Failure<'_, '_>| failure.dir.ends_with(".py");
    add("single-file", shown.iter().filter(file).count() == shown.len());
    add("own-nodes", shown.iter().any(|failure| failure.is_own));
    add("user-site", user_site(shown, messages).is_some());
    add("no-reason", shown.iter().all(|failure| failure.reason.is_none()));
    tags
}

/// What stands for the placeholders of remedies.
fn values(groups: &[Group<'_, '_, '_>], shown: &[&Failure<'_, '_>], messages: &Messages<'_>) -> Vec<(String, String)> {
    let mut values: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        values.extend(value.filter(|value| !value.is_empty()).map(|value| (name.to_owned(), value)));
    };
    let mut packages: Vec<String> = groups.iter().filter_map(|group| group.cause?.pip(messages.packs)).collect();
    packages.sort_by_key(|package| !package.starts_with("--"));
    packages.dedup();
    add("packages", Some(packages.join(" ")));
    let modules: Vec<String> = groups.iter().filter_map(|group| group.cause?.module.clone()).collect();
    add("module", modules.first().cloned());
    add("library", groups.iter().find_map(|group| group.cause?.library.clone()));
    let pack = shown.iter().find(|failure| !failure.is_own);
    add("pack", pack.map(|failure| failure.dir.to_owned()));
    add("packs", Some(named(shown, messages)));
    let unknown =
        shown.iter().find(|failure| failure.cause.is_none() && !failure.is_own).or(pack.as_ref().map(|pack| *pack));
    let path = unknown.map(|failure| failure.path).filter(|path| path.contains(['/', '\\']) && !path.ends_with(".py"));
    add(
        "requirements",
        path.map(|path| {
            let slash = if path.contains('\\') { '\\' } else { '/' };
            format!("{}{slash}requirements.txt", path.trim_end_matches(['/', '\\']))
        }),
    );
    add("folder", path.map(str::to_owned));
    values
}
