//! How ComfyUI was started, as the log shows it, and how a flag is added there.
//!
//! Ways of starting are data (`rules/launchers.toml`); a command line in the log is used as it stands.

use crate::catalog::messages::Messages;
use crate::catalog::{LauncherDef, Packs, SignOf};
use crate::hypothesis::context::{Context, Os};
use crate::timeline::{Evidence, Flag};

/// The way of starting, and the line that shows it.
#[derive(Debug, Clone)]
pub struct Launch<'p> {
    pub def: &'p LauncherDef,
    /// Nothing when only the system is known, or nothing at all.
    pub at: Option<Evidence>,
    /// The command line as the log shows it, without redirections and pipes.
    line: Option<String>,
    /// Flags that the log shows, with their values.
    flags: Vec<String>,
}

impl<'p> Launch<'p> {
    /// Looks for the way in which this session was started. `None` when no pack lists any.
    pub fn of(view: &Context<'_>, packs: &'p Packs) -> Option<Self> {
        let session = view.session;
        let flags = session.flags.iter().map(Flag::written).collect();
        let shown = packs.launchers.iter().find_map(|def| signs(def, view).map(|at| (def, Some(at))));
        let (def, at) = shown.or_else(|| {
            let fits = |def: &&LauncherDef| {
                def.signs.is_empty() && def.flags.is_empty() && !def.container && fits_system(def, view.os)
            };
            packs.launchers.iter().find(fits).map(|def| (def, None))
        })?;
        let line = session.fact("launcher").and_then(|fact| command_line(&fact.at.text, packs));
        Some(Self { def, at, line, flags })
    }

    /// The log shows a command line that can be typed again.
    pub fn has_line(&self) -> bool {
        self.line.is_some()
    }

    /// What to type for the same start with `add` in it. `None` where nothing is typed.
    pub fn command(&self, add: &[&str]) -> Option<String> {
        let fresh: Vec<&str> =
            add.iter().copied().filter(|flag| !self.flags.iter().any(|known| known == flag)).collect();
        if let Some(line) = &self.line {
            return Some([line.as_str()].into_iter().chain(fresh).collect::<Vec<_>>().join(" "));
        }
        if self.def.command.is_empty() {
            return None;
        }
        let always =
            self.def.always.iter().map(String::as_str).filter(|flag| !self.flags.iter().any(|known| known == flag));
        let all: Vec<&str> = always.chain(self.flags.iter().map(String::as_str)).chain(fresh).collect();
        Some(self.def.command.replace("{flags}", &all.join(" ")).trim_end().to_owned())
    }

    /// How to add `add`, in a sentence.
    pub fn how(&self, messages: &Messages<'_>, add: &[&str]) -> String {
        let text = messages.packs.prose_text("launcher", &self.def.id, "add", messages.zh).unwrap_or_default();
        text.replace("{flags}", &add.join(" "))
    }

    /// Where the full log is.
    pub fn log(&self, messages: &Messages<'_>) -> String {
        let text = messages.packs.prose_text("launcher", &self.def.id, "log", messages.zh).unwrap_or_default();
        text.replace("{flags}", &self.flags.join(" ")).replace("  ", " ")
    }

    /// Its name.
    pub fn name(&self, messages: &Messages<'_>) -> String {
        messages.packs.prose_text("launcher", &self.def.id, "name", messages.zh).unwrap_or(&self.def.id).to_owned()
    }
}

/// The line that shows this way of starting.
fn signs(def: &LauncherDef, view: &Context<'_>) -> Option<Evidence> {
    let session = view.session;
    if view.os != Os::Unknown && !fits_system(def, view.os) {
        return None;
    }
    if let Some(flag) = session.flags.iter().find(|flag| def.flags.contains(&flag.name)) {
        return Some(flag.at.clone());
    }
    if def.container
        && let Some(hint) = session.container_hints.first()
    {
        return Some(hint.clone());
    }
    let facts = ["launcher", "python_path", "install_path", "user_dir", "log_path"]
        .into_iter()
        .filter_map(|name| session.fact(name))
        .map(|fact| &fact.at);
    let started = session.start.iter().flat_map(|start| [&start.first, &start.at]);
    let nodes = session.nodes.iter().map(|node| &node.at).chain(started);
    let frames = session
        .exceptions
        .iter()
        .flat_map(|exception| exception.frames.iter().map(move |frame| (frame.as_str(), &exception.at)));
    facts
        .chain(nodes)
        .map(|at| (at.text.as_str(), at))
        .chain(frames)
        .find(|(text, _)| {
            let text = text.to_lowercase().replace('\\', "/").replace("//", "/");
            def.signs.iter().any(|sign| text.contains(&sign.to_lowercase()))
        })
        .map(|(_, at)| at.clone())
}

fn fits_system(def: &LauncherDef, os: Os) -> bool {
    match def.os.as_str() {
        "" => true,
        "windows" => os == Os::Windows,
        "linux" => matches!(os, Os::Linux | Os::Wsl),
        "macos" => os == Os::MacOs,
        _ => false,
    }
}

/// The part of a line that starts ComfyUI and may be typed again: from the program to its last flag.
fn command_line(text: &str, packs: &Packs) -> Option<String> {
    let typed = |text: &str| packs.signs_of(SignOf::CommandLine).any(|sign| sign.fits(text));
    if !typed(text) {
        return None;
    }
    let text = match text.split_once("COMMAND=\"") {
        Some((_, rest)) => rest.split('"').next()?,
        None => text,
    };
    let messages: Vec<&str> = text
        .split_whitespace()
        .take_while(|word| {
            !matches!(*word, "|" | "&&" | ";" | "||" | "&" | "pause")
                && !word.starts_with('>')
                && !word.starts_with("2>")
        })
        .filter(|word| *word != "\\" && *word != "^")
        .collect();
    Some(messages.join(" ")).filter(|line| typed(line))
}

#[cfg(test)]
mod tests {
    use super::{Packs, command_line};

    #[test]
    fn a_command_is_taken_without_its_pipe() {
        let packs = Packs::built_in();
        let command_line = |text| command_line(text, &packs);
        let line = command_line("python main.py --listen --lowvram 2>&1 | tee comfy.log");
        assert_eq!(line.as_deref(), Some("python main.py --listen --lowvram"));
        let recorded =
            command_line(r#"Script started on 2026-11-30 [COMMAND="/opt/venv/bin/python main.py --cpu" TERM="xterm"]"#);
        assert_eq!(recorded.as_deref(), Some("/opt/venv/bin/python main.py --cpu"));
        assert_eq!(command_line("- **Arguments:** ComfyUI/main.py"), None);
    }
}
