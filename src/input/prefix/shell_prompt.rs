//! Prompts of shells, behind which somebody typed a command.

use super::{Dialect, Stripped, leading, run};
use memchr::{memchr, memmem};

pub(super) const DIALECT: Dialect = Dialect {
    name: "shell prompts",
    about: "the prompt before a command that somebody typed, on Linux, macOS and Windows",
    begins: &[
        (b'$', b'$'),
        (b'#', b'#'),
        (b'(', b'('),
        (b'[', b'['),
        (b'A', b'Z'),
        (b'a', b'z'),
        (b'0', b'9'),
        (0xce, 0xce),
        (0xe2, 0xe2),
    ],
    take,
    examples: &[
        ("$ python main.py", "python main.py"),
        ("# python main.py", "python main.py"),
        ("❯ taskset -c 0-7 python main.py", "taskset -c 0-7 python main.py"),
        ("➜  ComfyUI git:(master) ✗ python main.py", "python main.py"),
        (r"PS C:\ComfyUI> python main.py", "python main.py"),
        (r"(venv) PS C:\ComfyUI> python main.py", "python main.py"),
        (r"D:\ComfyUI>.\env\python.exe -s main.py", r".\env\python.exe -s main.py"),
        ("user@host:~/ComfyUI$ python main.py", "python main.py"),
        ("root@7a3f:/srv# python main.py", "python main.py"),
        ("(venv) user@host:~/ComfyUI$ python main.py", "python main.py"),
        ("(venv) $ python main.py", "python main.py"),
        ("[user@host ComfyUI]$ python main.py", "python main.py"),
        ("user@mac ComfyUI % python main.py", "python main.py"),
    ],
};

/// Bytes in which a prompt must end, and those of a path and of a name in it.
const LONGEST: usize = 200;
const PATH: usize = 260;
const NAME: usize = 64;

fn take<'a>(s: &'a [u8], out: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let typed = command(s)?;
    out.prompted = true;
    out.tagged = false;
    typed.get(leading(typed)..)
}

/// What stands behind the prompt that `s` begins with.
fn command(s: &[u8]) -> Option<&[u8]> {
    match s {
        [b'$', b' ', rest @ ..] => Some(rest),
        [b'#', b' ', rest @ ..] => {
            let commands = [&b"python"[..], b"docker", b"podman", b"./", b"sudo "];
            commands.iter().any(|command| rest.starts_with(command)).then_some(rest)
        }
        // ❯, ➜ and λ
        [0xe2, 0x9d, 0xaf, rest @ ..] | [0xce, 0xbb, rest @ ..] if rest.first() == Some(&b' ') => Some(rest),
        [0xe2, 0x9e, 0x9c, rest @ ..] if rest.first() == Some(&b' ') => Some(behind_theme(rest)),
        // `(venv) user@host:~$ `: the name counts only before a prompt.
        [b'(', ..] => {
            let end = memchr(b')', s.get(..NAME).unwrap_or(s))?;
            let rest = s.get(end + 1..)?.strip_prefix(b" ")?;
            if rest.first() == Some(&b'(') { None } else { command(rest) }
        }
        [b'[', inner @ ..] => in_brackets(inner),
        [b'P', b'S', b' ', b'/' | b'C'..=b'Z', ..] => of_windows(s.get(3..)?),
        [_, b':', b'\\', ..] => of_windows(s),
        _ => of_user(s),
    }
}

/// `user@host ComfyUI]$ python main.py`.
fn in_brackets(inner: &[u8]) -> Option<&[u8]> {
    let end = memchr(b']', inner.get(..LONGEST).unwrap_or(inner))?;
    let rest = inner.get(end + 1..)?;
    let marked = matches!(rest, [b'$' | b'#', b' ', ..] | [b'$' | b'#']);
    (marked && memchr(b'@', inner.get(..end)?).is_some()).then(|| rest.get(1..))?
}

/// `C:\ComfyUI>python main.py`, without `PS `.
fn of_windows(s: &[u8]) -> Option<&[u8]> {
    let end = memchr(b'>', s.get(..PATH).unwrap_or(s))?;
    let path = s.get(..end)?;
    let drive = matches!(path, [b'A'..=b'Z' | b'a'..=b'z', b':', b'\\', ..]);
    let from = if drive { 2 } else { 0 };
    let odd = |b: &u8| matches!(b, b':' | b'"' | b'|' | b'<' | b'*' | b'?');
    let arrow = matches!(path.last(), Some(b'-' | b'='));
    let is_path = (drive || path.starts_with(b"/")) && !path.iter().skip(from).any(odd) && !arrow;
    is_path.then(|| s.get(end + 1..))?
}

/// `user@host:~/ComfyUI$ python main.py`, and `user@mac ComfyUI % python main.py`.
fn of_user(s: &[u8]) -> Option<&[u8]> {
    let user = run(s, NAME);
    if user == 0 || s.get(user) != Some(&b'@') {
        return None;
    }
    let host = run(s.get(user + 1..)?, NAME);
    let from = user + 1 + host;
    let window = s.get(from..LONGEST.min(s.len()))?;
    match (host, window.first()?) {
        (1.., b':') => {
            let mark = window.windows(2).position(|w| matches!(w, [b'$' | b'#', b' ']));
            let mark = mark.or_else(|| matches!(s.last(), Some(b'$' | b'#')).then(|| s.len() - from - 1))?;
            s.get(from + mark + 1..)
        }
        (1.., b' ') => s.get(from + memmem::find(window, b" % ")? + 2..),
        _ => None,
    }
}

/// Skips `ComfyUI git:(master) ✗ ` behind the arrow of a shell theme.
fn behind_theme(s: &[u8]) -> &[u8] {
    let s = s.get(leading(s)..).unwrap_or_default();
    let folder = s.iter().take_while(|b| **b != b' ').count();
    let mut rest = s.get(folder..).unwrap_or_default();
    rest = rest.get(leading(rest)..).unwrap_or_default();
    if let Some(branch) = rest.strip_prefix(b"git:(") {
        rest = memchr(b')', branch).and_then(|end| branch.get(end + 1..)).unwrap_or_default();
        rest = rest.get(leading(rest)..).unwrap_or_default();
        rest = rest.strip_prefix("✗".as_bytes()).unwrap_or(rest);
    }
    rest
}
