//! What the packs say by which a kill, a crash and a node pack are known, kept for the length of a log.

use crate::rule::{Packs, SignDef, SignOf};

/// Exit codes that Unix and shells have; what lies beyond is a status of Windows.
const CODES: std::ops::RangeInclusive<i64> = -64..=255;

/// Who stopped the program, as signs of a cause outside call the user.
const USER: &str = "user";

/// The signs that the story is told with.
#[derive(Debug, Clone)]
pub(crate) struct Signs {
    processes: Vec<SignDef>,
    kill_codes: Vec<SignDef>,
    crash_codes: Vec<SignDef>,
    stops: Vec<SignDef>,
    node_folders: Vec<String>,
}

impl Signs {
    pub(crate) fn of(packs: &Packs) -> Self {
        let signs = |of: SignOf| packs.signs_of(of).cloned().collect();
        Self {
            processes: signs(SignOf::Process),
            kill_codes: signs(SignOf::KillCode),
            crash_codes: signs(SignOf::CrashCode),
            stops: packs.signs_of(SignOf::Outside).filter(|sign| sign.is == USER).cloned().collect(),
            node_folders: packs.node_folders().map(str::to_owned).collect(),
        }
    }

    /// The process may be ComfyUI's; a log that does not name it speaks of its own.
    pub(crate) fn may_be_comfyui(&self, name: &str) -> bool {
        let name = name.trim_matches(|letter| letter == '(' || letter == ')');
        name.is_empty() || self.processes.iter().any(|sign| sign.fits(name))
    }

    /// The exception that Ctrl-C raises.
    pub(crate) fn is_stop(&self, kind: &str) -> bool {
        self.stops.iter().any(|sign| sign.fits(kind))
    }

    /// The exit code of a program that was killed.
    pub(crate) fn is_kill_code(&self, code: i64) -> bool {
        let code = code.to_string();
        self.kill_codes.iter().any(|sign| sign.fits(&code))
    }

    /// The exit code of a native crash.
    pub(crate) fn is_crash_code(&self, code: i64) -> bool {
        // Windows gives its status with or without a sign.
        let text = if CODES.contains(&code) { code.to_string() } else { format!("0x{:08X}", code as u32) };
        self.crash_codes.iter().any(|sign| sign.fits(&text))
    }

    /// The folder of the node pack that a file belongs to.
    pub(crate) fn node_dir<'f>(&self, file: &'f str) -> Option<&'f str> {
        let is_slash = |letter| matches!(letter, '/' | '\\');
        let behind = |folder: &String| {
            let (at, found) = file
                .rmatch_indices(folder.as_str())
                .find(|(at, found)| file.get(at + found.len()..).is_some_and(|rest| rest.starts_with(is_slash)))?;
            let rest = file.get(at + found.len() + 1..)?;
            rest.split(is_slash).next().filter(|dir| !dir.is_empty())
        };
        self.node_folders.iter().find_map(behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crash_codes_are_told_from_kills_and_stops() {
        let signs = Signs::of(&Packs::built_in());
        for code in [3221225477, 139, -1073741819, 134, -11, 4294967295] {
            assert!(signs.is_crash_code(code), "{code}");
        }
        for code in [137, 0, 1, -1, 3221225786, 255, 1073807364] {
            assert!(!signs.is_crash_code(code), "{code}");
        }
        assert!(signs.is_kill_code(137) && signs.is_kill_code(-9));
        assert!(!signs.is_kill_code(1) && !signs.is_kill_code(1137));
    }

    #[test]
    fn the_folder_of_a_pack_is_found_in_paths_of_both_kinds() {
        let signs = Signs::of(&Packs::built_in());
        assert_eq!(signs.node_dir("/opt/ComfyUI/custom_nodes/A/b/c.py"), Some("A"));
        assert_eq!(signs.node_dir("C:\\x\\custom_nodes\\was-ns\\a.py"), Some("was-ns"));
        assert_eq!(signs.node_dir("/opt/custom_nodes/A/custom_nodes/B/c.py"), Some("B"));
        assert_eq!(signs.node_dir("/opt/ComfyUI/nodes.py"), None);
        assert_eq!(signs.node_dir("/opt/ComfyUI/custom_nodes/"), None);
    }
}
