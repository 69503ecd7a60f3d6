//! Sentences of the program, filled in. The texts are in the packs, in both languages.

use super::Packs;

/// The packs' sentences in one language.
#[derive(Debug, Clone, Copy)]
pub struct Messages<'p> {
    pub packs: &'p Packs,
    pub zh: bool,
}

impl Messages<'_> {
    /// The sentence `id` with `{name}` replaced by its value. A sentence that no pack has shows as its id, so
    /// that a broken pack is seen; a test keeps the built-in ones complete.
    pub fn text(&self, id: &str, values: &[(&str, &str)]) -> String {
        let Some(template) = self.packs.sentence(id, self.zh) else { return id.to_owned() };
        fill(template, values)
    }

    /// What stands between the items of a list.
    pub fn list_mark(&self) -> &'static str {
        if self.zh { "、" } else { ", " }
    }

    /// `one` when `count` is 1, else `many`.
    pub fn count(&self, one: &str, many: &str, count: u64, values: &[(&str, &str)]) -> String {
        let number = count.to_string();
        let mut all = vec![("n", number.as_str())];
        all.extend_from_slice(values);
        self.text(if count == 1 { one } else { many }, &all)
    }
}

/// The template with values in their places.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some((before, from)) = rest.split_once('{') {
        out.push_str(before);
        let Some((name, after)) = from.split_once('}') else {
            out.push('{');
            rest = from;
            break;
        };
        match values.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => out.push_str(value),
            None => {
                out.push('{');
                out.push_str(name);
                out.push('}');
            }
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn values_stand_in_their_places_and_log_text_is_not_read_again() {
        assert_eq!(fill("{a} and {b}", &[("a", "{b}"), ("b", "2")]), "{b} and 2");
        assert_eq!(fill("open { brace", &[]), "open { brace");
    }
}
