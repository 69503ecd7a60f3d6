//! Docker Compose: the service's name and a bar before each line. PM2 puts a number and a bar before the name.

use super::{Dialect, Stripped, leading, run};

pub(super) const DIALECT: Dialect = Dialect {
    name: "Docker Compose",
    about: "`docker compose logs`, and PM2; with `-t` a stamp follows. Docker's own JSON files are read too",
    begins: &[(b'A', b'Z'), (b'a', b'z'), (b'0', b'9')],
    take,
    examples: &[
        ("comfyui-1  | got prompt", "got prompt"),
        ("comfyui     | Set vram state to: NORMAL_VRAM", "Set vram state to: NORMAL_VRAM"),
        ("comfyui     |", ""),
        ("comfyui-1  | 2026-08-05T12:00:00.1Z [INFO] got prompt", "got prompt"),
        ("0|comfyui  | got prompt", "got prompt"),
    ],
};

/// The longest name of a service, in bytes.
const NAME: usize = 64;

fn take<'a>(s: &'a [u8], _: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let number = s.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let s = match s.get(number..)? {
        [b'|', named @ ..] if number > 0 => named,
        _ => s,
    };
    let name = run(s, NAME);
    let bar = name + leading(s.get(name..)?);
    if name == 0 || bar == name || s.get(bar) != Some(&b'|') {
        return None;
    }
    let service = s.get(..name)?;
    let numbered = matches!(service, [.., b'-' | b'_', b'0'..=b'9']) || service.starts_with(b"comfy");
    match s.get(bar + 1..)? {
        _ if bar < name + 2 && !numbered => None,
        [] => Some(&[]),
        [b' ', rest @ ..] => Some(rest),
        _ => None,
    }
}
