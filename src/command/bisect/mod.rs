//! `bisect`: finds the guilty node pack by halving, with the user or a script running the rounds.
//!
//! The search itself is in `crate::bisect`, what a log shows in `answer::bisection`; here are the session on the
//! disk, the words on the console and, for `bisect run`, the processes.

mod fault;
mod launch;
mod page;
#[cfg(unix)]
mod process;
mod rounds;
mod run;
mod show;
mod start;
mod state;
mod status;
mod step;
mod store;

use std::io;

pub use status::BisectOutput;

use self::fault::BisectError;
use self::show::Show;
use self::state::{Mark, State};
use self::store::Store;
use super::{Console, Ended, Exit};
use crate::catalog::Packs;
use crate::cli::{BisectArgs, BisectCommand, ViewFormat};
use crate::diagnosis::Messages;
use crate::input::Bounds;
use crate::render::{Block, Palette, View, blocks, markdown_blocks};
use crate::system::Kind;

/// What all commands of a session use.
struct Desk<'a> {
    store: Store,
    packs: &'a Packs,
    zh: bool,
    /// How much a log may take.
    bounds: Bounds,
    /// How the session is named on the command line.
    option: String,
}

/// How a command of a session ended: an error of writing, or a call that cannot be answered.
type Did = io::Result<Result<(), BisectError>>;

/// Runs the command.
pub(super) fn run(args: &BisectArgs, console: &mut Console<'_>) -> io::Result<Ended> {
    let packs = super::packs(&crate::cli::PackArgs { folders: args.rules.clone() }, console)?;
    let zh = super::chinese(&crate::cli::LanguageArgs { lang: args.lang }, console);
    let did = match Store::of(&args.name, args.state.as_deref()) {
        Ok(store) => Desk {
            store,
            packs: &packs,
            zh,
            bounds: console.around.bounds,
            option: option(args, console.around.system.kind),
        }
        .run(&args.command, console)?,
        Err(error) => Err(error),
    };
    match did {
        Ok(()) => Ok(Ok(Exit::Done)),
        Err(error) => {
            console.out.flush()?;
            console.fault(&error)?;
            Ok(Ok(Exit::Refused))
        }
    }
}

/// The option that names the session, for commands that are shown.
fn option(args: &BisectArgs, here: Kind) -> String {
    match &args.state {
        Some(file) => format!(" --state {}", crate::shell::quoted_for(here, &file.display().to_string())),
        None if args.name == "default" => String::new(),
        None => format!(" --name {}", args.name),
    }
}

impl Desk<'_> {
    fn run(&self, command: &BisectCommand, console: &mut Console<'_>) -> Did {
        match command {
            BisectCommand::Start(args) => start::start(self, args, console),
            BisectCommand::Step(args) => step::step(self, args, console),
            BisectCommand::Good => rounds::by_hand(self, Mark::Good, console),
            BisectCommand::Bad => rounds::by_hand(self, Mark::Bad, console),
            BisectCommand::Skip => rounds::by_hand(self, Mark::Skip, console),
            BisectCommand::Keep(args) => rounds::keep(self, &args.packs, console),
            BisectCommand::Status(args) => self.status(args.format, console),
            BisectCommand::Undo => rounds::undo(self, console),
            BisectCommand::Log => self.log(console),
            BisectCommand::Reset => rounds::reset(self, console),
            BisectCommand::Run(args) => run::run(self, args, console),
        }
    }

    fn messages(&self) -> Messages<'_> {
        Messages { packs: self.packs, zh: self.zh }
    }

    fn show<'s>(&'s self, state: &'s State) -> Show<'s> {
        Show { state, messages: self.messages(), option: &self.option }
    }

    fn status(&self, format: ViewFormat, console: &mut Console<'_>) -> Did {
        match self.store.load() {
            Ok(state) => {
                let show = self.show(&state);
                let text = match format {
                    ViewFormat::Html => show.page(),
                    ViewFormat::Json => {
                        format!("{}\n", serde_json::to_string_pretty(&status::status(&state, &show))?)
                    }
                    ViewFormat::Markdown | ViewFormat::Text => {
                        let mut told = show.rounds();
                        told.extend(show.stand());
                        if format == ViewFormat::Text {
                            return write(&told, console).map(Ok);
                        }
                        markdown_blocks(&told)
                    }
                };
                console.out.write_all(text.as_bytes()).map(Ok)
            }
            Err(error) => Ok(Err(error)),
        }
    }

    fn log(&self, console: &mut Console<'_>) -> Did {
        match self.store.load() {
            Ok(state) => write(&self.show(&state).log(), console).map(Ok),
            Err(error) => Ok(Err(error)),
        }
    }
}

/// Lays out blocks and writes them.
fn write(told: &[Block], console: &mut Console<'_>) -> io::Result<()> {
    let view = View { width: console.around.width(), palette: Palette::COLOUR, ..View::default() };
    let mut text = String::new();
    blocks(&mut text, told, &view);
    console.out.write_all(text.trim_start_matches('\n').as_bytes())
}
