//! A finding: what is wrong, where, and what to do. It can be shown with its place, or written as JSON.

use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use schemars::JsonSchema;
use serde::Serialize;

use crate::catalog::PackError;
use crate::catalog::folder::{SourceItem, SourceText};

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
        let (line, column) = at.as_ref().map_or((0, 0), |at| source.position(at.start));
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
        Shown {
            source_code: Piece { name: self.path.clone(), text: Arc::clone(&self.text), line: self.line },
            finding: self.clone(),
        }
    }
}

/// The lines around a finding. Its line is known: nobody has to count from the file's beginning, finding by finding.
#[derive(Debug)]
struct Piece {
    /// Of the file.
    name: String,
    text: Arc<String>,
    /// Line of the finding, from 1.
    line: usize,
}

impl SourceCode for Piece {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let text = self.text.as_str();
        let end = span.offset() + span.len();
        let (Some(before), Some(after)) = (text.get(..span.offset()), text.get(end..)) else {
            return Err(MietteError::OutOfBounds);
        };
        // A line more on either side, so that what is shown ends where it would in the whole file.
        let begins = before.rmatch_indices('\n').nth(lines_before + 1).map_or(0, |(at, _)| at + 1);
        let ends = after.match_indices('\n').nth(lines_after + 1).map_or(text.len(), |(at, _)| end + at + 1);
        let window = text.get(begins..ends).unwrap_or_default();
        let above = text.get(begins..span.offset()).unwrap_or_default().matches('\n').count();
        let within = SourceSpan::from(span.offset() - begins..end - begins);
        let shown = window.read_span(&within, lines_before, lines_after)?;
        let start = begins + shown.span().offset();
        let piece = text.get(start..start + shown.span().len()).unwrap_or_default();
        let line = self.line.saturating_sub(1 + above) + shown.line();
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            piece.as_bytes(),
            SourceSpan::from(start..start + piece.len()),
            line,
            shown.column(),
            shown.line_count(),
        )))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{finding}")]
struct Shown {
    finding: Finding,
    source_code: Piece,
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
            (SourceText::new(path.clone(), text.inner().clone()), at.map(range), message.clone())
        }
        PackError::Rule { path, text, at, .. } | PackError::Regex { path, text, at, .. } => {
            (SourceText::new(path.clone(), text.inner().clone()), at.map(range), error.to_string())
        }
        PackError::Unreadable { path, .. }
        | PackError::TooLarge { path, .. }
        | PackError::TooManyFiles { path, .. }
        | PackError::TooManyItems { path, .. }
        | PackError::TooManyRules { path, .. }
        | PackError::NewerFormat { path, .. }
        | PackError::More { path, .. }
        | PackError::NoHead { path } => (SourceText::new(path.clone(), Arc::default()), None, error.to_string()),
    };
    let help = error.help().map(|help| help.to_string()).unwrap_or_default();
    Finding::in_file(&code, &source, at, message).help(help)
}

fn range(span: SourceSpan) -> Range<usize> {
    span.offset()..span.offset() + span.len()
}
