//! Memory readings taken beside a log: a table of times and sizes becomes a series, the series and the prompts of the
//! log become memory at rest after each prompt, and that a shape.
//!
//! Only what a file says; whether growth is a leak is weighed elsewhere.

mod fit;
mod judge;
mod read;
mod rest;

pub use judge::{Shape, Trend, trend};
pub use read::{Column, PROMPT_ENDED, Sample, Samples, SamplesError, read_samples};
pub use rest::Work;
