//! What can be wrong with a rule pack, with the place in the user's file.
//!
//! A fault leaves out one item, one file or one pack; everything else still works.

use std::sync::Arc;

use miette::{Diagnostic, NamedSource, SourceSpan};

use super::pack::FORMAT;

/// What is wrong with a pack, with the place in the user's file.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum PackError {
    #[error("cannot read the rule pack file {path}: {reason}")]
    #[diagnostic(code(rules::unreadable), help("check that the file exists and that you may read it"))]
    Unreadable { path: String, reason: String },
    #[error("{path} is larger than {limit} bytes")]
    #[diagnostic(code(rules::too_large), help("split the pack into several files"))]
    TooLarge { path: String, limit: u64 },
    #[error("{path} holds more than {limit} files")]
    #[diagnostic(code(rules::too_many_files), help("name the pack's own folder, not one above it"))]
    TooManyFiles { path: String, limit: usize },
    #[error("{path} is not a rule pack file: {message}")]
    #[diagnostic(
        code(rules::syntax),
        help("see docs/rule-format.md; `comfy-triage rules check` lists all faults of a pack")
    )]
    Syntax {
        path: String,
        message: String,
        #[source_code]
        text: NamedSource<Arc<String>>,
        #[label("here")]
        at: Option<SourceSpan>,
    },
    #[error("{path}: rule `{id}` is not used: {reason}")]
    #[diagnostic(code(rules::rule), help("the rest of the pack is used; see docs/rule-format.md"))]
    Rule {
        path: String,
        id: String,
        reason: String,
        #[source_code]
        text: NamedSource<Arc<String>>,
        #[label("this rule")]
        at: Option<SourceSpan>,
    },
    #[error("{path}: rule `{id}` is not used: its regex cannot be compiled ({reason})")]
    #[diagnostic(
        code(rules::regex),
        help(
            "make it shorter, or write the text as a template; the rest of the pack is used; see docs/rule-format.md"
        )
    )]
    Regex {
        path: String,
        id: String,
        reason: String,
        #[source_code]
        text: NamedSource<Arc<String>>,
        #[label("this rule")]
        at: Option<SourceSpan>,
    },
    #[error("{path}: {count} more faults are not listed")]
    #[diagnostic(code(rules::more), help("put those that are listed right first; they are often of one kind"))]
    More { path: String, count: usize },
    #[error("{path} holds more than {limit} items")]
    #[diagnostic(code(rules::too_many_items), help("split the pack in two"))]
    TooManyItems { path: String, limit: usize },
    #[error("with the pack in {path} there are more than {limit} rules")]
    #[diagnostic(code(rules::too_many_rules), help("the pack is not used; give fewer packs, or smaller ones"))]
    TooManyRules { path: String, limit: usize },
    #[error("the pack in {path} is written in format {format}; this program reads up to format {FORMAT}")]
    #[diagnostic(code(rules::newer_format), help("update comfy-triage, or use an older version of the pack"))]
    NewerFormat { path: String, format: i64 },
    #[error("the folder {path} has no pack.toml, so it is no rule pack")]
    #[diagnostic(code(rules::no_head), help("name the folder that holds pack.toml; see docs/rule-format.md"))]
    NoHead { path: String },
}
