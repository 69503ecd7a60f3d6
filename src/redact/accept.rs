//! What looks private and is not: accounts and hosts that everybody has, versions with four parts, words of Python.

use std::net::{Ipv4Addr, Ipv6Addr};

use regex::Captures;

/// Decides by the secret, what stands before and behind it, and the whole match.
pub(super) type Accept = fn(&str, &str, &str, &Captures<'_>) -> bool;

/// Accounts that images, installers and services use.
const COMMON_USERS: [&str; 44] = [
    "root",
    "user",
    "users",
    "username",
    "yourname",
    "your_name",
    "admin",
    "administrator",
    "ubuntu",
    "debian",
    "comfy",
    "comfyui",
    "comfyuser",
    "comfy-user",
    "venv",
    "env",
    "scripts",
    "runner",
    "runpod",
    "jovyan",
    "appuser",
    "app",
    "public",
    "default",
    "default user",
    "all users",
    "shared",
    "python",
    "docker",
    "node",
    "guest",
    "nobody",
    "workspace",
    "sd",
    "conda",
    "linuxbrew",
    "opc",
    "ec2-user",
    "azureuser",
    "vscode",
    "coder",
    "codespace",
    "cdrom",
    "usb",
];

/// Servers that everybody talks to; also what ends in `.` and one of them.
const PUBLIC_HOSTS: [&str; 40] = [
    "localhost",
    "github.com",
    "githubusercontent.com",
    "github.io",
    "gitlab.com",
    "huggingface.co",
    "hf.co",
    "hf-mirror.com",
    "pypi.org",
    "pythonhosted.org",
    "pytorch.org",
    "python.org",
    "civitai.com",
    "comfy.org",
    "comfyregistry.org",
    "nvidia.com",
    "amd.com",
    "intel.com",
    "microsoft.com",
    "aka.ms",
    "apple.com",
    "modelscope.cn",
    "gitee.com",
    "aliyun.com",
    "tsinghua.edu.cn",
    "ustc.edu.cn",
    "openai.com",
    "anthropic.com",
    "googleapis.com",
    "google.com",
    "stability.ai",
    "bfl.ai",
    "astral.sh",
    "readthedocs.io",
    "stackoverflow.com",
    "reddit.com",
    "discord.com",
    "docker.com",
    "docker.io",
    "ghcr.io",
];

/// Modules that have a member called `local`, `internal` or the like.
const MODULES: [&str; 7] = ["threading", "_thread", "contextvars", "werkzeug", "asgiref", "torch", "importlib"];

pub(super) fn always(_: &str, _: &str, _: &str, _: &Captures<'_>) -> bool {
    true
}

pub(super) fn user(name: &str, _: &str, _: &str, _: &Captures<'_>) -> bool {
    let placeholder = name.starts_with(['$', '%', '<', '~', '*', '.', '{', '[']);
    !placeholder && !COMMON_USERS.contains(&name.to_lowercase().as_str())
}

/// A login in an address: `git` says nothing.
pub(super) fn login(name: &str, _: &str, _: &str, _: &Captures<'_>) -> bool {
    name != "git" && !name.starts_with("redacted-")
}

pub(super) fn email(address: &str, _: &str, _: &str, _: &Captures<'_>) -> bool {
    !address.starts_with("git@") && !address.contains("redacted-")
}

pub(super) fn host(name: &str, _: &str, _: &str, _: &Captures<'_>) -> bool {
    let name = name.to_lowercase();
    let public = PUBLIC_HOSTS
        .iter()
        .any(|known| name == *known || name.strip_suffix(known).is_some_and(|rest| rest.ends_with('.')));
    let number = name.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    !public
        && !number
        && !name.contains("redacted-")
        && !matches!(name.as_str(), "host" | "hostname" | "none" | "wpad" | "." | "?")
}

/// A bare name in a private domain, and no member of a Python module.
pub(super) fn local_host(name: &str, before: &str, after: &str, found: &Captures<'_>) -> bool {
    let first = name.split('.').next().unwrap_or_default();
    let path = before.ends_with(['/', '\\', '.', '_']) || after.starts_with(['(', '_']);
    !path && !MODULES.contains(&first) && host(name, before, after, found)
}

pub(super) fn ipv4(text: &str, before: &str, after: &str, _: &Captures<'_>) -> bool {
    let Ok(address) = text.parse::<Ipv4Addr>() else { return false };
    let joined = before.ends_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '='))
        && !before.ends_with("ip=")
        && !before.ends_with("host=")
        && !before.ends_with("listen=")
        && !before.ends_with("addr=")
        && !before.ends_with("address=");
    let goes_on = after.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
        || after.strip_prefix('.').is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
    let says_nothing =
        address.is_loopback() || address.is_unspecified() || address.is_broadcast() || text.starts_with("255.");
    let private = address.is_private() || address.is_link_local();
    !joined && !goes_on && !says_nothing && (private || !is_version(before))
}

/// What stands before makes it a version: `opencv-python 4.12.0.88`, `Version: 4.12.0.88`.
fn is_version(before: &str) -> bool {
    let before = before.trim_end_matches([' ', ':', '(', 'v', 'V', '-']);
    let word =
        before.rsplit(|letter: char| letter.is_whitespace() || letter == ',').next().unwrap_or_default().to_lowercase();
    let package = word.contains(['-', '_'])
        && word.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'));
    word.contains("version") || word.contains("driver") || word.contains("release") || package
}

pub(super) fn ipv6(text: &str, _: &str, _: &str, _: &Captures<'_>) -> bool {
    text.parse::<Ipv6Addr>().is_ok_and(|address| !address.is_loopback() && !address.is_unspecified())
}

/// A value of a field that is called a token: not a count, a word of Python, or the next flag.
pub(super) fn token_value(value: &str, _: &str, _: &str, _: &Captures<'_>) -> bool {
    let word = value.trim_matches(['"', '\'', '(', ')', '<', '>', '*']);
    let plain = matches!(word.to_lowercase().as_str(), "none" | "null" | "true" | "false" | "str" | "nan" | "")
        || word.starts_with("--")
        || word.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
        || word.starts_with("torch.")
        || word.starts_with('|');
    !plain && word.chars().count() >= 6
}

/// A password may be short and may be a number.
pub(super) fn password_value(value: &str, _: &str, _: &str, _: &Captures<'_>) -> bool {
    !matches!(value.to_lowercase().as_str(), "none" | "null" | "true" | "false" | "str" | "")
        && !value.starts_with("--")
}

/// A text behind "prompt:", and not the number of a prompt or ComfyUI's own report of a refused one.
pub(super) fn prompt(text: &str, before: &str, _: &str, _: &Captures<'_>) -> bool {
    let number = text.get(..8).is_some_and(|start| start.bytes().all(|byte| byte.is_ascii_hexdigit()))
        && text.get(8..9) == Some("-");
    let own =
        text.starts_with("{'type'") || text.starts_with("None") || before.to_lowercase().contains("invalid prompt");
    let count = text
        .chars()
        .all(|letter| letter.is_ascii_digit() || letter.is_whitespace() || matches!(letter, '.' | '%' | '/'));
    !number && !own && !count
}
