//! ComfyUI versions and ranges of them, read tolerantly.
//!
//! Turns `0.3.76`, `v0.17.0-34-gb941913f` or `0.31` into something that can be compared. It does not
//! know which releases exist; that is data.

use std::fmt;

use nom::{
    IResult, Parser,
    character::complete::{char, digit1},
    combinator::{map_res, opt},
    sequence::preceded,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A release number. Missing parts are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

impl Version {
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }

    /// Reads a version at the start of `text`, after an optional `v`. `None` when there is no number
    /// with at least one dot.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_start().trim_start_matches(['v', 'V']);
        let (_, (major, minor, patch)) = numbers(text).ok()?;
        Some(Self { major, minor, patch: patch.unwrap_or(0) })
    }
}

fn number(text: &str) -> IResult<&str, u32> {
    map_res(digit1, str::parse).parse(text)
}

fn numbers(text: &str) -> IResult<&str, (u32, u32, Option<u32>)> {
    (number, preceded(char('.'), number), opt(preceded(char('.'), number))).parse(text)
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Version::parse(&text)
            .ok_or_else(|| serde::de::Error::custom(format!("\"{text}\" is not a version such as \"0.3.68\"")))
    }
}

impl schemars::JsonSchema for Version {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Version".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[vV]?[0-9]+[.][0-9]+([.][0-9]+)?", "description": "A version such as \"0.3.68\"." })
    }
}

/// The first version that has something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Since {
    /// Not established: neither restricts nor proves.
    #[default]
    Unknown,
    /// Older than version numbers (before 2024-07-12).
    BeforeNumbers,
    At(Version),
}

impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Since::Unknown => f.write_str("unknown"),
            Since::BeforeNumbers => f.write_str("pre-0.0.1"),
            Since::At(version) => version.fmt(f),
        }
    }
}

impl Serialize for Since {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Since {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.as_str() {
            "unknown" => Ok(Since::Unknown),
            "pre-0.0.1" => Ok(Since::BeforeNumbers),
            other => Version::parse(other).map(Since::At).ok_or_else(|| {
                serde::de::Error::custom(format!(
                    "\"{other}\" is not a version such as \"0.3.68\", nor \"pre-0.0.1\" or \"unknown\""
                ))
            }),
        }
    }
}

impl schemars::JsonSchema for Since {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Since".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^(unknown|pre-0[.]0[.]1|[vV]?[0-9]+[.][0-9]+([.][0-9]+)?.*)$",
            "description": "A version such as \"0.3.68\"; \"pre-0.0.1\" is older than version numbers, \"unknown\" is not established."
        })
    }
}

/// What is known about the version that wrote a log: a point, an interval, or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct VersionSpan {
    /// First version it can be; absent when open.
    pub from: Option<Version>,
    /// First version it can no longer be; absent when open.
    pub before: Option<Version>,
    /// A release build that printed its number.
    pub exact: Option<Version>,
}

impl VersionSpan {
    /// A release build: exactly this version.
    pub fn exactly(version: Version) -> Self {
        Self { from: Some(version), before: None, exact: Some(version) }
    }

    /// The log can have been written by `version`.
    pub fn may_be(&self, version: Version) -> bool {
        match self.exact {
            Some(exact) => exact == version,
            None => self.from.is_none_or(|from| version >= from) && self.before.is_none_or(|before| version < before),
        }
    }

    /// Some version of the span lies in `since..=until`. An open end does not restrict.
    pub fn overlaps(&self, since: Since, until: Option<Version>) -> bool {
        let low = match since {
            Since::At(version) => Some(version),
            Since::Unknown | Since::BeforeNumbers => None,
        };
        if let Some(exact) = self.exact {
            return low.is_none_or(|low| exact >= low) && until.is_none_or(|until| exact <= until);
        }
        let starts_in_time = match (self.before, low) {
            (Some(before), Some(low)) => low < before,
            _ => true,
        };
        let ends_late_enough = match (self.from, until) {
            (Some(from), Some(until)) => until >= from,
            _ => true,
        };
        starts_in_time && ends_late_enough
    }

    /// Every version of the span is at least `version`.
    pub fn at_least(&self, version: Version) -> bool {
        self.exact.or(self.from).is_some_and(|low| low >= version)
    }

    /// Every version of the span is older than `version`.
    pub fn older_than(&self, version: Version) -> bool {
        match (self.exact, self.before) {
            (Some(exact), _) => exact < version,
            (None, Some(before)) => before <= version,
            (None, None) => false,
        }
    }

    /// Nothing is known.
    pub fn is_unknown(&self) -> bool {
        self.from.is_none() && self.before.is_none() && self.exact.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_comfyui_and_git_print() {
        assert_eq!(Version::parse("0.3.76"), Some(Version::new(0, 3, 76)));
        assert_eq!(Version::parse("v0.17.0-34-gb941913f"), Some(Version::new(0, 17, 0)));
        assert_eq!(Version::parse("0.31"), Some(Version::new(0, 31, 0)));
        assert_eq!(Version::parse("b941913f"), None);
        assert_eq!(Version::parse("3"), None);
        assert_eq!(Version::parse("99999999999.1"), None);
    }

    #[test]
    fn a_span_overlaps_what_it_may_be() {
        let span = VersionSpan { from: Some(Version::new(0, 3, 68)), before: Some(Version::new(0, 9, 0)), exact: None };
        assert!(span.overlaps(Since::At(Version::new(0, 8, 1)), None));
        assert!(!span.overlaps(Since::At(Version::new(0, 9, 0)), None));
        assert!(!span.overlaps(Since::Unknown, Some(Version::new(0, 3, 67))));
        assert!(span.may_be(Version::new(0, 4, 0)) && !span.may_be(Version::new(0, 9, 0)));
        let exact = VersionSpan::exactly(Version::new(0, 3, 68));
        assert!(exact.older_than(Version::new(0, 3, 69)) && !exact.older_than(Version::new(0, 3, 68)));
    }
}
