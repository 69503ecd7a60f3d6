//! The log inside a whole GitHub issue: in fences, in an answer of a form, or pasted as it was.
//!
//! What is no log becomes an empty line, so that the numbers of lines stay those of the issue.

/// A fence that was opened: its letter and how many of it.
type Fence = (char, usize);

/// What a line of an issue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Inside a fence or `<pre>`.
    Fenced,
    /// Outside: prose, or a log that was pasted as it is.
    Raw,
    /// Markup of the issue itself.
    Markup,
}

/// The log of an issue. `known` says how many lines of a text ComfyUI prints; it decides whether what stands outside
/// of the fences is a log as well.
pub(crate) fn log_of_issue(text: &str, known: impl Fn(&str) -> u64) -> String {
    let lines: Vec<(Part, &str)> = parts(text);
    let only = |wanted: Part| -> String {
        lines.iter().map(|(part, line)| format!("{}\n", if *part == wanted { line } else { "" })).collect()
    };
    let (fenced, raw) = (only(Part::Fenced), only(Part::Raw));
    let in_fences = known(&fenced);
    // Prose may quote a line or two; a log that was pasted beside the fences has more than they have.
    if in_fences > 0 && known(&raw) <= in_fences {
        return fenced;
    }
    lines.iter().map(|(part, line)| format!("{}\n", if *part == Part::Markup { "" } else { line })).collect()
}

fn parts(text: &str) -> Vec<(Part, &str)> {
    let mut open: Option<Fence> = None;
    let (mut pre, mut comment) = (false, false);
    text.lines()
        .map(|line| {
            let bare = line.trim_start_matches([' ', '\t', '>']);
            if let Some(fence) = open {
                if fence_at(bare).is_some_and(|(at, rest)| at.0 == fence.0 && at.1 >= fence.1 && rest.is_empty()) {
                    open = None;
                    return (Part::Markup, line);
                }
                return (Part::Fenced, line);
            }
            let small = bare.trim_end().to_ascii_lowercase();
            if comment || small.starts_with("<!--") {
                comment = !small.contains("-->");
                return (Part::Markup, line);
            }
            if pre {
                pre = !small.ends_with("</pre>") && !small.ends_with("</code>");
                return (if pre { Part::Fenced } else { Part::Markup }, line);
            }
            if let Some((fence, _)) = fence_at(bare) {
                open = Some(fence);
                return (Part::Markup, line);
            }
            if matches!(small.as_str(), "<pre>" | "<pre><code>" | "<code>") {
                pre = true;
                return (Part::Markup, line);
            }
            (if is_markup(bare, &small) { Part::Markup } else { Part::Raw }, line)
        })
        .collect()
}

/// The fence that begins a line, and what stands behind it.
fn fence_at(line: &str) -> Option<(Fence, &str)> {
    let letter = line.chars().next().filter(|letter| matches!(letter, '`' | '~'))?;
    let rest = line.trim_start_matches(letter);
    let count = line.len() - rest.len();
    // ```like this``` is code within a line.
    (count >= 3 && !rest.contains('`')).then_some(((letter, count), rest.trim()))
}

/// Headings of forms, empty answers, boxes, and what folds a part away.
fn is_markup(bare: &str, small: &str) -> bool {
    let heading = bare.trim_start_matches('#');
    let hashes = bare.len() - heading.len();
    let tags = ["<details", "</details", "<summary", "</summary", "<img", "<br", "![", "- [ ]", "- [x]"];
    ((1..=6).contains(&hashes) && heading.starts_with(' '))
        || small == "_no response_"
        || tags.iter().any(|tag| small.starts_with(tag))
}

#[cfg(test)]
mod tests {
    use super::log_of_issue;

    fn known(text: &str) -> u64 {
        text.lines().filter(|line| line.contains("got prompt")).count() as u64
    }

    #[test]
    fn fences_are_one_log_and_keep_their_line_numbers() {
        let issue = "### Logs\n\n```powershell\ngot prompt\n```\nthen I saw got prompt\n~~~\nPrompt executed\n~~~\n";
        let log = log_of_issue(issue, known);
        let lines: Vec<&str> = log.lines().collect();
        assert_eq!(lines, ["", "", "", "got prompt", "", "", "", "Prompt executed", ""]);
    }

    #[test]
    fn a_log_without_fences_is_read_and_forms_are_not() {
        let issue = "### Expected\n_No response_\n<!-- got prompt -->\ngot prompt\nPrompt executed\n- [x] done\n";
        assert_eq!(log_of_issue(issue, known), "\n\n\ngot prompt\nPrompt executed\n\n");
    }

    #[test]
    fn a_log_beside_a_fence_of_something_else_is_read_too() {
        let issue = "```json\n{\"a\": 1}\n```\ngot prompt\ngot prompt\n";
        assert_eq!(log_of_issue(issue, known), "\n{\"a\": 1}\n\ngot prompt\ngot prompt\n");
    }

    #[test]
    fn a_fence_that_is_never_closed_goes_to_the_end() {
        assert_eq!(log_of_issue("````\n```\ngot prompt\n", known), "\n```\ngot prompt\n");
        assert_eq!(log_of_issue("<details>\n<pre>\ngot prompt\n</pre>\n", known), "\n\ngot prompt\n\n");
    }
}
