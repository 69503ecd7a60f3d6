//! Why something could not be imported: the packs' causes held against the text of a reason.

use std::cell::OnceCell;

use regex::bytes::{Regex, RegexBuilder};

use crate::catalog::messages::{Messages, fill};
use crate::catalog::{CauseDef, Packs};

/// The packs' causes, ready to be asked.
pub struct Causes<'p> {
    packs: &'p Packs,
    /// Compiled when a reason first gets to it: most logs have none. None for a broken one, which only a user's pack
    /// can hold.
    known: Vec<(&'p CauseDef, OnceCell<Option<Regex>>)>,
}

/// A cause with what the reason names.
#[derive(Debug, Clone)]
pub struct Cause<'p> {
    pub def: &'p CauseDef,
    /// The module concerned, as Python calls it.
    pub module: Option<String>,
    name: Option<String>,
    need: Option<String>,
    /// The package concerned, as pip calls it.
    pub library: Option<String>,
}

impl<'p> Causes<'p> {
    /// The causes of these packs.
    pub fn of(packs: &'p Packs) -> Self {
        Self { packs, known: packs.causes.iter().map(|def| (def, OnceCell::new())).collect() }
    }

    /// The first cause that fits `reason`; `file` is the last file of an installed package that the traceback passed.
    pub fn find(&self, reason: &str, file: Option<&str>) -> Option<Cause<'p>> {
        self.known.iter().find_map(|(def, compiled)| {
            // Messages of Python are English, so that Unicode's tables, which take most of the time, are not needed.
            let build = |unicode| RegexBuilder::new(&def.text).unicode(unicode).build().ok();
            let compile = || build(false).or_else(|| build(true));
            let expression = compiled.get_or_init(compile).as_ref()?;
            let found = expression.captures(reason.as_bytes())?;
            let group = |name: &str| {
                let names = expression.capture_names().flatten().filter(|known| {
                    known.strip_prefix(name).is_some_and(|rest| rest.chars().all(|digit| digit.is_ascii_digit()))
                });
                names
                    .filter_map(|name| found.name(name))
                    .map(|text| String::from_utf8_lossy(text.as_bytes()).trim().to_owned())
                    .next()
            };
            let module = group("module");
            let by_file = || file.and_then(package_of).or_else(|| package_of(reason));
            let named = module
                .as_deref()
                .filter(|module| !module.starts_with("lib"))
                .map(|module| pip_name(module, self.packs));
            let of_file = by_file().map(|package| pip_name(&package, self.packs));
            // What cannot be loaded is a part of a package, and may have any name: only one that is known names its package.
            let listed = module.as_deref().is_some_and(|module| is_listed(module, self.packs));
            let library = match def.tag.as_str() {
                BINARY | NUMPY => of_file.or(named.filter(|_| listed)),
                _ => named.or(of_file),
            };
            Some(Cause { def, module, name: group("name"), need: group("need"), library })
        })
    }
}

/// Tags of causes whose module is a binary part of a package.
const BINARY: &str = "other-build";
const NUMPY: &str = "numpy-2";

impl Cause<'_> {
    /// What is wrong, in a clause.
    pub fn says(&self, messages: &Messages<'_>) -> String {
        let template = messages.packs.prose_text("cause", &self.def.id, "says", messages.zh).unwrap_or(&self.def.id);
        let library = self.library.clone().unwrap_or_else(|| messages.text("cause-library-unknown", &[]));
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let module = self.module.clone().unwrap_or_else(|| library.clone());
        fill(
            template,
            &[("module", &module), ("name", &text(&self.name)), ("need", &text(&self.need)), ("library", &library)],
        )
    }

    /// What pip has to install, as it is typed.
    pub fn pip(&self, packs: &Packs) -> Option<String> {
        let messages = |text: &str| text.split_whitespace().map(argument).collect::<Option<Vec<String>>>();
        let typed = match (&self.need, self.def.pip.as_str()) {
            (None, "") => {
                let module = self.module.as_deref().filter(|_| self.def.tag == "missing-module")?;
                messages(&pip_name(module, packs))
            }
            (Some(need), "") => messages(need),
            (_, pip) => messages(pip),
        };
        typed.map(|messages| messages.join(" ")).filter(|typed| !typed.is_empty())
    }

    /// Failures of one cause are one: of the same module where the cause names one.
    pub fn key(&self) -> (String, Option<String>) {
        (self.def.id.clone(), self.module.as_deref().map(|module| first_part(module).to_owned()))
    }
}

/// The package that a file of installed packages belongs to.
fn package_of(text: &str) -> Option<String> {
    let path = text.replace('\\', "/");
    let (_, rest) = path.rsplit_once("site-packages/").or_else(|| path.rsplit_once("dist-packages/"))?;
    let first = rest.split(['/', '.']).next()?;
    (!first.is_empty()).then(|| first.to_owned())
}

/// An argument as every shell takes it: in double quotes where `<` and `>` would send text to a file. A log is not
/// trusted: what a shell would read otherwise is no argument.
fn argument(text: &str) -> Option<String> {
    let plain =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/' | ':' | '+' | '@');
    let harmless = |letter: char| plain(letter) || matches!(letter, '<' | '>' | '=' | '~' | ',' | '[' | ']' | '*');
    if text.chars().all(plain) {
        return Some(text.to_owned());
    }
    text.chars().all(harmless).then(|| format!("\"{text}\""))
}

fn first_part(module: &str) -> &str {
    module.split('.').next().unwrap_or(module)
}

/// What pip calls the package that brings `module`.
pub fn pip_name(module: &str, packs: &Packs) -> String {
    let named = |name: &str| packs.packages.iter().find(|package| package.modules.iter().any(|known| known == name));
    let mut name = module;
    loop {
        if let Some(package) = named(name) {
            return if package.pip.is_empty() { package.id.clone() } else { package.pip.clone() };
        }
        match name.rsplit_once('.') {
            Some((outer, _)) => name = outer,
            None => return first_part(module).to_owned(),
        }
    }
}

/// The packs say which package the module belongs to.
fn is_listed(module: &str, packs: &Packs) -> bool {
    packs
        .packages
        .iter()
        .any(|package| package.modules.iter().any(|known| known == module || known == first_part(module)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_is_the_first_that_fits_its_examples() {
        let file = Packs::definitions(&[]);
        let packs = Packs::built_in();
        let causes = Causes::of(&packs);
        for def in &file.cause {
            let examples: Vec<String> = examples(&def.id);
            assert!(!examples.is_empty(), "{} has no example", def.id);
            for example in examples {
                let found = causes.find(&example, None).map(|cause| cause.def.id.clone());
                assert_eq!(found.as_deref(), Some(def.id.as_str()), "{example}");
            }
        }
    }

    fn examples(id: &str) -> Vec<String> {
        let text = std::fs::read_to_string("rules/causes.toml").expect("the packs");
        let value: toml::Table = text.parse().expect("TOML");
        let rows = value["cause"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["id"].as_str() == Some(id)).expect("the row");
        row["match"].as_array().expect("examples").iter().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    }

    #[test]
    fn an_argument_of_a_log_is_never_more_than_one_word() {
        assert_eq!(argument("numpy<2").as_deref(), Some("\"numpy<2\""));
        assert_eq!(argument("opencv-python").as_deref(), Some("opencv-python"));
        for hostile in ["$(rm)", "a`b`", "a;b", "a\"b", "a|b", "a&b"] {
            assert_eq!(argument(hostile), None, "{hostile}");
        }
    }

    #[test]
    fn pip_calls_some_modules_otherwise() {
        let packs = Packs::built_in();
        for (module, package) in [
            ("cv2", "opencv-python"),
            ("cv2.ximgproc", "opencv-contrib-python"),
            ("dotenv", "python-dotenv"),
            ("google.protobuf.message", "protobuf"),
            ("toml", "toml"),
            ("diffusers.utils", "diffusers"),
        ] {
            assert_eq!(pip_name(module, &packs), package);
        }
    }

    #[test]
    fn what_pip_has_to_install_is_typed_for_every_shell() {
        let packs = Packs::built_in();
        let causes = Causes::of(&packs);
        let pip = |reason: &str| causes.find(reason, None).and_then(|cause| cause.pip(&packs));
        assert_eq!(pip("No module named 'cv2'").as_deref(), Some("opencv-python"));
        assert_eq!(
            pip("cannot import name 'cached_download' from 'huggingface_hub' (/x)").as_deref(),
            Some("\"huggingface_hub<0.26\"")
        );
        assert_eq!(pip("cannot import name 'x' from 'diffusers' (/x)"), None);
    }
}
