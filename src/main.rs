//! comfy-triage on the command line. The only place that knows the console; everything else returns or writes
//! into what it is given.

use std::io::{BufWriter, ErrorKind, Write};
use std::process::ExitCode;

use anstream::AutoStream;
use clap::Parser;
use comfy_triage::catalog::Packs;
use comfy_triage::cli::{Cli, options_behind_command};
use comfy_triage::command::{Console, Environment, run, usage_told};

fn main() -> ExitCode {
    let call = options_behind_command(std::env::args_os().collect());
    let cli = match Cli::try_parse_from(&call) {
        Ok(cli) => cli,
        Err(usage) => {
            // Help goes to stdout, errors to stderr; a closed pipe is no reason to complain.
            let arguments = call.get(1..).unwrap_or_default();
            let _ = match usage_told(&usage, arguments, &Environment::of_process()) {
                Some(text) => std::io::stderr().write_all(text.as_bytes()),
                None => usage.print(),
            };
            return status(usage.exit_code());
        }
    };
    let (colours, choice) = (cli.colours(), cli.color.choice());
    let around = Environment::of_process();
    let mut out = BufWriter::new(AutoStream::new(std::io::stdout().lock(), colours));
    let mut err = AutoStream::new(std::io::stderr().lock(), choice);
    let ended = run(cli, &mut Console { out: &mut out, err: &mut err, around: &around });
    if around.waits_at_end() {
        let _ = out.flush().and_then(|()| wait(&mut err, around.chinese));
    }
    match ended {
        Ok(exit) => ExitCode::from(exit.status()),
        // The reader had enough (`| head`): that is no failure of ours.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(err, "comfy-triage: cannot write: {error}");
            status(2)
        }
    }
}

/// What was dropped on the program opened a window that closes with it: it stays until somebody has read it.
fn wait(err: &mut impl Write, chinese: bool) -> std::io::Result<()> {
    writeln!(err, "\n{}", Packs::built_in_sentence("close-window", chinese).unwrap_or_default())?;
    std::io::stdin().read_line(&mut String::new()).map(drop)
}

fn status(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(2))
}
