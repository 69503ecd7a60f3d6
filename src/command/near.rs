//! Which known names are near a mistyped one.

/// Names shown at most.
const SHOWN: usize = 4;

/// The nearest of `known`, best first; nothing when none is near.
pub(super) fn nearest<'k>(given: &str, known: impl IntoIterator<Item = &'k str>) -> Vec<&'k str> {
    let given = given.to_lowercase();
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let steps = strsim::damerau_levenshtein(&given, &name.to_lowercase());
            let contained = given.len() >= 4 && name.contains(&given);
            // A third of the letters may be wrong, but never all of a short word.
            (contained || steps <= (name.chars().count() / 3).max(1))
                .then_some((if contained { 0 } else { steps }, name))
        })
        .collect();
    // What begins like it comes first; of equals what was named first, which are the verdicts.
    near.sort_by_key(|(steps, name)| (*steps, !name.starts_with(&given)));
    let mut names: Vec<&str> = Vec::new();
    for (_, name) in near {
        if names.len() < SHOWN && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// `did you mean …?`, or where the names are listed.
pub(super) fn hint(given: &str, known: &[&str], listed: &str) -> String {
    match nearest(given, known.iter().copied()).as_slice() {
        [] => listed.to_owned(),
        near => {
            format!("did you mean {}?", near.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_found_and_a_file_name_is_not() {
        let known = ["triage", "explain", "rules", "schema", "completions", "man"];
        assert_eq!(nearest("expalin", known), ["explain"]);
        assert_eq!(nearest("rule", known), ["rules"]);
        assert!(nearest("comfyui.log", known).is_empty());
        assert!(nearest("log", known).is_empty());
    }

    #[test]
    fn part_of_an_id_finds_it() {
        assert_eq!(nearest("confirmed", ["leak-confirmed", "gpu-oom"]), ["leak-confirmed"]);
        let known = ["no-leak", "leak-suspected", "leak-confirmed", "leak-suspected"];
        assert_eq!(nearest("leak", known), ["leak-suspected", "leak-confirmed", "no-leak"]);
    }
}
