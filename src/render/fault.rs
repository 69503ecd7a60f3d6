//! Faults in the user's language. A fault is written in English where it is made; the packs have the same sentences
//! in Chinese. The English text is held against its sentence, and what was filled in there is filled in here.
//!
//! A fault without a sentence, or one that does not fit, is shown as it is.

use std::fmt;

use miette::{Diagnostic, LabeledSpan, Severity, SourceCode};

use crate::catalog::in_chinese;
use crate::input::Exceeded;
use crate::shown::Shown;

/// Helps that several faults share, tried when a fault has none of its own.
const SHARED_HELPS: [&str; 4] =
    ["fault-help-did-you-mean", "fault-help-verdicts", "fault-help-areas", "fault-help-rules-list"];

/// A fault with its sentence and its help in Chinese.
#[derive(Debug)]
pub(crate) struct Translated<'f> {
    fault: &'f dyn Diagnostic,
    text: String,
    help: Option<String>,
    cause: Option<Cause>,
}

impl<'f> Translated<'f> {
    /// `fault` in Chinese, as far as the packs have it.
    pub(crate) fn of(fault: &'f dyn Diagnostic) -> Self {
        let id = fault.code().map(|code| sentence_id(&code.to_string())).unwrap_or_default();
        let told = fault.to_string();
        let help = fault.help().map(|help| help.to_string()).map(|help| {
            let own = format!("{id}-help");
            let ids = std::iter::once(own.as_str()).chain(SHARED_HELPS);
            ids.into_iter().find_map(|id| in_chinese(id, &help)).unwrap_or(help)
        });
        Self {
            fault,
            text: shown(&in_chinese(&id, &told).unwrap_or(told)),
            help: help.map(|help| shown(&help)),
            cause: cause(fault),
        }
    }

    /// `fault` as it was written, without what names of files and texts of packs may bring.
    pub(crate) fn plain(fault: &'f dyn Diagnostic) -> Self {
        let help = fault.help().map(|help| shown(&help.to_string()));
        Self { fault, text: shown(&fault.to_string()), help, cause: None }
    }
}

/// The gate for texts of several lines.
fn shown(text: &str) -> String {
    Shown::lines(text).into_string()
}

/// `comfy_triage::input::not_found` is told by `fault-input-not-found`.
fn sentence_id(code: &str) -> String {
    let code = code.strip_prefix("comfy_triage::").unwrap_or(code);
    format!("fault-{}", code.replace("::", "-").replace('_', "-"))
}

/// The cause of a fault, in Chinese.
#[derive(Debug)]
struct Cause(String);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Cause {}

/// The cause in Chinese, where the packs have it.
fn cause(fault: &dyn Diagnostic) -> Option<Cause> {
    let exceeded = fault.source()?.downcast_ref::<Exceeded>()?.to_string();
    Exceeded::SENTENCES.iter().find_map(|id| in_chinese(id, &exceeded)).map(Cause)
}

impl fmt::Display for Translated<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Translated<'_> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|cause| cause as &dyn std::error::Error).or(self.fault.source())
    }
}

impl Diagnostic for Translated<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.fault.code()
    }

    fn severity(&self) -> Option<Severity> {
        self.fault.severity()
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.fault.source_code()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.fault.labels()
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        self.fault.related()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    use super::*;
    use crate::catalog::PackError;
    use crate::error::UsageError;
    use crate::input::InputError;
    use crate::samples::SamplesError;

    fn text(word: &str) -> String {
        word.to_owned()
    }

    fn input_faults() -> Vec<InputError> {
        let name = || text("my {log}.txt");
        let source = || Error::other("disk");
        vec![
            InputError::NotFound { name: name() },
            InputError::IsDirectory { name: name() },
            InputError::PermissionDenied { name: name() },
            InputError::CannotOpen { name: name(), source: source() },
            InputError::Empty { name: name() },
            InputError::CannotRead { name: name(), source: source() },
            InputError::Changed { name: name() },
            InputError::ArchiveInArchive { name: name() },
            InputError::TooLarge { name: name(), source: Exceeded::Window { need: 512, allowed: 100 } },
            InputError::Corrupt { name: name(), format: "gzip", source: source() },
        ]
    }

    fn usage_faults() -> Vec<UsageError> {
        let given = || text("my {log}.txt");
        let near = || text("did you mean `a` or `b`?");
        vec![
            UsageError::NoLog,
            UsageError::NoLogIn { folder: given() },
            UsageError::EquallyNew { list: text("  日志.log  12:00") },
            UsageError::Server { url: given() },
            UsageError::NoPage { given: given(), near: near() },
            UsageError::MistypedCommand { given: given(), near: text("explain") },
            UsageError::NoMatch { pattern: given() },
            UsageError::MemoryLimit { given: given() },
            UsageError::Bound { option: text("--max-memory"), given: given() },
            UsageError::MemoryLimitSmall { given: given(), bytes: 16 },
            UsageError::UnknownVerdict { given: given(), near: text("the verdicts are a, b") },
            UsageError::UnknownId {
                given: given(),
                near: text("`comfy-triage rules list` lists the rules; verdicts and known bugs are named in reports"),
            },
            UsageError::UnknownArea { given: given(), near: text("the areas are a, b") },
            UsageError::UnknownArea { given: given(), near: near() },
            UsageError::NoPack,
            UsageError::NoVersion,
            UsageError::Version { given: given() },
            UsageError::NoProcess { pid: 7 },
            UsageError::NotUsed { option: "--env" },
            UsageError::StoppedBeforeKnown,
            UsageError::StoppedEarly,
            UsageError::NoRules { path: given() },
            UsageError::StillPrivate { lines: "12, 88".to_owned() },
            UsageError::SideEvidence { what: "facts", path: given(), source: Error::other("disk") },
        ]
    }

    fn pack_faults() -> Vec<PackError> {
        let path = || text("my {pack}/a.toml");
        let named = || miette::NamedSource::new("a.toml", std::sync::Arc::new(String::new()));
        vec![
            PackError::Unreadable { path: path(), reason: text("disk") },
            PackError::TooLarge { path: path(), limit: 9 },
            PackError::TooManyFiles { path: path(), limit: 9 },
            PackError::Syntax { path: path(), message: text("odd"), text: named(), at: None },
            PackError::Rule { path: path(), id: text("a-rule"), reason: text("odd: so"), text: named(), at: None },
            PackError::Regex { path: path(), id: text("a-rule"), reason: text("odd: so"), text: named(), at: None },
            PackError::More { path: path(), count: 9 },
            PackError::TooManyItems { path: path(), limit: 9 },
            PackError::NewerFormat { path: path(), format: 9 },
            PackError::NoHead { path: path() },
        ]
    }

    /// Every fault that a user can meet at the start has its Chinese, with the same things filled in.
    #[test]
    fn the_common_faults_are_told_in_chinese() {
        let [input, usage, packs] = [input_faults().len(), usage_faults().len(), pack_faults().len()];
        assert_eq!([input, usage, packs], [10, 24, 10]);
        let samples = [
            SamplesError::Unreadable { name: text("a.csv"), reason: text("disk") },
            SamplesError::NoColumns { name: text("a.csv") },
        ];
        let (input, usage, packs) = (input_faults(), usage_faults(), pack_faults());
        let faults = input.iter().map(|fault| fault as &dyn Diagnostic);
        let faults = faults.chain(usage.iter().map(|fault| fault as &dyn Diagnostic));
        let faults = faults.chain(packs.iter().map(|fault| fault as &dyn Diagnostic));
        for fault in faults.chain(samples.iter().map(|fault| fault as &dyn Diagnostic)) {
            let told = Translated::of(fault);
            assert!(is_chinese(&told.text), "{fault:?}: {told}");
            for given in ["my {log}.txt", "my {pack}/a.toml", "a.csv", "disk", "a-rule", "gzip"] {
                assert_eq!(fault.to_string().contains(given), told.text.contains(given), "{told}");
            }
            if let Some(help) = &told.help {
                assert!(is_chinese(help), "{fault:?}: {help}");
            }
            assert_eq!(fault.help().is_some(), told.help.is_some());
        }
    }

    fn is_chinese(text: &str) -> bool {
        text.chars().any(|letter| ('\u{4e00}'..='\u{9fff}').contains(&letter))
    }
}
