//! Colours of a report. They repeat what the words say and are never the only sign.
//!
//! Whether a terminal can show them is decided by the stream, which strips them where it cannot.

use anstyle::{AnsiColor, Style};

/// A style for each kind of text.
#[derive(Debug, Clone, Copy)]
pub struct Palette {
    pub(crate) headline: Style,
    pub(crate) label: Style,
    pub(crate) dim: Style,
    fault: Style,
    doubt: Style,
    fine: Style,
}

/// What kind of answer a verdict is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Fault,
    Doubt,
    Fine,
}

impl Palette {
    /// No styles at all.
    pub const PLAIN: Self = Self {
        headline: Style::new(),
        label: Style::new(),
        dim: Style::new(),
        fault: Style::new(),
        doubt: Style::new(),
        fine: Style::new(),
    };

    /// Styles of a terminal, in its own sixteen colours.
    pub const COLOUR: Self = Self {
        headline: Style::new().bold(),
        label: Style::new().bold(),
        dim: Style::new().dimmed(),
        fault: AnsiColor::Red.on_default().bold(),
        doubt: AnsiColor::Yellow.on_default().bold(),
        fine: AnsiColor::Green.on_default().bold(),
    };

    /// The style of a verdict id.
    pub(crate) fn tone(&self, tone: Tone) -> Style {
        match tone {
            Tone::Fault => self.fault,
            Tone::Doubt => self.doubt,
            Tone::Fine => self.fine,
        }
    }
}

/// `text` in `style`; an empty style adds nothing.
pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
