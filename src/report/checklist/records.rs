//! Public records of the same symptom, with state and date. A record is no cause.

use super::Record;
use super::case::Case;
use crate::catalog::Verdict;
use crate::diagnosis::Messages;

/// Records shown at most.
const LIMIT: usize = 6;
const LEAK_TEXT: &str = "memory leak with model";

/// Records that the findings name, then those of bugs with the same signature.
pub(super) fn records(main: &Case<'_>, messages: &Messages<'_>) -> Vec<Record> {
    let mut out: Vec<Record> = Vec::new();
    let Some(problem) = main.problem() else { return out };
    for reference in &problem.references {
        push(
            &mut out,
            Record {
                title: problem.summary.clone(),
                link: reference.link.clone(),
                state: reference.state.clone(),
                checked: reference.checked.clone(),
            },
        );
    }
    let named = |id: &str| {
        main.run
            .report
            .findings
            .iter()
            .any(|finding| finding.id == Verdict::VersionBug && finding.about.as_deref() == Some(id))
    };
    for bug in &messages.packs.bugs {
        let leak = problem.id.is_leak()
            && bug.signature.iter().chain(&bug.signature_all).chain(&bug.context).any(|text| text.contains(LEAK_TEXT));
        // A bug that was repaired before this version is no record of it.
        let gone = bug.fixed_in.is_some_and(|fixed| main.view.span.at_least(fixed));
        if !(leak || named(&bug.id)) || gone {
            continue;
        }
        let title = messages.packs.prose_text("bug", &bug.id, "title", messages.zh).unwrap_or(&bug.id);
        for link in messages
            .packs
            .prose_list("bug", &bug.id, "links")
            .into_iter()
            .filter(|link| link.contains("/issues/"))
            .take(1)
        {
            push(
                &mut out,
                Record {
                    title: title.to_owned(),
                    link: link.to_owned(),
                    state: bug.state.clone(),
                    checked: bug.checked.clone(),
                },
            );
        }
    }
    out.truncate(LIMIT);
    out
}

fn push(out: &mut Vec<Record>, record: Record) {
    if !record.link.is_empty() && !out.iter().any(|known| known.link == record.link) {
        out.push(record);
    }
}
