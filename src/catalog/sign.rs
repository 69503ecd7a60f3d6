//! Signs held against texts.

use super::pack::Packs;
use super::schema::{SignDef, SignOf};

/// How a text is compared: case counts only where the sign has a capital letter.
struct Text<'t> {
    given: &'t str,
    lower: String,
}

impl Text<'_> {
    fn any(&self, needles: &[String], fits: impl Fn(&str, &str) -> bool) -> bool {
        needles.iter().any(|needle| self.one(needle, &fits))
    }

    fn one(&self, needle: &str, fits: impl Fn(&str, &str) -> bool) -> bool {
        let exact = needle.chars().any(char::is_uppercase);
        fits(if exact { self.given } else { &self.lower }, needle)
    }
}

impl SignDef {
    /// `text` shows what the sign tells of.
    pub fn fits(&self, text: &str) -> bool {
        let text = Text { given: text, lower: text.to_lowercase() };
        let holds = |text: &str, needle: &str| text.contains(needle);
        if text.any(&self.lacks, holds) || !self.all.iter().all(|needle| text.one(needle, holds)) {
            return false;
        }
        let choice = [&self.equals, &self.starts, &self.ends, &self.has];
        choice.iter().all(|needles| needles.is_empty())
            || text.any(&self.equals, |text, needle| text == needle)
            || text.any(&self.starts, |text, needle| text.starts_with(needle))
            || text.any(&self.ends, |text, needle| text.ends_with(needle))
            || text.any(&self.has, holds)
    }
}

impl Packs {
    /// The signs of one kind, in the order in which they are tried.
    pub fn signs_of(&self, of: SignOf) -> impl Iterator<Item = &SignDef> {
        self.signs.iter().filter(move |sign| sign.of == of)
    }

    /// The answer to an error's text; `of_prompt` when the error ended a prompt, or stands alone.
    pub fn answer(&self, text: &str, of_prompt: bool) -> Option<&super::schema::AnswerDef> {
        self.answers.iter().find(|answer| (of_prompt || !answer.of_prompt) && answer.fits(text))
    }

    /// Some sign of this kind fits.
    pub fn shows(&self, of: SignOf, text: &str) -> bool {
        self.signs_of(of).any(|sign| sign.fits(text))
    }

    /// Names of the folder that holds node packs, the usual one first.
    pub fn node_folders(&self) -> impl Iterator<Item = &str> {
        self.signs_of(SignOf::NodeFolder).flat_map(|sign| &sign.equals).map(String::as_str)
    }

    /// The folder ships with ComfyUI.
    pub fn is_own_folder(&self, dir: &str) -> bool {
        self.shows(SignOf::OwnFolder, dir)
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema::SignPlace;
    use super::*;

    fn sign(of: SignOf) -> SignDef {
        let none = Vec::new;
        SignDef {
            id: "made-up".to_owned(),
            of,
            is: String::new(),
            says: String::new(),
            place: SignPlace::Fact,
            fact: "device".to_owned(),
            equals: none(),
            starts: none(),
            ends: none(),
            has: none(),
            all: none(),
            lacks: none(),
            with: std::collections::BTreeMap::new(),
        }
    }

    #[test]
    fn case_counts_where_the_sign_has_capitals() {
        let loose = SignDef { has: vec!["geforce".to_owned()], ..sign(SignOf::Gpu) };
        assert!(loose.fits("cuda:0 NVIDIA GeForce RTX 4090"));
        let exact = SignDef { has: vec!["WAN".to_owned()], ..sign(SignOf::Circumstance) };
        assert!(exact.fits("WAN21") && !exact.fits("SwanNet"));
    }

    #[test]
    fn what_must_not_be_there_goes_first() {
        let clang = SignDef { has: vec!["Clang".to_owned()], lacks: vec!["GCC".to_owned()], ..sign(SignOf::Os) };
        assert!(clang.fits("3.12 [Clang 16]") && !clang.fits("3.12 [GCC, Clang]"));
        assert!(sign(SignOf::Os).fits("anything"), "no condition: that the fact is told is enough");
    }

    #[test]
    fn nodes_of_comfyui_itself_are_known() {
        let packs = Packs::built_in();
        assert!(packs.is_own_folder("websocket_image_save.py") && !packs.is_own_folder("ComfyUI-Manager"));
    }

    #[test]
    fn paths_and_command_lines_show_their_system() {
        let packs = Packs::built_in();
        let system = |place: SignPlace, text: &str| {
            let mut signs = packs.signs_of(SignOf::Os).filter(|sign| sign.place == place);
            signs.find(|sign| sign.fits(text)).map(|sign| sign.is.as_str())
        };
        for (path, is) in [
            (r"D:\ComfyUI\custom_nodes\x", Some("windows")),
            ("C:/ComfyUI/custom_nodes/x", Some("windows")),
            ("/opt/ComfyUI/custom_nodes/x", Some("linux")),
            ("/mnt/a:/b", Some("linux")),
            ("custom_nodes/x", None),
            ("https://x", None),
        ] {
            assert_eq!(system(SignPlace::Path, path), is, "{path}");
        }
        assert_eq!(system(SignPlace::Line, r".\env\python.exe -s main.py"), Some("windows"));
        assert_eq!(system(SignPlace::Line, "python main.py --listen"), None);
    }
}
