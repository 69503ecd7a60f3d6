//! Placeholders of remedies, filled in for this log.

use super::finding::Finding;
use super::python;
use super::view::View;
use super::words::{Words, fill};

/// What the placeholders stand for in this log, by their names.
pub struct Slots(Vec<(String, String)>);

impl Slots {
    /// What the finding names, then what the log tells of Python and folders.
    pub fn of(view: &View<'_>, words: &Words<'_>, finding: &Finding) -> Self {
        let session = view.session;
        let mut slots = finding.slots.clone();
        let mut add = |name: &str, value: Option<String>| {
            slots.extend(value.filter(|value| !value.is_empty()).map(|value| (name.to_owned(), value)));
        };
        add("python", python::of(view, words.packs).map(|path| python::typed(&path, view.os)));
        add("comfyui", session.text("install_path").map(str::to_owned));
        add("requirements_command", session.text("requirements_command").map(str::to_owned));
        add("torch_index", session.text("pytorch_version").and_then(torch_index));
        add("port", port_of(&finding.summary));
        Self(slots)
    }

    /// `template` with its placeholders filled in; none when one cannot be.
    pub fn fill(&self, template: &str) -> Option<String> {
        let mut rest = template;
        while let Some((_, from)) = rest.split_once('{') {
            let (name, after) = from.split_once('}')?;
            self.0.iter().find(|(known, _)| known == name)?;
            rest = after;
        }
        let values: Vec<(&str, &str)> = self.0.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        Some(fill(template, &values))
    }
}

/// Where PyTorch's builds of this kind are: `2.9.1+cu130` names them by `cu130`.
fn torch_index(version: &str) -> Option<String> {
    let (_, build) = version.split_once('+')?;
    let known = ["cu", "rocm", "xpu", "cpu"].iter().any(|kind| build.starts_with(kind));
    known.then(|| format!("https://download.pytorch.org/whl/{build}"))
}

/// The port that an error's text names: `Port 8188 is`, `('127.0.0.1', 8188)`.
fn port_of(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let behind = lower
        .split_once("port ")
        .map(|(_, rest)| rest)
        .filter(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
    let rest = behind.or_else(|| lower.split_once("', ").map(|(_, rest)| rest))?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (2..=5).contains(&digits.len()).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::{Slots, port_of, torch_index};

    #[test]
    fn ports_and_builds_are_read_from_texts() {
        assert_eq!(port_of("Port 8188 is already in use on address 127.0.0.1.").as_deref(), Some("8188"));
        assert_eq!(port_of("bind on address ('0.0.0.0', 8190): in use").as_deref(), Some("8190"));
        assert_eq!(port_of("a port is taken"), None);
        assert_eq!(torch_index("2.9.1+cu130").as_deref(), Some("https://download.pytorch.org/whl/cu130"));
        assert_eq!(torch_index("2.9.1"), None);
    }

    #[test]
    fn a_placeholder_that_cannot_be_filled_hides_the_whole_step() {
        let slots = Slots(vec![("python".to_owned(), "/opt/venv/bin/python".to_owned())]);
        assert_eq!(slots.fill("{python} -m pip").as_deref(), Some("/opt/venv/bin/python -m pip"));
        assert_eq!(slots.fill("{python} {packages}"), None);
        assert_eq!(slots.fill("no placeholder").as_deref(), Some("no placeholder"));
    }
}
