//! Events, one by one, become the story of a log: sessions, prompts, loads, leak passes, failures, the end.
//!
//! The same fold serves file, pipe and live; memory does not grow with the log, since repeats become
//! counters and every list has a limit. Nothing is concluded here.

mod clock;
mod crash;
mod duplicate_lines;
mod ending;
mod evidence;
mod failure;
mod fold;
mod leak;
mod names;
mod note;
mod pace;
mod prompts;
mod refusal;
mod session;
mod signature_hit;
mod signs;
mod stage;
mod starts;
mod track;

pub use crash::{CrashFrame, CrashStack, plain_path};
pub use duplicate_lines::DuplicateLineFilter;
pub use ending::{Ending, EndingKind, InFlight};
pub use evidence::{Counted, Evidence};
pub use failure::{Exception, ExceptionPlace, FrameSign, HostOom, OomRecord, Pictures};
pub use fold::{Fold, Timeline};
pub use leak::{CurvePoint, Leak};
pub use pace::{Silence, Steps};
pub use refusal::Refusal;
pub use session::{
    Counts, Dynamic, Fact, FactJson, Flag, Load, LoneError, NodeFolder, Prompt, PromptCounts, Session, Title, UNNAMED,
    Unloads,
};
pub use signature_hit::{SignatureHit, SignatureTexts};
pub use stage::Start;
pub use starts::{LeftOut, Seen};
pub use track::{Mark, MarkKind, PromptGroup};
