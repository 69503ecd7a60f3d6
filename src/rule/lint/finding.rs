//! A finding: what is wrong, where, and what to do. It can be shown with its place, or written as JSON.

use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, NamedSource, SourceSpan};
use schemars::JsonSchema;
use serde::Serialize;

use crate::rule::PackError;
use crate::rule::folder::{SourceItem, SourceText};

/// What came out for one pack.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Checked {
    pub folder: String,
    pub id: String,
    pub version: String,
    /// Items looked at.
    pub items: usize,
    /// Ids of the built-in pack that this one replaces. That is no fault.
    pub replaces: Vec<String>,
    pub findings: Vec<Finding>,
}

impl Checked {
    /// The pack could not be read at all.
    pub(super) fn refused(folder: &str, error: &PackError) -> Self {
        Self {
            folder: folder.to_owned(),
            id: String::new(),
            version: String::new(),
            items: 0,
            replaces: Vec::new(),
            findings: vec![of_error(error)],
        }
    }
}

/// Something wrong with a pack.
#[derive(Debug, Clone, Serialize, JsonSchema, thiserror::Error)]
#[error("{subject}{message}", subject = self.subject())]
pub struct Finding {
    /// Kind of the mistake; stable.
    pub code: String,
    pub path: String,
    /// Line in the file, from 1; 0 when the fault has no place.
    pub line: usize,
    /// Column in letters, from 1.
    pub column: usize,
    pub table: String,
    pub id: String,
    /// The field, as `means.zh` or `match.0`.
    pub field: String,
    pub message: String,
    pub help: String,
    #[serde(skip)]
    text: Arc<String>,
    #[serde(skip)]
    at: Option<Range<usize>>,
}

impl Finding {
    /// A finding in an item's field.
    pub(super) fn at(
        code: &str,
        source: &SourceText,
        item: &SourceItem,
        field: &str,
        message: impl Into<String>,
    ) -> Self {
        let mut finding = Self::in_file(code, source, Some(item.place(field)), message);
        finding.table = item.table.clone();
        finding.id = item.id();
        finding.field = field.to_owned();
        finding
    }

    /// A finding in a file.
    pub(super) fn in_file(
        code: &str,
        source: &SourceText,
        at: Option<Range<usize>>,
        message: impl Into<String>,
    ) -> Self {
        let (line, column) = at.as_ref().map_or((0, 0), |at| position(&source.text, at.start));
        Self {
            code: code.to_owned(),
            path: source.path.clone(),
            line,
            column,
            table: String::new(),
            id: String::new(),
            field: String::new(),
            message: message.into(),
            help: String::new(),
            text: Arc::clone(&source.text),
            at,
        }
    }

    /// Adds what to do about it.
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    fn subject(&self) -> String {
        match (self.id.is_empty(), self.field.is_empty()) {
            (true, _) => String::new(),
            (false, true) => format!("{}: ", self.id),
            (false, false) => format!("{}, {}: ", self.id, self.field),
        }
    }

    /// The finding with the piece of its file, ready to be shown.
    pub fn diagnostic(&self) -> impl Diagnostic + use<> {
        Shown { source_code: NamedSource::new(&self.path, Arc::clone(&self.text)), finding: self.clone() }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{finding}")]
struct Shown {
    finding: Finding,
    source_code: NamedSource<Arc<String>>,
}

impl Diagnostic for Shown {
    fn code(&self) -> Option<Box<dyn std::fmt::Display + '_>> {
        Some(Box::new(format!("rules::{}", self.finding.code.replace('-', "_"))))
    }

    fn help(&self) -> Option<Box<dyn std::fmt::Display + '_>> {
        (!self.finding.help.is_empty()).then(|| Box::new(&self.finding.help) as _)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.finding.at.is_some().then_some(&self.source_code as _)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        let at = self.finding.at.clone()?;
        Some(Box::new(std::iter::once(miette::LabeledSpan::at(at, "here"))))
    }
}

/// A fault of reading as a finding.
pub(super) fn of_error(error: &PackError) -> Finding {
    let code = error.code().map(|code| code.to_string()).unwrap_or_default();
    let code = code.trim_start_matches("rules::").replace('_', "-");
    let (source, at, message) = match error {
        PackError::Syntax { path, message, text, at } => {
            (SourceText { path: path.clone(), text: text.inner().clone() }, at.map(range), message.clone())
        }
        PackError::Rule { path, text, at, .. } | PackError::Regex { path, text, at, .. } => {
            (SourceText { path: path.clone(), text: text.inner().clone() }, at.map(range), error.to_string())
        }
        PackError::Unreadable { path, .. }
        | PackError::TooLarge { path, .. }
        | PackError::TooManyFiles { path, .. }
        | PackError::TooManyItems { path, .. }
        | PackError::TooManyRules { path, .. }
        | PackError::NewerFormat { path, .. }
        | PackError::More { path, .. }
        | PackError::NoHead { path } => {
            (SourceText { path: path.clone(), text: Arc::default() }, None, error.to_string())
        }
    };
    let help = error.help().map(|help| help.to_string()).unwrap_or_default();
    Finding::in_file(&code, &source, at, message).help(help)
}

fn range(span: SourceSpan) -> Range<usize> {
    span.offset()..span.offset() + span.len()
}

/// Line and column of a byte, both from 1.
fn position(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |row| row.chars().count()) + 1;
    (line, column)
}
