//! The stack that a crash handler printed: where Python and native code stood when the process crashed.

use serde::Serialize;

use super::evidence::Evidence;

/// Frames kept; the innermost ones stand first in the log.
const FRAMES_KEPT: usize = 48;

/// One frame of a crash report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CrashFrame {
    /// A Python file or a native module, with single `/` between folders.
    pub file: String,
    /// Line of a Python file; 0 of a native module.
    pub line: u64,
    pub function: String,
    pub at: Evidence,
}

impl CrashFrame {
    /// `folder/file.py:line function`, whole.
    pub fn text(&self) -> String {
        match (self.line, self.function.is_empty()) {
            (0, true) => self.file.clone(),
            (0, false) => format!("{} {}", self.file, self.function),
            _ => format!("{}:{} {}", self.file, self.line, self.function),
        }
    }
}

/// What a crash report says of the place, innermost first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CrashStack {
    /// The report's first line that was seen.
    pub at: Evidence,
    /// Frames of Python, of the thread that crashed where the report tells it.
    pub frames: Vec<CrashFrame>,
    /// Modules of native code.
    pub native: Vec<CrashFrame>,
    /// The frames that follow are of the thread that crashed.
    #[serde(skip)]
    current: bool,
    /// The frames that follow are of another thread.
    #[serde(skip)]
    other: bool,
}

impl CrashStack {
    pub(crate) fn new(at: Evidence) -> Self {
        Self { at, frames: Vec::new(), native: Vec::new(), current: false, other: false }
    }

    /// A thread's heading: `current` where the report says that this is the thread that crashed.
    pub(crate) fn heading(&mut self, current: bool, native: bool) {
        if native {
            return;
        }
        if current && !self.current {
            // What stood before was another thread's.
            self.frames.clear();
        }
        self.other = !current && (self.current || !self.frames.is_empty());
        self.current |= current;
    }

    pub(crate) fn frame(&mut self, frame: CrashFrame, native: bool) {
        let list = match (native, self.other) {
            (true, _) => &mut self.native,
            (false, false) => &mut self.frames,
            (false, true) => return,
        };
        if list.len() < FRAMES_KEPT {
            list.push(frame);
        }
    }
}

/// A path with single `/` between its folders: `C:\\AI\\x` and `C:\AI\x` are `C:/AI/x`.
pub fn plain_path(path: &str) -> String {
    let mut plain = path.replace('\\', "/");
    while let Some(at) = plain.find("//") {
        plain.remove(at);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_with_single_slashes() {
        assert_eq!(plain_path(r"C:\\AI\\ComfyUI\\nodes.py"), "C:/AI/ComfyUI/nodes.py");
        assert_eq!(plain_path("/opt/ComfyUI/nodes.py"), "/opt/ComfyUI/nodes.py");
    }
}
