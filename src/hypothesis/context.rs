//! A session seen as a whole: which version, system, card and flags it ran with, and what is only assumed.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::VersionReport;
use crate::catalog::messages::Messages;
use crate::catalog::{Constant, FlagDef, FlagRole, Packs, SignDef, SignOf, SignPlace, Since, Version, VersionSpan};
use crate::timeline::{Ending, Evidence, Flag, NodeFolder, Session, Timeline, UNNAMED};

/// Operating system of the machine that wrote the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Os {
    Windows,
    Linux,
    Wsl,
    MacOs,
    Unknown,
}

impl Os {
    /// By its name in the packs.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "windows" => Self::Windows,
            "linux" => Self::Linux,
            "wsl" => Self::Wsl,
            "macos" => Self::MacOs,
            _ => return None,
        })
    }
}

/// Maker of the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gpu {
    Nvidia,
    Amd,
    Intel,
    Apple,
    DirectMl,
    Cpu,
    Unknown,
}

impl Gpu {
    /// By its name in the packs.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "nvidia" => Self::Nvidia,
            "amd" => Self::Amd,
            "intel" => Self::Intel,
            "apple" => Self::Apple,
            "directml" => Self::DirectMl,
            "cpu" => Self::Cpu,
            _ => return None,
        })
    }
}

/// One session with what follows from its baseline.
#[derive(Debug)]
pub struct Context<'t> {
    pub session: &'t Session,
    /// Number from 1.
    pub number: usize,
    pub is_last: bool,
    pub timeline: &'t Timeline,
    pub span: VersionSpan,
    pub version: VersionReport,
    pub os: Os,
    pub gpu: Gpu,
    pub flags: BTreeSet<String>,
    /// The flags in use by what they are good for.
    pub asked: BTreeMap<FlagRole, &'t Flag>,
    /// Node packs that were loaded; what ships with ComfyUI is none.
    pub packs: Vec<&'t NodeFolder>,
    /// Dynamic VRAM: told by the log, or by the version's default (`false` in the second place then).
    pub dynamic_vram: Option<bool>,
    /// Limit of memory in MiB that is known from outside or from the log.
    pub limit_mib: Option<(f64, LimitSource)>,
}

/// Who told the memory limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitSource {
    /// `--memory-limit` or a probe.
    Given,
    /// ComfyUI's own cgroup line.
    CgroupLine,
    /// A line of the log, such as `docker run --memory`.
    Log,
}

impl<'t> Context<'t> {
    /// Looks at session `index` of `timeline`.
    pub fn of(
        timeline: &'t Timeline,
        index: usize,
        messages: &Messages<'_>,
        given_limit_mib: Option<f64>,
    ) -> Option<Self> {
        let session = timeline.sessions.get(index)?;
        let (span, version) = super::span::version_of(timeline, session, messages);
        let flags = session.flags.iter().map(|flag| flag.name.clone()).collect();
        let mut view = Self {
            session,
            number: session.number,
            is_last: index + 1 == timeline.sessions.len(),
            timeline,
            span,
            version,
            os: os_of(session, messages.packs),
            gpu: gpu_of(session, messages.packs),
            flags,
            asked: asked(session, messages.packs),
            packs: session
                .nodes
                .iter()
                .filter(|node| !node.failed && !messages.packs.is_own_folder(&node.dir))
                .collect(),
            dynamic_vram: session.flag_fact("dynamic_vram"),
            limit_mib: None,
        };
        view.limit_mib = view.limit(given_limit_mib);
        if view.dynamic_vram.is_none() && !session.dynamic.is_empty() {
            view.dynamic_vram = Some(true);
        }
        Some(view)
    }

    fn limit(&self, given: Option<f64>) -> Option<(f64, LimitSource)> {
        if let Some(mib) = given {
            return Some((mib, LimitSource::Given));
        }
        if let Some(mib) = self.session.number("cgroup_limit_mib") {
            return Some((mib, LimitSource::CgroupLine));
        }
        self.session.container_limit_mib.as_ref().map(|(mib, _)| (*mib, LimitSource::Log))
    }

    /// How this start of ComfyUI ended.
    pub fn ending(&self) -> Option<&'t Ending> {
        self.session.ending.as_ref()
    }

    /// RAM that ComfyUI saw, in MiB.
    pub fn ram_mib(&self) -> Option<f64> {
        self.session.number("total_ram_mib").filter(|mib| *mib > 0.0)
    }

    /// The card's memory in MiB. DirectML's 1024 is a placeholder and no fact.
    pub fn vram_mib(&self) -> Option<f64> {
        let placeholder = self.gpu == Gpu::DirectMl;
        self.session.number("total_vram_mib").filter(|mib| *mib > 0.0 && !placeholder)
    }

    /// The flag stands on the command line that the log shows.
    pub fn uses(&self, flag: &str) -> bool {
        let (name, value) = flag.split_once(' ').map_or((flag, None), |(name, value)| (name, Some(value)));
        match (self.session.flag(name), value) {
            (Some(seen), Some(value)) => seen.values.iter().any(|known| known == value),
            (Some(_), None) => true,
            (None, _) => false,
        }
    }

    /// The flag for `role` stands on the command line that the log shows.
    pub fn asks(&self, role: FlagRole) -> Option<&'t Flag> {
        self.asked.get(&role).copied()
    }

    /// Every version that this log can be from has the flag.
    pub fn has_flag(&self, flag: &FlagDef) -> bool {
        let since_ok = match flag.since {
            Since::BeforeNumbers => true,
            Since::At(since) => self.span.at_least(since),
            Since::Unknown => false,
        };
        let until_ok = match flag.until {
            None => true,
            Some(until) => self.span.exact.map_or_else(
                || {
                    self.span
                        .before
                        .is_some_and(|before| before <= Version::new(until.major, until.minor, until.patch + 1))
                },
                |exact| exact <= until,
            ),
        };
        since_ok && until_ok
    }

    /// A fact equals a pack's constant.
    pub fn fact_is(&self, name: &str, constant: &Constant) -> Option<bool> {
        let session = self.session;
        Some(match constant {
            Constant::Bool(value) => {
                let known = if name == "dynamic_vram" { self.dynamic_vram } else { session.flag_fact(name) };
                known? == *value
            }
            Constant::Number(value) => session.number(name)? == *value,
            Constant::Text(value) => session.text(name)?.eq_ignore_ascii_case(value),
        })
    }

    /// Custom nodes were off, and none was kept.
    pub fn nodes_off(&self) -> bool {
        self.session.nodes_disabled.is_some() && self.session.nodes_skipped.is_empty()
            || self.asks(FlagRole::NodesOff).is_some() && self.asks(FlagRole::NodesKept).is_none()
    }

    /// Folders that are not ComfyUI's own.
    pub fn packs_loaded(&self) -> impl Iterator<Item = &'t NodeFolder> + use<'t, '_> {
        self.packs.iter().copied()
    }

    /// The fact that the sign looks at is told, and fits.
    pub fn shows(&self, sign: &SignDef) -> bool {
        shows(self.session, sign)
    }

    /// The node pack is in the import table.
    pub fn has_node(&self, dirs: &[String]) -> bool {
        self.session.nodes.iter().any(|node| dirs.iter().any(|dir| same_dir(dir, &node.dir)))
    }

    /// Something shows that this ran in a container.
    pub fn in_container(&self) -> Option<&'t Evidence> {
        self.session.container_hints.first()
    }

    /// The line that told how much of a class went on the card.
    pub fn load_line(&self, class: &str) -> Option<&'t Evidence> {
        match class {
            UNNAMED => self.session.unnamed_load.as_ref(),
            _ => self.session.loads.get(class)?.size_at.as_ref(),
        }
    }

    /// MiB of the weights that one prompt needed, by its load lines: the most of any prompt. What different workflows
    /// load one after another is not all in memory together.
    pub fn loaded_mib(&self) -> f64 {
        let session = self.session;
        let size = |class: &String| match session.dynamic.get(class) {
            Some(dynamic) => dynamic.staged_mib,
            None => session
                .loads
                .get(class)
                .map_or(0.0, |load| load.last_mib.unwrap_or(0.0) + load.last_offloaded_mib.unwrap_or(0.0)),
        };
        let of_prompt = |prompt: &crate::timeline::Prompt| -> f64 {
            let prepared = prompt.prepared.keys().filter(|class| !prompt.requested.contains_key(*class));
            prompt.requested.keys().chain(prepared).map(size).sum()
        };
        session.prompt_list.iter().map(of_prompt).fold(0.0, f64::max)
    }
}

fn asked<'t>(session: &'t Session, packs: &Packs) -> BTreeMap<FlagRole, &'t Flag> {
    let roles = |flag: &Flag| packs.flag(&flag.name).map(|def| def.roles.clone()).unwrap_or_default();
    // The first of two flags for the same thing counts, as with a flag that is given twice.
    session.flags.iter().rev().flat_map(|flag| roles(flag).into_iter().map(move |role| (role, flag))).collect()
}

/// Folder names are compared without case; `-` and `_` are the same, and a version behind `@` is left out.
pub fn same_dir(a: &str, b: &str) -> bool {
    let normal =
        |dir: &str| dir.split('@').next().unwrap_or(dir).trim_end_matches(".disabled").to_lowercase().replace('_', "-");
    normal(a) == normal(b)
}

/// The fact that the sign looks at is told, and fits.
fn shows(session: &Session, sign: &SignDef) -> bool {
    let with = sign.with.iter().all(|(name, text)| session.text(name) == Some(text));
    with && match (session.text(&sign.fact), session.flag_fact(&sign.fact)) {
        (Some(text), _) => sign.fits(text),
        (None, Some(value)) => sign.fits(if value { "true" } else { "false" }),
        // A number is told as well, where any value will do.
        (None, None) => session.fact(&sign.fact).is_some() && sign.fits(""),
    }
}

/// Lines that tell a crash, an exit code or a fault of the GPU, and native modules of a crash report.
pub fn fault_lines(session: &Session) -> impl Iterator<Item = &str> {
    let ending = session.ending.as_ref();
    let ends = ending.into_iter().flat_map(|ending| ending.crash.iter().chain(&ending.exit_at));
    let native = session.crash_stack.iter().flat_map(|stack| &stack.native).map(|frame| frame.file.as_str());
    let raised = session.exceptions.iter().map(|exception| exception.message.as_str());
    let full = session.ooms.iter().map(|oom| oom.at.text.as_str());
    ends.chain(&session.error_notices).map(|at| at.text.as_str()).chain(native).chain(raised).chain(full)
}

/// Files that tracebacks and crash reports name.
fn frame_paths(session: &Session) -> impl Iterator<Item = &str> {
    let raised = session.exceptions.iter().flat_map(|exception| exception.first_frame.iter().chain(&exception.frames));
    let crashed = session.crash_stack.iter().flat_map(|stack| &stack.frames).map(|frame| frame.file.as_str());
    raised.map(String::as_str).chain(crashed)
}

fn os_of(session: &Session, packs: &Packs) -> Os {
    let signs = |place: SignPlace| packs.signs_of(SignOf::Os).filter(move |sign| sign.place == place);
    let by = |place: SignPlace, text: &str| signs(place).find(|sign| sign.fits(text));
    let paths = ["install_path", "python_path", "user_dir", "log_path"].iter().filter_map(|name| session.text(name));
    let frames = session.exceptions.iter().flat_map(|exception| &exception.frames);
    let started = session.start.iter().flat_map(|start| [&start.first, &start.at]);
    let told = started.chain(&session.error_notices).chain(session.lone_errors.iter().map(|error| &error.at));
    // A path may stand anywhere in such a text.
    let in_texts = told.flat_map(|at| at.text.split([' ', '\'', '"', '(', '<'])).filter(|word| word.len() > 3);
    let paths = paths.chain(session.nodes.iter().map(|node| node.path.as_str()));
    let mut paths = paths.chain(frames.map(String::as_str)).chain(in_texts);
    let sign = signs(SignPlace::Fact).find(|sign| shows(session, sign));
    // The first path that shows a system counts: further ones may be of another machine.
    let sign = sign.or_else(|| paths.find_map(|path| by(SignPlace::Path, path)));
    let sign = sign.or_else(|| by(SignPlace::Line, session.text("launcher")?));
    let pause = session.ending.as_ref().and_then(|ending| ending.pause.as_ref());
    let sign = sign.or_else(|| by(SignPlace::Line, &pause?.text));
    let sign = sign.or_else(|| frame_paths(session).find_map(|path| by(SignPlace::Path, path)));
    let sign = sign.or_else(|| fault_lines(session).find_map(|line| by(SignPlace::Fault, line)));
    sign.and_then(|sign| Os::named(&sign.is)).unwrap_or(Os::Unknown)
}

fn gpu_of(session: &Session, packs: &Packs) -> Gpu {
    let at = |place: SignPlace| packs.signs_of(SignOf::Gpu).filter(move |sign| sign.place == place);
    let sign = at(SignPlace::Fact).find(|sign| shows(session, sign)).or_else(|| {
        let mut lines = fault_lines(session).chain(frame_paths(session));
        lines.find_map(|line| at(SignPlace::Fault).find(|sign| sign.fits(line)))
    });
    sign.and_then(|sign| Gpu::named(&sign.is)).unwrap_or(Gpu::Unknown)
}
