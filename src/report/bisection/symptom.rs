//! What is looked for in each round, as it is typed and as it follows from a verdict.

use std::fmt;
use std::str::FromStr;

use crate::catalog::{Sought, Verdict};
use crate::report::{Report, Status};
use crate::text::cut_chars;

/// Longest part of an exception's message that is looked for.
const MESSAGE_LIMIT: usize = 80;

/// The symptom of a bisection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Symptom {
    /// A model is held that nothing should use; of this class, or of any.
    Leak(Option<String>),
    /// Out of memory, on the card or in RAM.
    Oom,
    /// Memory grows from prompt to prompt (needs samples).
    Growth,
    /// An exception or error whose text contains this.
    Error(String),
    /// This pack, or any, cannot be imported.
    Import(Option<String>),
    /// Only the user can see it.
    Manual,
}

impl fmt::Display for Symptom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leak(None) => f.write_str("leak"),
            Self::Leak(Some(class)) => write!(f, "leak:{class}"),
            Self::Oom => f.write_str("oom"),
            Self::Growth => f.write_str("growth"),
            Self::Error(text) => write!(f, "error:{text}"),
            Self::Import(None) => f.write_str("import"),
            Self::Import(Some(dir)) => write!(f, "import:{dir}"),
            Self::Manual => f.write_str("manual"),
        }
    }
}

impl FromStr for Symptom {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (kind, about) = text.split_once(':').map_or((text, None), |(kind, about)| (kind, Some(about.trim())));
        match (kind, about.filter(|about| !about.is_empty())) {
            ("leak", class) => Ok(Self::Leak(class.map(str::to_owned))),
            ("oom", None) => Ok(Self::Oom),
            ("growth", None) => Ok(Self::Growth),
            ("error", Some(text)) => Ok(Self::Error(text.to_owned())),
            ("import", dir) => Ok(Self::Import(dir.map(str::to_owned))),
            ("manual", None) => Ok(Self::Manual),
            _ => Err(()),
        }
    }
}

impl Symptom {
    /// What the report's verdict, or what else it found, would show again. Nothing when nothing is wrong.
    pub fn of(report: &Report) -> Option<Self> {
        let ids = std::iter::once(&report.verdict.primary).chain(&report.verdict.secondary);
        ids.into_iter().find_map(|id| Self::of_verdict(*id, report))
    }

    fn of_verdict(id: Verdict, report: &Report) -> Option<Self> {
        let finding = report.findings.iter().find(|finding| finding.id == id && finding.status >= Status::Possible);
        let about = finding.and_then(|finding| finding.about.clone());
        match id.sought()? {
            Sought::Leak => Some(Self::Leak(worst_class(report))),
            // Told by a text, a console log alone can judge a round; growth needs readings in each.
            Sought::Growth => worst_class(report).map(|class| Self::Leak(Some(class))).or(Some(Self::Growth)),
            Sought::Oom => Some(Self::Oom),
            Sought::Import => Some(Self::Import(about)),
            Sought::Error => last_error(report).map(Self::Error),
        }
    }
}

/// The class of which most models were held in the last session that held any.
fn worst_class(report: &Report) -> Option<String> {
    let session = report.sessions.iter().rev().find(|session| session.leaks.values().any(|leak| leak.warning > 0))?;
    let held = session.leaks.iter().filter(|(_, leak)| leak.warning > 0);
    held.max_by_key(|(class, leak)| (leak.held_max, leak.warning, std::cmp::Reverse(*class)))
        .map(|(class, _)| class.clone())
}

/// The type of the last exception of a prompt, and how its message begins.
fn last_error(report: &Report) -> Option<String> {
    let mut exceptions = report.sessions.iter().flat_map(|session| &session.exceptions);
    let last = exceptions.rfind(|exception| exception.place == "prompt")?;
    let message = last.message.lines().next().unwrap_or_default().trim();
    let text = if message.is_empty() { last.kind.clone()? } else { message.to_owned() };
    Some(cut_chars(&text, MESSAGE_LIMIT).trim_end_matches('…').trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_what_is_written() {
        for text in ["leak", "leak:BaseModel", "oom", "growth", "error:a: b", "import", "import:ComfyUI-X", "manual"] {
            assert_eq!(text.parse::<Symptom>().map(|symptom| symptom.to_string()), Ok(text.to_owned()));
        }
        assert!(
            "error".parse::<Symptom>().is_err()
                && "leaks".parse::<Symptom>().is_err()
                && "oom:x".parse::<Symptom>().is_err()
        );
    }
}
