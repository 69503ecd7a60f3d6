//! `rules docs DIR` (hidden): writes the pages that are made from the packs.

use std::io;
use std::path::Path;

use super::super::{Console, Ended, Exit};
use crate::catalog::Packs;
use crate::docs::{pages, with_fields};

/// Runs the command. Pages of areas that are gone are taken away.
pub(super) fn run(folder: &Path, console: &mut Console<'_>) -> io::Result<Ended> {
    let pages = pages(&Packs::built_in(), &Packs::definitions(&[]));
    std::fs::create_dir_all(folder.join("rules"))?;
    for entry in std::fs::read_dir(folder.join("rules"))? {
        let path = entry?.path();
        let name = format!("rules/{}", path.file_name().unwrap_or_default().to_string_lossy());
        if name.ends_with(".md") && !pages.contains_key(&name) {
            std::fs::remove_file(&path)?;
        }
    }
    for (path, text) in &pages {
        std::fs::write(folder.join(path), text)?;
    }
    let format = folder.join("rule-format.md");
    if let Ok(page) = std::fs::read_to_string(&format)
        && let Some(page) = with_fields(&page)
    {
        std::fs::write(&format, page)?;
    }
    writeln!(console.out, "{} pages", pages.len())?;
    Ok(Ok(Exit::Done))
}
