//! How private things look: one pattern each, tried in this order on every line.
//!
//! Groups hold the part that is replaced, so that what stands around it (`Authorization: Bearer`, `/home/`) stays.

use regex::Regex;

use super::accept::{self, Accept};
use super::tokens::Category;

/// One way in which something private looks.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) pattern: Regex,
    pub(super) groups: &'static [(&'static str, Category)],
    /// Signs at the end that belong to the sentence and not to the secret.
    pub(super) trim: &'static [char],
    pub(super) accept: Accept,
}

type Row = (&'static str, &'static [(&'static str, Category)], Accept);

const KEY: &[(&str, Category)] = &[("a", Category::Key), ("b", Category::Key), ("c", Category::Key)];
const PROMPT: &[(&str, Category)] = &[("a", Category::Prompt), ("b", Category::Prompt)];
const USER: &[(&str, Category)] = &[("a", Category::User)];
const HOST: &[(&str, Category)] = &[("a", Category::Host)];
const FILE: &[(&str, Category)] = &[("a", Category::File)];
const ADDRESS: &[(&str, Category)] = &[("a", Category::Address)];

/// A value behind a name: in quotes (which may be escaped), or one word.
macro_rules! value {
    () => {
        r#"\\?(?:"(?P<a>[^"\\]+)|'(?P<b>[^'\\]+)|(?P<c>[^\s"',;&)}\]\\]+))"#
    };
}

/// Endings of pictures, films and sounds.
macro_rules! media {
    () => {
        r"\.(?:png|jpe?g|webp|gif|bmp|tiff?|exr|avif|heic|apng|mp4|webm|mkv|mov|avi|wav|flac|mp3|ogg|opus|latent|glb)"
    };
}

const ROWS: &[Row] = &[
    // ---- keys ----
    (r"\b(?:AKIA|ASIA)[A-Z0-9]{16}[\s,:;/]+(?P<a>[A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+]|$)", KEY, accept::always),
    (r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?P<a>.+?)(?:-----END|$)", KEY, accept::always),
    (
        concat!(
            r"\b(?P<a>sk-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}",
            r"|glpat-[A-Za-z0-9_-]{16,}|xox[abeprs]-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}",
            r"|ya29\.[A-Za-z0-9_-]{20,}|r8_[A-Za-z0-9]{20,}|comfyui-[0-9a-f]{32,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}",
            r"|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|rpa_[A-Za-z0-9]{20,}|gsk_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,}",
            r"|nvapi-[A-Za-z0-9_-]{20,}|dop_v1_[0-9a-f]{40,}|tskey-[A-Za-z0-9-]{16,}|fal-[A-Za-z0-9:_-]{24,}|\d{8,10}:[A-Za-z0-9_-]{35}",
            r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)"
        ),
        KEY,
        accept::always,
    ),
    (r"hooks\.slack\.com/(?:services|workflows)/(?P<a>[A-Za-z0-9_/-]+)", KEY, accept::always),
    (r"discord(?:app)?\.com/api/webhooks/(?P<a>[A-Za-z0-9_/-]+)", KEY, accept::always),
    (r#"(?i)\b[a-z][a-z0-9+.-]*://(?P<a>[^\s/'"<>\\]+)@"#, KEY, accept::login),
    (r#"(?i)authorization\\?["']?\s*[:=]\s*\\?["']?digest\s+(?P<a>[^\r\n]+)"#, KEY, accept::always),
    (
        r#"(?i)authorization\\?["']?\s*[:=]\s*\\?["']?(?:(?:bearer|basic|token|apikey|negotiate)\s+)?(?P<a>[^\s"',;)}\]\\]{3,})"#,
        KEY,
        accept::always,
    ),
    (r"(?i)\bbearer\s+(?P<a>[A-Za-z0-9._~+/=-]{8,})", KEY, accept::always),
    (
        concat!(
            r#"(?i)(?:\b|_)(?:passw(?:or)?d|passwd|passphrase|client[_-]?secret|secret)\\?["']?\s*[:=]\s*"#,
            value!()
        ),
        KEY,
        accept::password_value,
    ),
    (
        concat!(
            r#"(?i)(?:\b|_)(?:x-)?(?:api[_-]?key|apikey|access[_-]?key(?:[_-]id)?|secret[_-]?(?:access[_-]?)?key|private[_-]?key|auth[_-]?key|"#,
            r#"(?:access|auth|refresh|api|hf|id|session|bot|bearer|security|user|civitai)[_-]?token|authtoken|token)\\?["']?\s*[:=]\s*"#,
            value!()
        ),
        KEY,
        accept::token_value,
    ),
    (
        concat!(
            r#"\b[A-Z0-9_]*(?:TOKEN|API_?KEY|SECRET|PASSWORD|PASSWD|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?)[A-Z0-9_]*\s*=\s*"#,
            value!()
        ),
        KEY,
        accept::token_value,
    ),
    (
        r#"(?i)--[a-z-]*(?:api-?key|token|passw(?:or)?d|secret|auth)[a-z-]*(?:\s+|=)["']?(?P<a>[^\s"']{4,})"#,
        KEY,
        accept::token_value,
    ),
    (
        r#"(?i)[?&;](?:sig|signature|key|token|auth|code|x-amz-(?:signature|credential|security-token)|x-goog-signature)=(?P<a>[^&\s"'\\]+)"#,
        KEY,
        accept::token_value,
    ),
    (r"(?i)\b(?:set-)?cookie\s*:\s*(?P<a>[^\r\n]+)", KEY, accept::always),
    // ---- workflows and prompts ----
    (r#"(?P<a>\{.*"(?:widgets_values|class_type|last_node_id)".*)$"#, &[("a", Category::Workflow)], accept::always),
    (
        r#"(?P<a>\{(?:[^\\]|\\[^n])*\\"(?:widgets_values|class_type|last_node_id)\\"(?:[^\\]|\\[^n])*)"#,
        &[("a", Category::Workflow)],
        accept::always,
    ),
    (
        concat!(
            r#"(?i)["'](?:text|prompt|(?:positive|negative)(?:_prompt)?|text_[gl]|clip_[lg]|t5xxl|wildcard_text|populated_text|caption|"#,
            r#"(?:user|system)_prompt|instructions?|filename_prefix)["']\s*:\s*(?:"(?P<a>(?:[^"\\]|\\.)+)"|'(?P<b>(?:[^'\\]|\\.)+)')"#
        ),
        PROMPT,
        accept::prompt,
    ),
    (
        concat!(
            r#"(?i)\\"(?:text|prompt|(?:positive|negative)(?:_prompt)?|text_[gl]|clip_[lg]|t5xxl|wildcard_text|populated_text|caption|"#,
            r#"(?:user|system)_prompt|instructions?|filename_prefix)\\"\s*:\s*\\"(?P<a>(?:[^"\\]|\\[^"])+)\\""#
        ),
        PROMPT,
        accept::prompt,
    ),
    (r"(?i)(?:^|[^a-z0-9_])prompt(?: text)?\s*[:=]\s*(?P<a>\S[^\r\n]*)", PROMPT, accept::prompt),
    (
        r"(?i)^\W*(?:\[[^\]]+\]\s*)?(?:positive|negative|caption|wildcard|tags)\s*[:=]\s*(?P<a>\S[^\r\n]{2,})",
        PROMPT,
        accept::prompt,
    ),
    // ---- addresses ----
    (
        r"(?P<a>[\p{L}0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,})",
        &[("a", Category::Email)],
        accept::email,
    ),
    (
        r"(?:^|[\s(\[│❯➜])(?P<a>[\p{L}_][\p{L}0-9._-]*)@(?P<h>[A-Za-z][A-Za-z0-9.-]*)(?::\s?[~/]|:[^\s]*[$#]|\s+[~/\p{L}0-9._-]*\]?\s?[$#%❯>])",
        &[("a", Category::User), ("h", Category::Host)],
        user_or_host,
    ),
    (r"(?P<a>\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})", ADDRESS, accept::ipv4),
    (
        r"(?i)(?:^|[^0-9a-z:_])(?P<a>(?:[23][0-9a-f]{3}|f[cd][0-9a-f]{2}|fe[89ab][0-9a-f])(?::{1,2}[0-9a-f]{0,4}){2,7})",
        ADDRESS,
        accept::ipv6,
    ),
    (
        r"(?i)(?:^|[^0-9a-z:-])(?P<a>(?:[0-9a-f]{2}:){5}[0-9a-f]{2}|(?:[0-9a-f]{2}-){5}[0-9a-f]{2})(?:[^0-9a-z:-]|$)",
        ADDRESS,
        accept::always,
    ),
    (
        r"(?i)\b(?P<a>(?:GPU|MIG)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})",
        &[("a", Category::Device)],
        accept::always,
    ),
    // ---- accounts ----
    (
        r#"(?i)[a-z]:[\\/]+(?:users|documents and settings)[\\/]+(?P<a>[^\\/\r\n:*?"'<>|]{1,64})[\\/]"#,
        USER,
        accept::user,
    ),
    // WSL and Cygwin show Windows' folders; elsewhere a further word of a name begins with a capital letter.
    (r#"(?i)(?:^|[\s"'=:(])/(?:mnt/|cygdrive/)?[a-z]/users/+(?P<a>[^\\/\r\n:*?"'<>|,;]{1,64})/"#, USER, accept::user),
    (
        r#"[\\/](?:[Hh]ome|[Uu]sers)[\\/]+(?P<a>[^\\/\s:*?"'`<>|,;()\[\]{}]+(?: \p{Lu}[^\\/\s:*?"'`<>|,;()\[\]{}]*){1,3})[\\/]"#,
        USER,
        accept::user,
    ),
    (r#"(?i)[\\/](?:home|users)[\\/]+(?P<a>[^\\/\s:*?"'`<>|,;()\[\]{}]+)"#, USER, accept::user),
    (r#"/(?:run/)?media/(?P<a>[^/\s:"']+)/"#, USER, accept::user),
    (r#"(?:^|[\s'"=:])~(?P<a>[A-Za-z_][A-Za-z0-9._-]*)/"#, USER, accept::user),
    (r#"\b(?:USER|USERNAME|LOGNAME|SUDO_USER)\s*=\s*["']?(?P<a>[^\s"';]+)"#, USER, accept::user),
    (r"\b[ug]id=\d+\((?P<a>[^)\s]+)\)", USER, accept::user),
    (r#"OneDrive - (?P<a>[^\\/\r\n"']+)[\\/]"#, &[("a", Category::Organisation)], accept::always),
    // ---- machines ----
    (
        r"^\S{1,9}\s+\d{1,2}\s+\d\d:\d\d:\d\d\s+(?P<a>[A-Za-z0-9][A-Za-z0-9._-]*)\s+[^\s\[:]+(?:\[\d+\])?:",
        HOST,
        accept::host,
    ),
    (
        r"^\d{4}-\d\d-\d\dT[\d:.,]+(?:Z|[+-]\d\d:?\d\d)\s+(?P<a>[A-Za-z0-9][A-Za-z0-9._-]*)\s+[^\s\[]+\[\d+\]:",
        HOST,
        accept::host,
    ),
    (
        r#"(?i)\b(?:hostname|computername|computer name|machine ?name|nodename|server ?name)\\?["']?\s*[:=]\s*\\?["']?(?P<a>[A-Za-z0-9][A-Za-z0-9._-]+)"#,
        HOST,
        accept::host,
    ),
    (
        r"(?i)\b[a-z][a-z0-9+.-]*://(?:redacted-key-\d+@)?(?P<a>[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]+)*)",
        HOST,
        accept::host,
    ),
    (
        r"(?i)\b(?P<a>[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]+)*\.(?:local|lan|internal|corp|localdomain|intranet|ts\.net))\b",
        HOST,
        accept::local_host,
    ),
    (r#"(?:^|[\s'"(=])\\{2,4}(?P<a>[A-Za-z0-9][A-Za-z0-9._-]*)\\{1,2}(?:[^\\\s]|$)"#, HOST, accept::host),
    // ---- files ----
    (concat!(r#"(?i)[\\/](?:output|input|temp)[\\/]+(?P<a>[^\r\n"'<>|*?]+?"#, media!(), r")\b"), FILE, accept::always),
    (concat!(r#"(?i)[\\/](?P<a>[^\\/\r\n"'<>|:*?,;]+?"#, media!(), r")\b"), FILE, accept::always),
    (concat!(r#"(?i)["'](?P<a>[^"'\r\n\\/]+?"#, media!(), r")\b"), FILE, accept::always),
    (concat!(r#"(?i)(?P<a>[^\s\\/"'<>|:,;()\[\]{}=?&]+"#, media!(), r")\b"), FILE, accept::always),
];

/// The account or the machine of a shell prompt.
fn user_or_host(name: &str, before: &str, after: &str, found: &regex::Captures<'_>) -> bool {
    match found.name("h") {
        Some(host) if host.as_str() == name => accept::host(name, before, after, found),
        _ => accept::user(name, before, after, found),
    }
}

/// All shapes, compiled.
pub(super) fn shapes() -> Vec<Shape> {
    ROWS.iter()
        .map(|(text, groups, accept)| Shape {
            pattern: super::pattern(text),
            groups,
            trim: if *groups == USER || *groups == HOST {
                &['.', ',', ';', ':', ')', ']', '\'', '"', '`', '!', '?']
            } else {
                &[]
            },
            accept: *accept,
        })
        .collect()
}
