//! `/proc/self/mountinfo` becomes mounts, and a cgroup's path the folder that holds its files.

/// One line of `mountinfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    /// Which folder of the file system is mounted here.
    pub(super) root: String,
    pub(super) point: String,
    pub(super) kind: String,
    /// Options of the file system, as `rw,memory` or `size=65536k`.
    pub(super) options: String,
}

impl Mount {
    pub(super) fn has(&self, option: &str) -> bool {
        self.options.split(',').any(|known| known == option)
    }
}

/// All mounts in their order; a line that cannot be read is left out.
pub(super) fn mounts(text: &str) -> Vec<Mount> {
    text.lines().filter_map(mount).collect()
}

/// `36 35 98:0 /root /point rw,noatime master:1 - type source options`
fn mount(line: &str) -> Option<Mount> {
    let (head, tail) = line.split_once(" - ")?;
    let mut head = head.split(' ').skip(3);
    let (root, point) = (plain(head.next()?), plain(head.next()?));
    let mut tail = tail.split(' ');
    let kind = tail.next()?.to_owned();
    let options = tail.nth(1).unwrap_or_default().to_owned();
    Some(Mount { root, point, kind, options })
}

/// Blanks and the like stand as `\040` there.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let code = after.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()).filter(u8::is_ascii);
        match code {
            Some(code) => {
                out.push(char::from(code));
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                out.push('\\');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The folder with the files of cgroup `path`. `None` when the mount does not show that cgroup: a folder of the same
/// name could then be somebody else's.
pub(super) fn folder(mount: &Mount, path: &str) -> Option<String> {
    let outside = |path: &str| !path.starts_with('/') || path.split('/').any(|part| part == "..");
    if outside(path) || outside(&mount.root) {
        return None;
    }
    let path = path.trim_end_matches('/');
    let root = mount.root.trim_end_matches('/');
    let below = path.strip_prefix(root)?;
    if !below.is_empty() && !below.starts_with('/') {
        return None;
    }
    Some(format!("{}{below}", mount.point.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_below_the_mount_that_shows_it_and_nowhere_else() {
        let at = |root: &str| Mount {
            root: root.into(),
            point: "/sys/fs/cgroup".into(),
            kind: "cgroup2".into(),
            options: String::new(),
        };
        assert_eq!(folder(&at("/"), "/a/b").as_deref(), Some("/sys/fs/cgroup/a/b"));
        assert_eq!(folder(&at("/"), "/").as_deref(), Some("/sys/fs/cgroup"));
        assert_eq!(folder(&at("/docker/x"), "/docker/x").as_deref(), Some("/sys/fs/cgroup"));
        assert_eq!(folder(&at("/docker/x"), "/docker/x/y").as_deref(), Some("/sys/fs/cgroup/y"));
        assert_eq!(folder(&at("/docker/x"), "/docker/xy"), None);
        assert_eq!(folder(&at("/docker/x"), "/"), None);
        assert_eq!(folder(&at("/"), "/../other"), None);
        assert_eq!(folder(&at("/../.."), "/"), None);
    }

    #[test]
    fn lines_with_and_without_tags_are_read() {
        let text = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 master:2 - cgroup cgroup rw,memory\n\
                    36 31 0:33 /a\\040b /mnt/x\\134y rw - tmpfs none rw,size=64k\nbroken\n";
        let found = mounts(text);
        assert!(found[0].has("memory") && found[0].kind == "cgroup");
        assert_eq!((found[1].root.as_str(), found[1].point.as_str()), ("/a b", "/mnt/x\\y"));
        assert_eq!(found.len(), 2);
    }
}
