//! CSV with a header line, or JSON lines, become samples in MiB.
//!
//! Known columns: `time` or `epoch`; `rss_anon_*` (or `anon_*`), `rss_*`, `pss_*`, `cgroup_current_*`,
//! `mem_available_*`, `vram_used_*`; `prompt`, whose rows tell when a prompt began or ended instead of a reading. The end of a name gives its unit: `_kb`/`_kib`, `_mb`/`_mib`, `_gib`, else bytes. Others are ignored.

use std::io::{BufRead, Read};

use chrono::{DateTime, NaiveDateTime};
use miette::Diagnostic;
use serde::Serialize;

/// Samples kept; of a longer file every second one goes when it is full.
const LIMIT: usize = 65_536;
/// Longest line of a samples file.
const LINE_LIMIT: u64 = 64 * 1024;
/// What stands under `prompt` in a row that tells the end of one.
pub const PROMPT_ENDED: &str = "executed";
const MIB: f64 = 1024.0 * 1024.0;

/// What a column measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Column {
    /// Anonymous memory of the process: weights in RAM, caches, Python objects. The one to judge by.
    Anon,
    /// Resident memory, mapped files included.
    Rss,
    /// Resident memory of all processes, with what several of them share counted once.
    Pss,
    /// The container's own count.
    Cgroup,
    /// What the machine can still give.
    Available,
    /// The driver's figure of the card.
    Vram,
}

/// One reading, in MiB.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Sample {
    /// Seconds since 1970, or since the first line when there is no time column.
    pub seconds: f64,
    pub anon_mib: Option<f64>,
    pub rss_mib: Option<f64>,
    pub pss_mib: Option<f64>,
    pub cgroup_mib: Option<f64>,
    pub available_mib: Option<f64>,
    pub vram_mib: Option<f64>,
    /// It is no reading: a prompt ended then.
    #[serde(skip)]
    pub ends_prompt: bool,
}

impl Sample {
    /// The reading of a column.
    pub fn get(&self, column: Column) -> Option<f64> {
        match column {
            Column::Anon => self.anon_mib,
            Column::Rss => self.rss_mib,
            Column::Pss => self.pss_mib,
            Column::Cgroup => self.cgroup_mib,
            Column::Available => self.available_mib,
            Column::Vram => self.vram_mib,
        }
    }
}

/// A file of samples.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Samples {
    pub points: Vec<Sample>,
    /// The file had a time column.
    pub has_time: bool,
    /// When prompts ended, where the file says so: rows of `comfy-triage run` with `executed` under `prompt`.
    pub ended: Vec<f64>,
    /// Lines that could not be read as a sample.
    pub skipped: u64,
}

impl Samples {
    /// Values of a column with their times.
    pub fn series(&self, column: Column) -> Vec<(f64, f64)> {
        self.points.iter().filter_map(|sample| sample.get(column).map(|mib| (sample.seconds, mib))).collect()
    }

    /// The column that tells most about the process's own RAM.
    pub fn ram_column(&self) -> Option<Column> {
        [Column::Anon, Column::Cgroup, Column::Pss, Column::Rss]
            .into_iter()
            .find(|column| self.points.iter().any(|sample| sample.get(*column).is_some()))
    }
}

/// Why a samples file cannot be used.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum SamplesError {
    #[error("cannot read the samples in {name}: {reason}")]
    #[diagnostic(code(samples::unreadable), help("check that the file exists and that you may read it"))]
    Unreadable { name: String, reason: String },
    #[error("{name} holds no memory samples")]
    #[diagnostic(
        code(samples::no_columns),
        help(
            "a CSV file needs a header line with columns such as time,rss_anon_kb,rss_kb,cgroup_current,mem_available_kb; JSON lines need the same names"
        )
    )]
    NoColumns { name: String },
}

/// Reads CSV or JSON lines.
///
/// # Errors
/// When the file cannot be read, or has no known column.
// Long: one pass over a table: head, rows, what could not be read.
pub fn read_samples(name: &str, input: impl Read) -> Result<Samples, SamplesError> {
    let mut reader = std::io::BufReader::new(input);
    let mut samples = Samples::default();
    let mut header: Option<Vec<Option<Field>>> = None;
    let mut step = 1usize;
    let mut number = 0usize;
    loop {
        let mut bytes = Vec::new();
        let read = reader
            .by_ref()
            .take(LINE_LIMIT)
            .read_until(b'\n', &mut bytes)
            .map_err(|error| SamplesError::Unreadable { name: name.to_owned(), reason: error.to_string() })?;
        if read == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&bytes);
        let line = text.trim().trim_start_matches('\u{feff}');
        if line.is_empty() {
            continue;
        }
        let sample = if line.starts_with('{') {
            json_sample(line, &mut samples.has_time)
        } else if let Some(fields) = &header {
            Some(csv_sample(line, fields))
        } else {
            let fields: Vec<Option<Field>> = line.split(',').map(Field::of).collect();
            samples.has_time = fields.iter().any(|field| matches!(field, Some(Field::Time)));
            header = Some(fields);
            continue;
        };
        number += 1;
        if let Some(ended) = sample.filter(|sample| sample.ends_prompt) {
            samples.ended.push(ended.seconds);
            continue;
        }
        match sample.filter(|sample| {
            [Column::Anon, Column::Rss, Column::Pss, Column::Cgroup, Column::Available, Column::Vram]
                .iter()
                .any(|column| sample.get(*column).is_some())
        }) {
            Some(mut sample) => {
                if !samples.has_time {
                    sample.seconds = number as f64;
                }
                if number.is_multiple_of(step) {
                    samples.points.push(sample);
                }
                if samples.points.len() >= LIMIT {
                    let mut index = 0;
                    samples.points.retain(|_| {
                        index += 1;
                        index % 2 == 0
                    });
                    step *= 2;
                }
            }
            None => samples.skipped += 1,
        }
    }
    if samples.points.is_empty() {
        return Err(SamplesError::NoColumns { name: name.to_owned() });
    }
    samples.ended.sort_by(f64::total_cmp);
    samples.points.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    Ok(samples)
}

#[derive(Debug, Clone, Copy)]
enum Field {
    Time,
    /// What a prompt did at that time.
    Prompt,
    Size(Column, f64),
}

impl Field {
    fn of(name: &str) -> Option<Self> {
        let name = name.trim().trim_matches('"').to_lowercase();
        if matches!(name.as_str(), "time" | "epoch" | "timestamp" | "t") {
            return Some(Self::Time);
        }
        if name == "prompt" {
            return Some(Self::Prompt);
        }
        let (column, rest) = [
            ("rss_anon", Column::Anon),
            ("rssanon", Column::Anon),
            ("anon", Column::Anon),
            ("cgroup_current", Column::Cgroup),
            ("memory_current", Column::Cgroup),
            ("mem_available", Column::Available),
            ("ram_available", Column::Available),
            ("vram_used", Column::Vram),
            ("vram", Column::Vram),
            ("rss", Column::Rss),
            ("pss", Column::Pss),
        ]
        .iter()
        .find_map(|(start, column)| name.strip_prefix(start).map(|rest| (*column, rest)))?;
        let factor = match rest {
            "_kb" | "_kib" => 1024.0,
            "_mb" | "_mib" => MIB,
            "_gb" | "_gib" => 1024.0 * MIB,
            "" | "_bytes" | "_b" => 1.0,
            _ => return None,
        };
        Some(Self::Size(column, factor))
    }

    fn enter(self, text: &str, sample: &mut Sample) {
        match self {
            Self::Time => {
                if let Some(seconds) = seconds_of(text) {
                    sample.seconds = seconds;
                }
            }
            Self::Prompt => sample.ends_prompt = text == PROMPT_ENDED,
            Self::Size(column, factor) => {
                let value = text
                    .parse::<f64>()
                    .ok()
                    .filter(|value| value.is_finite() && *value >= 0.0)
                    .map(|value| value * factor / MIB)
                    .filter(|value| value.is_finite());
                let slot = match column {
                    Column::Anon => &mut sample.anon_mib,
                    Column::Rss => &mut sample.rss_mib,
                    Column::Pss => &mut sample.pss_mib,
                    Column::Cgroup => &mut sample.cgroup_mib,
                    Column::Available => &mut sample.available_mib,
                    Column::Vram => &mut sample.vram_mib,
                };
                *slot = slot.or(value);
            }
        }
    }
}

fn csv_sample(line: &str, fields: &[Option<Field>]) -> Sample {
    let mut sample = Sample::default();
    for (text, field) in line.split(',').zip(fields) {
        if let Some(field) = field {
            field.enter(text.trim().trim_matches('"'), &mut sample);
        }
    }
    sample
}

fn json_sample(line: &str, has_time: &mut bool) -> Option<Sample> {
    let value: serde_json::Value = serde_json::from_str(line).ok()?;
    let mut sample = Sample::default();
    for (name, value) in value.as_object()? {
        let Some(field) = Field::of(name) else { continue };
        *has_time |= matches!(field, Field::Time);
        match value {
            serde_json::Value::String(text) => field.enter(text, &mut sample),
            serde_json::Value::Number(number) => field.enter(&number.to_string(), &mut sample),
            _ => {}
        }
    }
    Some(sample)
}

/// Seconds since 1970 of a number or an ISO time; a time without zone is taken as it stands.
pub(crate) fn seconds_of(text: &str) -> Option<f64> {
    if let Ok(number) = text.parse::<f64>() {
        return number.is_finite().then_some(number);
    }
    let text = text.replace(' ', "T").replace(',', ".");
    if let Ok(time) = DateTime::parse_from_rfc3339(&text) {
        return Some(time.timestamp_micros() as f64 / 1e6);
    }
    NaiveDateTime::parse_from_str(&text, "%Y-%m-%dT%H:%M:%S%.f")
        .ok()
        .map(|time| time.and_utc().timestamp_micros() as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_and_json_lines_give_the_same_samples() {
        let csv = "time,epoch,rss_kb,rss_anon_kb,mem_available_kb\n2026-11-30T09:20:20.000,1796030420.0,572416,232448,23168568\n";
        let json = "{\"epoch\":1796030420.0,\"rss_kb\":572416,\"rss_anon_kb\":232448,\"mem_available_kb\":23168568}\n";
        let a = read_samples("a", csv.as_bytes()).unwrap();
        let b = read_samples("b", json.as_bytes()).unwrap();
        assert_eq!(a.points[0].anon_mib, Some(227.0));
        assert_eq!(a.points[0].rss_mib, b.points[0].rss_mib);
        assert_eq!(a.ram_column(), Some(Column::Anon));
    }

    #[test]
    fn a_column_that_is_read_seldom_does_not_stand_for_one_that_is_always_there() {
        let both = read_samples("x", "time,rss_kb,rss_anon_kb,pss_kb\n1,900,100,500\n2,900,100,\n".as_bytes()).unwrap();
        assert_eq!((both.ram_column(), both.points[1].pss_mib), (Some(Column::Anon), None));
        let shared = read_samples("x", "time,rss_mib,pss_mib\n1,9,5\n".as_bytes()).unwrap();
        assert_eq!((shared.ram_column(), shared.points[0].pss_mib), (Some(Column::Pss), Some(5.0)));
        assert_eq!(shared.series(Column::Pss), [(1.0, 5.0)]);
    }

    #[test]
    fn a_file_without_known_columns_is_told() {
        assert!(matches!(read_samples("x", "a,b\n1,2\n".as_bytes()), Err(SamplesError::NoColumns { .. })));
        assert!(matches!(read_samples("x", "".as_bytes()), Err(SamplesError::NoColumns { .. })));
    }
}
