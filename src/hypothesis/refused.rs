//! Prompts that ComfyUI refused before they ran, outputs that it left out, and requests that it could not answer.

use super::Case;
use super::context::Context;
use super::finding::{Basis, Figure, Finding, Grade, Status};
use super::finding_builder::{FindingBuilder, counted, evidence, told};
use crate::catalog::Verdict;
use crate::catalog::messages::Messages;
use crate::timeline::Refusal;

/// Reasons that are shown.
const SHOWN: usize = 8;
/// Kinds of reasons, as the rules call them.
const MISSING_NODE: &str = "missing-node";
const NO_CLASS: &str = "no-class";
const NOT_IN_LIST: &str = "not-in-list";
const BAD_FILE: &str = "bad-file";
/// Endings of files that workflows name.
const FILES: [&str; 22] = [
    ".safetensors",
    ".sft",
    ".ckpt",
    ".pt",
    ".pth",
    ".bin",
    ".gguf",
    ".onnx",
    ".patch",
    ".png",
    ".jpg",
    ".jpeg",
    ".webp",
    ".gif",
    ".mp4",
    ".webm",
    ".mov",
    ".wav",
    ".mp3",
    ".flac",
    ".yaml",
    ".latent",
];

pub fn examine(case: &Case<'_>) -> Vec<Finding> {
    let (view, messages) = (case.view, case.messages);
    refused(view, messages).into_iter().chain(requests(view, messages)).collect()
}

/// Prompts that were refused, or outputs. Where node packs failed to import, that is why their nodes are not known.
fn refused(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let session = view.session;
    let at =
        session.invalid_at.as_ref().or(session.ignored_at.as_ref()).or(session.refusals.first().map(|one| &one.at))?;
    let import_failed = session.nodes.iter().any(|node| node.failed);
    if import_failed && session.refusals.iter().all(|refusal| matches!(refusal.kind.as_str(), MISSING_NODE | NO_CLASS))
    {
        return None;
    }
    let whole = session.invalid_at.is_some() || session.prompts.executed == 0;
    let mut reasons: Vec<&Refusal> = session.refusals.iter().filter(|one| one.output_only != whole).collect();
    if reasons.is_empty() {
        reasons = session.refusals.iter().collect();
    }
    reasons.sort_by_key(|refusal| rank(&refusal.kind));
    let summary = summary(view, &reasons, whole, messages);
    let later = session.last_executed.as_ref().is_some_and(|last| last.place > at.place);
    let mut lines: Vec<_> = reasons.iter().take(SHOWN).map(|one| evidence(&one.at, None)).collect();
    if lines.iter().all(|line| line.at.line != at.place.line) {
        lines.push(evidence(at, None));
    }
    let draft = FindingBuilder::new(Verdict::OtherError, view.number, Status::Confirmed, summary)
        .about("invalid-prompt")
        .grade(Grade::Strong, messages.text("grade-error-text", &[]))
        .in_prompt(session.current_prompt())
        .recovered(later)
        .figures(further(&reasons, messages))
        .circumstances(circumstances(&reasons))
        .values(values(view, &reasons, messages));
    let finding = draft.because(lines);
    // An output that was left out stopped nothing.
    Some(Finding { mentioned: !whole, ..finding })
}

/// What a maintainer would name first.
fn rank(kind: &str) -> usize {
    [MISSING_NODE, NO_CLASS, NOT_IN_LIST, BAD_FILE].iter().position(|known| *known == kind).unwrap_or(9)
}

fn summary(view: &Context<'_>, reasons: &[&Refusal], whole: bool, messages: &Messages<'_>) -> String {
    let prompts = view.session.prompts;
    let head = match whole {
        true if prompts.executed == 0 => messages.count("refused-one", "refused-all", prompts.invalid.max(1), &[]),
        true => messages.count(
            "refused-one",
            "refused-some",
            prompts.invalid,
            &[("all", &prompts.got.max(prompts.invalid).to_string())],
        ),
        false => messages.count("ignored-one", "ignored-many", prompts.ignored.max(1), &[]),
    };
    let head = match reasons.first().and_then(|reason| reason.output.as_deref()).filter(|_| !whole) {
        Some(output) => messages.text("ignored-output", &[("head", &head), ("output", output)]),
        None => head,
    };
    match reasons.first() {
        Some(reason) => messages.text("refused-because", &[("head", &head), ("why", &clause(reason, messages))]),
        None => messages.text("refused-no-reason", &[("head", &head)]),
    }
}

/// Node and number as people find it: `CheckpointLoaderSimple (node 252)`.
fn node(refusal: &Refusal, messages: &Messages<'_>) -> String {
    match (refusal.node_type.as_deref(), refusal.node_id.as_deref()) {
        (Some(node), Some(id)) => messages.text("node-and-id", &[("node", node), ("id", id)]),
        (Some(node), None) => node.to_owned(),
        (None, Some(id)) => messages.text("node-id", &[("id", id)]),
        (None, None) => messages.text("node-unknown", &[]),
    }
}

/// The value names a file.
fn is_file(value: &str) -> bool {
    let lower = value.to_lowercase();
    FILES.iter().any(|ending| lower.ends_with(ending))
}

/// The folder that the input takes its files from, below ComfyUI's.
fn folder<'p>(refusal: &Refusal, messages: &Messages<'p>) -> Option<&'p str> {
    let node = refusal.node_type.as_deref().unwrap_or_default();
    let input = refusal.input.as_deref()?;
    messages.packs.inputs.iter().find(|def| def.fits(node, input)).map(|def| def.folder.as_str())
}

/// One reason in a clause.
fn clause(refusal: &Refusal, messages: &Messages<'_>) -> String {
    let value = refusal.value.as_deref().unwrap_or_default();
    let input = refusal.input.as_deref().unwrap_or_default();
    let node = node(refusal, messages);
    let folder = folder(refusal, messages);
    let pack = refusal.node_type.as_deref().and_then(|node| messages.packs.pack_of(node));
    let key = match refusal.kind.as_str() {
        MISSING_NODE if pack.is_some() => "refusal-missing-node-pack",
        MISSING_NODE => "refusal-missing-node",
        NO_CLASS => "refusal-no-class",
        NOT_IN_LIST if refusal.list_is_empty() && is_file(value) => "refusal-empty-list",
        NOT_IN_LIST if is_file(value) && folder.is_some() => "refusal-no-file",
        NOT_IN_LIST if is_file(value) => "refusal-no-file-anywhere",
        NOT_IN_LIST => "refusal-no-choice",
        BAD_FILE => "refusal-bad-file",
        "missing-input" => "refusal-missing-input",
        "mismatch" => "refusal-mismatch",
        "no-outputs" => "refusal-no-outputs",
        _ => "refusal-other",
    };
    let folder = folder.unwrap_or_default();
    let text = refusal.at.text.as_str();
    let pack = pack.map_or("", |pack| pack.name.as_str());
    let values = [
        ("node", node.as_str()),
        ("value", value),
        ("input", input),
        ("folder", folder),
        ("text", text),
        ("pack", pack),
    ];
    messages.text(key, &values)
}

fn further(reasons: &[&Refusal], messages: &Messages<'_>) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    for reason in reasons.iter().skip(1).take(SHOWN) {
        figures.push(told(
            "refusal",
            messages.text("figure-refusal", &[("what", &clause(reason, messages))]),
            Basis::Measured,
            vec![reason.at.place.line],
        ));
    }
    figures
}

fn circumstances(reasons: &[&Refusal]) -> Vec<String> {
    let mut tags = Vec::new();
    for reason in reasons {
        let value = reason.value.as_deref().unwrap_or_default();
        let tag = match reason.kind.as_str() {
            MISSING_NODE => "missing-node",
            NO_CLASS => "no-class",
            NOT_IN_LIST if reason.list_is_empty() && is_file(value) => "empty-list",
            NOT_IN_LIST if is_file(value) => "missing-file",
            NOT_IN_LIST => "no-choice",
            BAD_FILE => "bad-file",
            "missing-input" | "mismatch" | "bad-link" => "bad-link",
            "no-outputs" => "no-outputs",
            _ => "bad-value",
        };
        tags.push(tag.to_owned());
    }
    tags
}

fn values(view: &Context<'_>, reasons: &[&Refusal], messages: &Messages<'_>) -> Vec<(String, String)> {
    let mut values: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            values.push((name.to_owned(), value));
        }
    };
    let first = reasons.first();
    add("node", first.and_then(|reason| reason.node_type.clone()));
    add("node_id", first.and_then(|reason| reason.node_id.clone()));
    add("at_node", first.map(|reason| node(reason, messages)));
    let types: Vec<&str> =
        unique(reasons.iter().filter(|one| one.kind == MISSING_NODE).filter_map(|one| one.node_type.as_deref()));
    let packs = unique(types.iter().filter_map(|node| Some(messages.packs.pack_of(node)?.name.as_str())));
    let all_known = types.iter().all(|node| messages.packs.pack_of(node).is_some());
    add("node_pack", packs.first().filter(|_| all_known && packs.len() == 1).map(|pack| (*pack).to_owned()));
    add("node_types", Some(types.join(&messages.text("list-comma", &[]))));
    let model = reasons.iter().find(|one| one.kind == NOT_IN_LIST && one.value.as_deref().is_some_and(is_file));
    let of_folder = |one: &&&Refusal| {
        one.kind == NOT_IN_LIST
            && one.value.as_deref().is_some_and(is_file)
            && model.is_some_and(|first| folder(first, messages) == folder(one, messages))
    };
    let files: Vec<&str> = unique(reasons.iter().filter(of_folder).filter_map(|one| one.value.as_deref()));
    add("files", Some(files.join(&messages.text("list-comma", &[]))));
    let below = model.and_then(|one| folder(one, messages));
    add(
        "folder",
        below.map(|folder| match view.session.text("install_path") {
            Some(root) if root.contains('\\') => {
                format!("{}\\{}", root.trim_end_matches('\\'), folder.replace('/', "\\"))
            }
            Some(root) => format!("{}/{folder}", root.trim_end_matches('/')),
            None => format!("ComfyUI/{folder}"),
        }),
    );
    add("input_file", reasons.iter().find(|one| one.kind == BAD_FILE).and_then(|one| one.value.clone()));
    add("input", first.and_then(|reason| reason.input.clone()));
    values
}

fn unique<'t>(items: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut list: Vec<&str> = Vec::new();
    for item in items {
        if !list.contains(&item) {
            list.push(item);
        }
    }
    list
}

/// Requests that the server could not answer. Prompts that came with them were not queued.
fn requests(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let failed = view.session.counts.requests_failed.as_ref()?;
    let lost = view.session.prompts.invalid > 0;
    let summary = messages.count("request-failed-one", "request-failed-many", failed.count, &[]);
    let after = view.session.last_executed.as_ref().is_some_and(|last| last.place > failed.first.place);
    let finding = FindingBuilder::new(Verdict::OtherError, view.number, Status::Likely, summary)
        .about("request-failed")
        .grade(Grade::Moderate, messages.text("grade-error-text", &[]))
        .recovered(after)
        .because(vec![counted(failed, None)]);
    Some(Finding { mentioned: !lost, ..finding })
}
