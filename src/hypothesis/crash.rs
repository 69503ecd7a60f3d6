//! Native crashes: what kind, in whose code, at which point of the work, and what was switched on.
//!
//! The suspect is the innermost library that is not only passed through, never the outermost node pack: calls pass
//! through many packs on their way into a library.

use crate::catalog::messages::Messages;
use crate::catalog::{SignDef, SignOf, Verdict};
use crate::hypothesis::context::{Context, Gpu};
use crate::hypothesis::finding::{Basis, Candidate, EvidenceReport, Figure, Finding, Grade, Status};
use crate::hypothesis::finding_builder::{FindingBuilder, evidence, told};
use crate::timeline::{CrashFrame, CrashStack, Ending, EndingKind};

/// A crash of native code whose library is not known.
pub const CRASH: &str = "native-crash";
/// The same before ComfyUI had started.
pub const CRASH_AT_START: &str = "native-crash-at-start";
/// Windows gives its status as a number beyond what a shell gives for signals.
const SHELL_CODES: std::ops::RangeInclusive<i64> = -64..=255;

/// Where the process crashed.
enum Suspect<'v, 'p> {
    /// A known library.
    Library(&'p SignDef, &'v CrashFrame),
    /// A library that the crash's own line names.
    Named(&'p SignDef),
    /// A package that is not known.
    Package(String, &'v CrashFrame),
    /// Code of a node pack.
    Pack(String, &'v CrashFrame),
    /// Code of ComfyUI, or the innermost frame where all are only passed through.
    Place(&'v CrashFrame),
    Nowhere,
}

impl<'v> Suspect<'v, '_> {
    fn frame(&self) -> Option<&'v CrashFrame> {
        match self {
            Self::Library(_, frame) | Self::Package(_, frame) | Self::Pack(_, frame) | Self::Place(frame) => {
                Some(frame)
            }
            Self::Named(_) | Self::Nowhere => None,
        }
    }
}

/// The crash with which this start ended.
pub fn examine(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let ending = view.ending().filter(|ending| ending.kind == EndingKind::NativeCrash)?;
    let stack = view.session.crash_stack.as_ref();
    let suspect = suspect(ending, stack, messages);
    let starting = is_start(view, messages, stack);
    let (status, grade, reason) = trust(ending);
    let about = about(&suspect, starting);
    let kind = kind(view, ending, messages);
    let mut summary = summary(&suspect, &kind, starting, messages);
    if !starting {
        summary = with_moment(summary, Some(ending), messages);
    }
    let importing = importing(stack, messages).filter(|_| starting && !matches!(suspect, Suspect::Pack(..)));
    if let Some((dir, _)) = &importing {
        summary.push_str(if messages.zh { "" } else { " " });
        summary.push_str(&messages.text("crash-importing", &[("dir", dir)]));
    }
    let mut draft = match &suspect {
        Suspect::Pack(dir, frame) => FindingBuilder::new(Verdict::CustomNode, view.number, Status::Likely, summary)
            .about(dir)
            .grade(Grade::Moderate, messages.text("grade-node-crash", &[]))
            .candidates(vec![candidate(dir, frame, messages)]),
        _ => FindingBuilder::new(Verdict::OtherError, view.number, status, summary)
            .about(&about)
            .grade(grade, messages.text(reason, &[])),
    };
    if matches!(suspect, Suspect::Place(_)) {
        draft = draft.settle(messages.text("settle-crash-known", &[]));
    }
    let figures = surroundings(view, messages);
    let candidates = importing.map(|(dir, frame)| candidate(&dir, frame, messages)).into_iter().collect();
    let draft = draft.candidates(candidates).figures(figures).in_prompt(view.session.current_prompt());
    Some(Finding { crash: true, ..draft.because(lines(ending, &suspect, stack, messages)) })
}

/// Circumstances of a crash by which remedies are chosen.
pub fn tags(view: &Context<'_>, messages: &Messages<'_>, finding: &Finding, add: &mut impl FnMut(&str, bool)) {
    for sign in messages.packs.signs_of(SignOf::Switch).filter(|sign| view.shows(sign)) {
        add(&sign.is, true);
    }
    let makers = [(Gpu::Nvidia, "nvidia"), (Gpu::Amd, "amd"), (Gpu::Intel, "intel"), (Gpu::Apple, "apple")];
    for (maker, tag) in makers {
        add(tag, view.gpu == maker);
    }
    add("gpu-unknown", view.gpu == Gpu::Unknown);
    add("crash-report", view.session.crash_stack.is_some());
    let flight = view.ending().and_then(|ending| ending.in_flight.as_ref()).and_then(|flight| flight.class.as_deref());
    add(
        "vae-at-work",
        flight.is_some_and(|class| crate::hypothesis::classes::kind(messages.packs, class) == Some("vae")),
    );
    add("at-start", finding.crash && is_start(view, messages, view.session.crash_stack.as_ref()));
    add("import-pack", finding.crash && finding.id == Verdict::OtherError && !finding.candidates.is_empty());
    add("loader-pack", finding.candidates.iter().any(|pack| messages.packs.shows(SignOf::LoaderPack, &pack.dir)));
}

/// The crash happened while ComfyUI started: modules were being imported, or nothing had been asked of it.
fn is_start(view: &Context<'_>, messages: &Messages<'_>, stack: Option<&CrashStack>) -> bool {
    let session = view.session;
    let importing = |stack: &CrashStack| stack.frames.iter().any(|frame| frame.function.starts_with("<module"));
    let told = |line: &str| messages.packs.signs_of(SignOf::StartEnd).any(|sign| sign.fits(line));
    let begun = !session.facts.is_empty() || crate::hypothesis::context::fault_lines(session).any(told);
    session.server_ready.is_none() && !session.has_work() && stack.map_or(begun, importing)
}

fn suspect<'v, 'p>(ending: &Ending, stack: Option<&'v CrashStack>, messages: &Messages<'p>) -> Suspect<'v, 'p> {
    let library = |text: &str| messages.packs.signs_of(SignOf::Library).find(|sign| sign.fits(text));
    let passed = |text: &str| messages.packs.shows(SignOf::PassedLibrary, text);
    let told = ending.crash.as_ref().and_then(|at| library(&crate::timeline::plain_path(&at.text)));
    let Some(stack) = stack else { return told.map_or(Suspect::Nowhere, Suspect::Named) };
    if let Some((sign, frame)) = stack.native.iter().find_map(|frame| Some((library(&frame.text())?, frame))) {
        return Suspect::Library(sign, frame);
    }
    for frame in &stack.frames {
        let text = frame.text();
        if let Some(sign) = library(&text) {
            return Suspect::Library(sign, frame);
        }
        if passed(&text) {
            continue;
        }
        return match (pack_of(frame, messages), package_of(frame, messages)) {
            (Some(dir), _) => Suspect::Pack(dir, frame),
            (None, Some(package)) => Suspect::Package(package, frame),
            (None, None) => Suspect::Place(frame),
        };
    }
    stack.frames.first().or_else(|| stack.native.first()).map_or(Suspect::Nowhere, Suspect::Place)
}

/// The folder of the node pack to which the file belongs.
fn pack_of(frame: &CrashFrame, messages: &Messages<'_>) -> Option<String> {
    let mut folders = frame.file.split('/');
    folders.find(|folder| messages.packs.node_folders().any(|name| name == *folder))?;
    folders.next().filter(|dir| !messages.packs.is_own_folder(dir)).map(str::to_owned)
}

/// The installed package to which the file belongs.
fn package_of(frame: &CrashFrame, messages: &Messages<'_>) -> Option<String> {
    let mut folders = frame.file.split('/');
    folders.find(|folder| messages.packs.shows(SignOf::LibraryFolder, folder))?;
    folders.next().map(str::to_owned)
}

fn about(suspect: &Suspect<'_, '_>, starting: bool) -> String {
    match suspect {
        Suspect::Library(sign, _) | Suspect::Named(sign) => sign.is.clone(),
        Suspect::Package(..) => "crash-package".to_owned(),
        _ if starting => CRASH_AT_START.to_owned(),
        _ => CRASH.to_owned(),
    }
}

/// What a Unix shell gives for a signal is plain; Windows gives its codes for more than one reason, but an access
/// violation is one whoever tells it.
fn trust(ending: &Ending) -> (Status, Grade, &'static str) {
    match ending.crash {
        Some(_) => (Status::Confirmed, Grade::Strong, "grade-crash"),
        None if ending.exit_elsewhere && ending.in_flight.is_some() => {
            (Status::Possible, Grade::Weak, "grade-crash-signal")
        }
        None => (Status::Likely, Grade::Moderate, "grade-crash-signal"),
    }
}

/// What kind of crash it was, in words and with its code.
fn kind(view: &Context<'_>, ending: &Ending, messages: &Messages<'_>) -> String {
    let code = ending.exit_code.map(|code| match SHELL_CODES.contains(&code) {
        true => code.to_string(),
        false => format!("0x{:08X}", code as u32),
    });
    let line = ending.crash.as_ref().map(|at| at.text.as_str());
    let of = |text: &str| messages.packs.signs_of(SignOf::CrashKind).find(|sign| sign.fits(text));
    let named = code.as_deref().and_then(of).or_else(|| line.and_then(of));
    let name = named.map(|sign| messages.text(&sign.says, &[]));
    let shown = match (ending.exit_code, &code) {
        (Some(number), Some(code)) if *code != number.to_string() => {
            Some(messages.text("crash-code-both", &[("code", &number.to_string()), ("status", code)]))
        }
        (Some(number), _) => Some(messages.text("crash-code-one", &[("code", &number.to_string())])),
        _ => None,
    };
    let heading =
        ending.crash.as_ref().map(|at| at.place) != view.session.crash_stack.as_ref().map(|stack| stack.at.place);
    if name.is_none() && shown.is_none() && !heading {
        return messages.text("kind-report", &[]);
    }
    let parts: Vec<String> = [name, shown].into_iter().flatten().collect();
    match parts.is_empty() {
        true => crate::text::cut_chars(line.unwrap_or_default(), 80),
        false => parts.join(if messages.zh { "，" } else { ", " }),
    }
}

fn summary(suspect: &Suspect<'_, '_>, kind: &str, starting: bool, messages: &Messages<'_>) -> String {
    let frame = suspect.frame().map(short_frame).unwrap_or_default();
    let (key, name) = match suspect {
        Suspect::Library(sign, _) => ("crash-in-library", messages.text(&sign.says, &[])),
        Suspect::Named(sign) => ("crash-in-named", messages.text(&sign.says, &[])),
        Suspect::Package(package, _) => ("crash-in-library", messages.text("library-package", &[("package", package)])),
        Suspect::Pack(dir, _) => ("crash-in-pack", dir.clone()),
        Suspect::Place(_) => ("crash-in-frame", String::new()),
        Suspect::Nowhere => ("crash-nowhere", String::new()),
    };
    let place = messages.text(key, &[("library", &name), ("frame", &frame)]);
    messages.text(if starting { "crash-start" } else { "crash-work" }, &[("kind", kind), ("place", &place)])
}

/// The sentence, with the point of the work at which it happened where the log ends there.
pub fn with_moment(summary: String, ending: Option<&Ending>, messages: &Messages<'_>) -> String {
    match ending.and_then(|ending| moment(ending, messages)) {
        Some(moment) if messages.zh => format!("{summary}{moment}"),
        Some(moment) => format!("{summary} {moment}"),
        None => summary,
    }
}

/// The node pack that was being imported, by the innermost of its frames.
fn importing<'v>(stack: Option<&'v CrashStack>, messages: &Messages<'_>) -> Option<(String, &'v CrashFrame)> {
    stack?.frames.iter().find_map(|frame| Some((pack_of(frame, messages)?, frame)))
}

/// At which point of the work it happened.
fn moment(ending: &Ending, messages: &Messages<'_>) -> Option<String> {
    let flight = ending.in_flight.as_ref()?;
    let class = flight.class.as_deref();
    let total = flight.step.map(|(_, total)| total.to_string()).unwrap_or_default();
    let done = flight.step.map(|(done, _)| done.to_string()).unwrap_or_default();
    let sampled_steps = flight.sampled.map(|steps| steps.to_string()).unwrap_or_default();
    let next = flight.step.map(|(done, _)| (done + 1).to_string()).unwrap_or_default();
    let values = [
        ("class", class.unwrap_or_default()),
        ("total", &total),
        ("done", &done),
        ("next", &next),
        ("sampled", &sampled_steps),
    ];
    let vae = class.is_some_and(|class| crate::hypothesis::classes::kind(messages.packs, class) == Some("vae"));
    let sampled = flight.sampled.is_some();
    let key = match (class, flight.step) {
        (Some(_), Some((0, _))) => "crash-before-step",
        (None, Some((0, _))) => "crash-before-step-alone",
        (_, Some(_)) => "crash-in-step",
        (Some(_), None) if vae && sampled => "crash-vae-after-steps",
        (Some(_), None) => "crash-with-class",
        (None, None) => return None,
    };
    Some(messages.text(key, &values))
}

/// The card, and what was switched on: what a maintainer asks for first.
pub fn surroundings(view: &Context<'_>, messages: &Messages<'_>) -> Vec<Figure> {
    [card(view, messages), switched_on(view, messages)].into_iter().flatten().collect()
}

fn card(view: &Context<'_>, messages: &Messages<'_>) -> Option<Figure> {
    let device = view.session.fact("device")?;
    let name = device.value.as_text()?.rsplit_once(" : ").map_or(device.value.as_text()?, |(name, _)| name);
    let name = name.split_once(' ').map_or(name, |(_, name)| name);
    let arch = view.session.fact("gpu_arch");
    let text = match arch.and_then(|fact| fact.value.as_text()) {
        Some(arch) => messages.text("figure-card-arch", &[("card", name), ("arch", arch)]),
        None => messages.text("figure-card", &[("card", name)]),
    };
    let lines = [Some(device), arch].into_iter().flatten().map(|fact| fact.at.place.line).collect();
    Some(told("card", text, Basis::Measured, lines))
}

/// What was switched on in this start, as the log tells it.
fn switched_on(view: &Context<'_>, messages: &Messages<'_>) -> Option<Figure> {
    let shown: Vec<&SignDef> = messages.packs.signs_of(SignOf::Switch).filter(|sign| view.shows(sign)).collect();
    if shown.is_empty() {
        return None;
    }
    let names: Vec<String> = shown.iter().map(|sign| messages.text(&sign.says, &[])).collect();
    let mut lines: Vec<u64> =
        shown.iter().filter_map(|sign| view.session.fact(&sign.fact)).map(|fact| fact.at.place.line).collect();
    lines.sort_unstable();
    lines.dedup();
    let list = names.join(if messages.zh { "、" } else { ", " });
    Some(told("switched-on", messages.text("figure-switched-on", &[("list", &list)]), Basis::Measured, lines))
}

fn lines(
    ending: &Ending,
    suspect: &Suspect<'_, '_>,
    stack: Option<&CrashStack>,
    messages: &Messages<'_>,
) -> Vec<EvidenceReport> {
    let mut lines: Vec<EvidenceReport> = ending.crash.iter().map(|at| evidence(at, None)).collect();
    if ending.crash.is_none() {
        lines.extend(ending.at.iter().map(|at| evidence(at, None)));
    }
    let innermost = stack.and_then(|stack| stack.native.first().or_else(|| stack.frames.first()));
    let mut frames: Vec<(&CrashFrame, &str)> = Vec::new();
    frames.extend(suspect.frame().map(|frame| (frame, "remark-crash-suspect")));
    frames.extend(innermost.map(|frame| (frame, "remark-crash-frame")));
    for (frame, remark) in frames {
        if !lines.iter().any(|line| line.at.line == frame.at.place.line) {
            lines.push(evidence(&frame.at, Some(messages.text(remark, &[]))));
        }
    }
    if let Some(exit) = &ending.exit_at
        && !lines.iter().any(|line| line.at.line == exit.place.line)
    {
        lines.push(evidence(exit, None));
    }
    lines
}

fn candidate(dir: &str, frame: &CrashFrame, messages: &Messages<'_>) -> Candidate {
    Candidate {
        dir: dir.to_owned(),
        why: "traceback".to_owned(),
        reason: messages.text("candidate-passed", &[]),
        at: Some(crate::hypothesis::finding_builder::place(&frame.at.place, None)),
    }
}

/// The last parts of a frame's path, which name the package.
fn short_frame(frame: &CrashFrame) -> String {
    let text = frame.text();
    let (path, rest) = text.split_at(frame.file.len());
    let parts: Vec<&str> = path.rsplitn(4, '/').take(3).collect();
    format!("{}{rest}", parts.into_iter().rev().collect::<Vec<_>>().join("/"))
}
