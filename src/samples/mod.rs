//! Memory readings taken beside a log: a table of times and sizes becomes a series, and the series a shape.
//!
//! Only what a file says; whether growth is a leak is weighed elsewhere.

mod read;
mod shape;

pub use read::{Column, Sample, Samples, SamplesError, read_samples};
pub use shape::{Shape, Trend, trend};
