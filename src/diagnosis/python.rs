//! Which Python runs this ComfyUI, as its paths in the log tell, and how a program and its arguments are typed.

use super::view::{Os, View};
use crate::rule::{Packs, SignOf};

/// ComfyUI's own Python as it can be typed; none where no line shows where it is.
pub fn of(view: &View<'_>, packs: &Packs) -> Option<String> {
    let session = view.session;
    if let Some(path) = session.text("python_path") {
        return Some(path.to_owned());
    }
    let frames = session.exceptions.iter().flat_map(|exception| exception.first_frame.iter().chain(&exception.frames));
    let libraries = session.nodes.iter().filter_map(|node| node.library.as_deref());
    let reasons = session.nodes.iter().filter_map(|node| node.reason.as_deref());
    let by_library =
        frames.map(String::as_str).chain(libraries).chain(reasons).find_map(|text| of_library(text, packs));
    by_library.or_else(|| {
        let paths = session.nodes.iter().map(|node| node.path.as_str());
        let frames = session.exceptions.iter().flat_map(|exception| &exception.frames).map(String::as_str);
        paths.chain(session.text("install_path")).chain(frames).find_map(of_portable)
    })
}

/// The Python that a folder of installed packages belongs to. A user's own packages belong to none.
fn of_library(text: &str, packs: &Packs) -> Option<String> {
    if packs.shows(SignOf::UserSite, text) {
        return None;
    }
    let text = text.rsplit_once(" (").map_or(text, |(_, path)| path).trim_start_matches(['(', '"', '\'']);
    let lower = text.to_lowercase().replace('\\', "/");
    let at = lower.find("/site-packages")?;
    let home = lower.get(..at)?;
    let windows = text.contains('\\');
    let root =
        if windows { home.strip_suffix("/lib")? } else { home.rsplit_once("/lib/python").map(|(root, _)| root)? };
    let root = text.get(..root.len())?;
    let embedded = |name: &str| root.rsplit('\\').next().is_some_and(|last| last.eq_ignore_ascii_case(name));
    Some(match windows {
        true if embedded("venv") || embedded(".venv") => format!("{root}\\Scripts\\python.exe"),
        true => format!("{root}\\python.exe"),
        false if root.is_empty() || root == "/usr" || root == "/usr/local" => "python3".to_owned(),
        false => format!("{root}/bin/python"),
    })
}

/// The Python of the portable build stands beside ComfyUI's folder.
fn of_portable(path: &str) -> Option<String> {
    const BUILD: &str = "\\comfyui_windows_portable";
    let lower = path.to_lowercase().replace('/', "\\");
    let at = lower.find("\\comfyui\\custom_nodes").or_else(|| lower.find("\\comfyui\\"))?;
    let root = path.get(..at)?;
    let portable = lower.get(..at)?.contains(BUILD);
    portable.then(|| format!("{root}\\python_embeded\\python.exe"))
}

/// As it is typed: in quotes, if a blank stands in it.
pub fn typed(path: &str, os: Os) -> String {
    match path.contains(' ') {
        false => path.to_owned(),
        // PowerShell needs the ampersand and the console does not know it; quotes alone are right for the console.
        true if os == Os::Windows => format!("\"{path}\""),
        true => format!("'{path}'"),
    }
}

/// An argument as it is typed. Double quotes are right in every shell; `<` and `>` would send text to a file.
pub fn argument(text: &str) -> String {
    let plain =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/' | ':' | '+' | '@');
    if text.starts_with("--") || text.chars().all(plain) { text.to_owned() } else { format!("\"{text}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_python_of_a_folder_of_packages() {
        let packs = Packs::built_in();
        let of = |text: &str| of_library(text, &packs);
        let same = |text: &str, python: &str| assert_eq!(of(text).as_deref(), Some(python), "{text}");
        same(r"C:\x\python_embeded\Lib\site-packages\torch\__init__.py:12 f", r"C:\x\python_embeded\python.exe");
        same(r"D:\c\.venv\Lib\site-packages\torch\a.py", r"D:\c\.venv\Scripts\python.exe");
        same("/opt/venv/lib/python3.12/site-packages/torch/a.py", "/opt/venv/bin/python");
        same("cannot import name 'x' from 'y' (/a b/lib/python3.12/site-packages/y.py)", "/a b/bin/python");
        assert_eq!(of(r"C:\Users\u\AppData\Roaming\Python\Python312\site-packages\x.py"), None);
        assert_eq!(of("/opt/ComfyUI/nodes.py"), None);
    }

    #[test]
    fn the_python_of_the_portable_build() {
        let path = r"M:\a\ComfyUI_windows_portable\ComfyUI\custom_nodes\pack";
        assert_eq!(of_portable(path).as_deref(), Some(r"M:\a\ComfyUI_windows_portable\python_embeded\python.exe"));
        assert_eq!(of_portable(r"M:\ComfyUI\custom_nodes\pack"), None);
    }

    #[test]
    fn arguments_are_quoted_where_a_shell_would_read_them() {
        assert_eq!(argument("numpy<2"), "\"numpy<2\"");
        assert_eq!(argument("opencv-python"), "opencv-python");
        assert_eq!(typed(r"C:\a b\python.exe", Os::Windows), "\"C:\\a b\\python.exe\"");
    }
}
