//! Options before the command: they are meant for it, as in most programs.

use std::ffi::OsString;

use clap::{Arg, CommandFactory};

use super::Cli;

/// The call with the options that stand before a command put behind it, where that command looks for them.
pub fn options_behind_command(mut call: Vec<OsString>) -> Vec<OsString> {
    let cli = Cli::command();
    let mut at = 1;
    while let Some(word) = call.get(at).and_then(|word| word.to_str()) {
        if cli.find_subcommand(word).is_some() {
            // The program's name stays first, then the command, then what stood before it.
            if let Some(front) = call.get_mut(1..=at) {
                front.rotate_right(1);
            }
            return call;
        }
        if !word.starts_with('-') || word == "-" || word == "--" {
            return call;
        }
        let alone = word.contains('=') || !cli.get_arguments().any(|known| is(known, word) && takes_a_word(known));
        at += if alone { 1 } else { 2 };
    }
    call
}

fn is(known: &Arg, word: &str) -> bool {
    let long = word.strip_prefix("--").is_some_and(|name| known.get_long() == Some(name));
    let mut letters = word.chars().skip(1);
    long || (letters.next() == known.get_short() && known.get_short().is_some() && letters.next().is_none())
}

/// An option whose value may only stand behind `=` takes no word of its own.
fn takes_a_word(known: &Arg) -> bool {
    known.get_action().takes_values() && !known.is_require_equals_set()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::options_behind_command;

    fn ordered(call: &str) -> String {
        let words = options_behind_command(call.split(' ').map(OsString::from).collect());
        words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn options_go_behind_the_command_and_logs_stay() {
        assert_eq!(ordered("ct --lang zh explain leak-confirmed"), "ct explain --lang zh leak-confirmed");
        assert_eq!(ordered("ct --color never explain --cache-none"), "ct explain --color never --cache-none");
        assert_eq!(ordered("ct -v triage run.log"), "ct triage -v run.log");
        assert_eq!(ordered("ct --from-server triage"), "ct triage --from-server");
        assert_eq!(ordered("ct --lang=zh -v run.log"), "ct --lang=zh -v run.log");
        assert_eq!(ordered("ct --samples watch run.log"), "ct --samples watch run.log");
        assert_eq!(ordered("ct -- watch"), "ct -- watch");
        assert_eq!(ordered("ct run.log watch"), "ct run.log watch");
    }
}
