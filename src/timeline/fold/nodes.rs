//! Node packs: the table of import times, and why an import failed.

use super::{NAME_KEPT, NODES_LIMIT, Open, TEXT_KEPT, kept};
use crate::event::At;
use crate::timeline::evidence::Evidence;
use crate::timeline::session::NodeFolder;
use crate::timeline::signs::Signs;

impl Open {
    pub(super) fn import_row(&mut self, seconds: f64, path: &str, failed: bool, at: &At<'_>) {
        let dir = folder_name(path);
        if dir.is_empty() || self.session.nodes.len() >= NODES_LIMIT {
            return;
        }
        let evidence = Evidence::of(at);
        if let Some(node) = self.session.nodes.iter_mut().find(|node| node.dir == dir) {
            node.failed |= failed;
            node.seconds = Some(node.seconds.unwrap_or(0.0).max(seconds));
            if failed {
                node.at = evidence;
            }
            return;
        }
        self.session.nodes.push(NodeFolder {
            dir: kept(dir, NAME_KEPT),
            path: kept(path, TEXT_KEPT),
            seconds: Some(seconds),
            failed,
            reason: None,
            at: evidence,
            reason_at: None,
            library: None,
            is_own: false,
            prestartup: false,
        });
    }

    /// The path of the row before goes on: what was told of it was no name.
    pub(super) fn import_path(&mut self, begun: &str, path: &str) {
        let (cut, dir) = (folder_name(begun), folder_name(path));
        let of_row = |node: &NodeFolder| node.dir == cut && node.reason.is_none() && node.seconds.is_some();
        let Some(at) = self.session.nodes.iter().rposition(of_row) else { return };
        let cut = self.session.nodes.remove(at);
        if let Some(known) = self.session.nodes.iter_mut().find(|node| node.dir == dir) {
            known.failed |= cut.failed;
            known.seconds = Some(known.seconds.unwrap_or(0.0).max(cut.seconds.unwrap_or(0.0)));
            if cut.failed {
                known.at = cut.at;
            }
        } else if !dir.is_empty() {
            self.session.nodes.insert(at, NodeFolder { dir: kept(dir, NAME_KEPT), path: kept(path, TEXT_KEPT), ..cut });
        }
    }

    /// An import failed, of a pack or of a file of ComfyUI's own nodes. `library` is the last file of an installed package
    /// that its traceback passed.
    pub(super) fn import_failed(
        &mut self,
        path: &str,
        reason: &str,
        library: Option<String>,
        builtin: bool,
        at: &At<'_>,
        signs: &Signs,
    ) {
        let prestartup = signs.is_start_script(path);
        // A script of a pack that runs before the start is its pack's.
        let dir = match prestartup {
            true => signs.node_dir(path).unwrap_or_else(|| folder_name(path)),
            false => folder_name(path),
        };
        if dir.is_empty() {
            return;
        }
        let evidence = Evidence::of(at);
        let room = self.session.nodes.len() < NODES_LIMIT;
        let reason = (!reason.trim().is_empty()).then(|| crate::text::cut_chars(reason, 200));
        match self.session.nodes.iter_mut().find(|node| node.dir == dir) {
            Some(node) => {
                node.failed = true;
                if reason.is_some() {
                    node.reason = reason;
                    node.reason_at = Some(evidence);
                    node.library = library;
                }
                node.is_own |= builtin;
                node.prestartup |= prestartup;
            }
            None if room => self.session.nodes.push(NodeFolder {
                dir: kept(dir, NAME_KEPT),
                path: kept(path.strip_suffix("/prestartup_script.py").unwrap_or(path), TEXT_KEPT),
                seconds: None,
                failed: true,
                reason_at: reason.is_some().then(|| evidence.clone()),
                reason,
                at: evidence,
                library,
                is_own: builtin || signs.is_own_nodes(path),
                prestartup,
            }),
            None => {}
        }
    }
}

/// Last part of a path with either kind of slash.
fn folder_name(path: &str) -> &str {
    let path = path.trim().trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::folder_name;

    #[test]
    fn folders_are_found_in_paths_of_both_kinds() {
        assert_eq!(folder_name("/opt/ComfyUI/custom_nodes/ComfyUI-WarpLint"), "ComfyUI-WarpLint");
        assert_eq!(folder_name("C:\\x\\custom_nodes\\was-ns"), "was-ns");
        assert_eq!(folder_name("C:\\Users\\u\\custom_nodes/ComfyUI_MaskGCT"), "ComfyUI_MaskGCT");
    }
}
