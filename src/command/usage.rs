//! A call that the command line does not understand, told in Chinese. In English the parser's own words are shown.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use miette::Diagnostic;

use super::Environment;
use crate::catalog::Packs;
use crate::error::{as_json, shown};

/// Options that do not fit.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{text}")]
#[diagnostic(code(comfy_triage::usage::options))]
struct Misunderstood {
    text: String,
    #[help]
    help: String,
}

/// The fault as JSON, or as it is shown to whoever asks for Chinese. `None` where the parser's own text is better: help,
/// the version, another language, and faults that are rare.
pub fn usage_told(error: &clap::Error, arguments: &[OsString], around: &Environment) -> Option<String> {
    if !error.use_stderr() {
        return None;
    }
    let chinese = chinese_asked(arguments).unwrap_or(around.chinese).then(|| in_chinese(error)).flatten();
    if json_asked(arguments) {
        let told = chinese.unwrap_or_else(|| in_english(error));
        return Some(as_json(&told));
    }
    Some(shown(&chinese?, around.width(), true))
}

/// The parser's own words: the fault, then what it adds.
fn in_english(error: &clap::Error) -> Misunderstood {
    let told = error.to_string();
    let (text, help) = told.split_once('\n').unwrap_or((&told, ""));
    Misunderstood { text: text.trim_start_matches("error: ").to_owned(), help: help.trim().to_owned() }
}

fn in_chinese(error: &clap::Error) -> Option<Misunderstood> {
    let context = |kind| error.get(kind).map(words).unwrap_or_default();
    let first = |kind| context(kind).into_iter().next().unwrap_or_default();
    let option = first(ContextKind::InvalidArg);
    let value = first(ContextKind::InvalidValue);
    let text = match error.kind() {
        ErrorKind::UnknownArgument => say("usage-unknown-option", &[("option", &option)]),
        ErrorKind::InvalidSubcommand => {
            say("usage-unknown-command", &[("command", &first(ContextKind::InvalidSubcommand))])
        }
        ErrorKind::InvalidValue if value.is_empty() => say("usage-no-value", &[("option", &option)]),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            say("usage-value", &[("value", &value), ("option", &option)])
        }
        ErrorKind::MissingRequiredArgument => {
            say("usage-missing", &[("options", &quoted(&context(ContextKind::InvalidArg)))])
        }
        ErrorKind::ArgumentConflict => {
            say("usage-conflict", &[("option", &option), ("other", &quoted(&context(ContextKind::PriorArg)))])
        }
        _ => return None,
    }?;
    let near = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    let near = near.into_iter().map(context).find(|near| !near.is_empty());
    let values = context(ContextKind::ValidValue);
    let help = match near {
        Some(near) => say("usage-help-near", &[("near", &quoted(&near))]),
        None if !values.is_empty() => say("usage-help-values", &[("values", &values.join(" "))]),
        None => say("usage-help-all", &[]),
    }?;
    Some(Misunderstood { text, help })
}

/// The language that the call names; the parser did not come to it.
fn chinese_asked(arguments: &[OsString]) -> Option<bool> {
    asked(arguments, "--lang").map(crate::system::is_chinese)
}

/// The call names a format for programs.
fn json_asked(arguments: &[OsString]) -> bool {
    matches!(asked(arguments, "--format"), Some("json" | "ndjson")) || arguments.iter().any(|word| word == "--json")
}

/// What the call says behind an option. What stands behind `--` is another program's.
fn asked<'a>(arguments: &'a [OsString], option: &str) -> Option<&'a str> {
    let own = arguments.iter().take_while(|argument| *argument != "--").filter_map(|argument| argument.to_str());
    let own: Vec<&str> = own.collect();
    let value = |word: &'a str| word.strip_prefix(option).and_then(|rest| rest.strip_prefix('='));
    let at = own.iter().rposition(|word| *word == option || value(word).is_some())?;
    own.get(at).and_then(|word| value(word)).or_else(|| own.get(at + 1).copied())
}

fn words(value: &ContextValue) -> Vec<String> {
    match value {
        ContextValue::String(text) => vec![text.clone()],
        ContextValue::Strings(texts) => texts.clone(),
        _ => Vec::new(),
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" ")
}

fn say(id: &str, values: &[(&str, &str)]) -> Option<String> {
    let text = Packs::built_in_sentence(id, true)?;
    Some(values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value)))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Cli;

    fn told(arguments: &[&str]) -> Option<String> {
        let arguments: Vec<OsString> = std::iter::once(&"comfy-triage").chain(arguments).map(OsString::from).collect();
        let error = Cli::try_parse_from(&arguments).expect_err("a call that does not fit");
        usage_told(&error, &arguments, &Environment::default())
    }

    #[test]
    fn options_that_do_not_fit_are_told_in_chinese() {
        let holds = |arguments: &[&str], text: &str| {
            let told = told(arguments).unwrap_or_default();
            assert!(told.contains(text), "{arguments:?}: {told}");
        };
        holds(&["a.log", "--verbos", "--lang", "zh"], "没有选项 `--verbos`");
        holds(&["a.log", "--verbos", "--lang", "zh"], "是否想写 `--verbose`");
        holds(&["a.log", "--lang=zh", "--format", "docx"], "`docx` 不能用于 `--format <FORMAT>`");
        holds(&["a.log", "--lang=zh", "--format", "docx"], "可以写：text json ndjson markdown");
        holds(&["a.log", "--lang", "zh", "-v", "-q"], "不能和");
        holds(&["compare", "--lang", "zh"], "缺少：");
    }

    #[test]
    fn english_and_help_stay_with_the_parser() {
        assert_eq!(told(&["a.log", "--verbos"]), None);
        assert_eq!(told(&["--lang", "zh", "--help"]), None);
        assert_eq!(
            told(&["a.log", "--verbos", "--format", "json"])
                .map(|told| told.contains("\"code\":\"comfy_triage::usage::options\"")),
            Some(true)
        );
        assert_eq!(told(&["run", "--every", "x", "--", "y", "--lang", "zh"]), None);
    }
}
