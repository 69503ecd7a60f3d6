//! Sentences that were said in English where no pack was at hand, in Chinese: the English is held against its sentence in
//! the built-in pack, and what was filled in there is filled in here.

use super::Packs;

/// The Chinese of a sentence, filled with what stands in `english`.
pub(crate) fn in_chinese(id: &str, english: &str) -> Option<String> {
    let values = values(Packs::built_in_sentence(id, false)?, english)?;
    let mut text = Packs::built_in_sentence(id, true)?.to_owned();
    for (name, value) in values {
        // A value is never looked through for further placeholders: each is marked while it is put in.
        text = text.replace(&format!("{{{name}}}"), &value.replace('{', "\u{1}"));
    }
    Some(text.replace('\u{1}', "{"))
}

/// What stands in `text` for the placeholders of `template`.
fn values<'t>(template: &'t str, text: &str) -> Option<Vec<(&'t str, String)>> {
    let mut values = Vec::new();
    let (first, mut template) = template.split_once('{').unwrap_or((template, ""));
    let mut text = text.strip_prefix(first)?;
    while let Some((name, after)) = template.split_once('}') {
        let (literal, next) = after.split_once('{').unwrap_or((after, ""));
        let last = next.is_empty();
        let end = match (last, literal.is_empty()) {
            (true, _) => text.strip_suffix(literal)?.len(),
            (false, true) => return None,
            (false, false) => text.find(literal)?,
        };
        values.push((name, text.get(..end)?.to_owned()));
        text = text.get(end + literal.len()..)?;
        template = next;
    }
    text.is_empty().then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_does_not_fit_its_sentence_stays() {
        assert_eq!(values("`{a}` and `{b}`", "`x` and `y`"), Some(vec![("a", "x".to_owned()), ("b", "y".to_owned())]));
        assert_eq!(values("there is no file `{name}`", "no such file"), None);
        assert_eq!(values("no log to read", "no log to read"), Some(Vec::new()));
        assert_eq!(values("no log", "no log to read"), None);
    }
}
