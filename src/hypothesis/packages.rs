//! Native packages that this version of ComfyUI needs, held against the versions that the log prints.

use super::Case;
use super::context::Context;
use super::finding::{Basis, Finding, Grade, Status};
use super::finding_builder::{FindingBuilder, evidence, told};
use crate::catalog::messages::Messages;
use crate::catalog::{AimdoDef, Verdict, Version};

/// A comfy-aimdo older than required is a finding of its own; it is likely to matter once the allocator fails.
pub fn examine(case: &Case<'_>) -> Vec<Finding> {
    outdated(case.view, case.messages).into_iter().collect()
}

fn outdated(view: &Context<'_>, messages: &Messages<'_>) -> Option<Finding> {
    let version = view.span.exact?;
    let fact = view.session.fact("aimdo_version")?;
    let installed = Version::parse(fact.value.as_text()?)?;
    let row: &AimdoDef = messages
        .packs
        .aimdo
        .iter()
        .filter(|row| row.comfyui <= version && row.required.is_some())
        .max_by_key(|row| row.comfyui)?;
    let required = row.required.filter(|required| installed < *required)?;
    let failed = view.session.counts.aimdo_errors.is_some()
        || view.session.exceptions.iter().any(|exception| !exception.is_oom && exception.dirs.is_empty());
    let values =
        [("installed", installed.to_string()), ("required", required.to_string()), ("version", version.to_string())];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut lines = vec![evidence(&fact.at, None)];
    lines.extend(view.version.evidence.iter().take(1).cloned());
    let (status, grade, reason) = match (failed, row.certain) {
        (true, true) => (Status::Likely, Grade::Moderate, "grade-package"),
        _ => (Status::Possible, Grade::Weak, "grade-package-uncertain"),
    };
    let figures =
        vec![told("required", messages.text("figure-package", &values), Basis::Formula, vec![fact.at.place.line])];
    Some(
        FindingBuilder::new(Verdict::VersionBug, view.number, status, messages.text("package-outdated", &values))
            .about("comfy-aimdo-outdated")
            .grade(grade, messages.text(reason, &[]))
            .figures(figures)
            .because(lines),
    )
}
