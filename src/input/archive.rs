//! Logs in an archive, one after the other, as support bundles come: `.zip`, `.tar` and packed `.tar`.
//!
//! A member is unpacked into memory, a large one into a file without a name, before the next one is looked at. How
//! much an archive unpacks to and how many members it has is bounded.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::ops::ControlFlow;
use std::path::Path;

use tempfile::SpooledTempFile;

use super::bounds::{Bounded, Bounds, Exceeded};
use super::error::InputError;
use super::source::Source;

/// Members that an archive may have.
const MEMBERS: u64 = 100_000;
/// Bytes of a member that are kept in memory.
const IN_MEMORY: usize = 1024 * 1024;
const ZIP: &str = ".zip";
const TARS: [&str; 4] = [".tar", ".tar.gz", ".tgz", ".tar.zst"];
/// Ends of names that logs have, beside those with `.log` in them.
const LOGS: [&str; 7] = [".txt", ".out", ".err", ".txt.gz", ".txt.zst", ".out.gz", ".err.gz"];

/// What a file is by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    Log,
    Tar,
    Zip,
    Other,
}

impl NameKind {
    /// What a file of this name is.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        if name.ends_with(ZIP) {
            Self::Zip
        } else if TARS.iter().any(|end| name.ends_with(end)) {
            Self::Tar
        } else if name.contains(".log") || LOGS.iter().any(|end| name.ends_with(end)) {
            Self::Log
        } else {
            Self::Other
        }
    }

    /// It holds other files.
    #[must_use]
    pub fn is_archive(self) -> bool {
        matches!(self, Self::Tar | Self::Zip)
    }
}

/// Takes the name of a member and what it unpacked to, and says whether to go on.
pub type EachMember<'e> = &'e mut dyn FnMut(String, Result<SpooledTempFile, InputError>) -> ControlFlow<()>;

/// The logs in a `.tar`, which `source` may have to unpack.
///
/// # Errors
/// When it cannot be read to its end; the members before were told.
pub fn tar_members(source: Source<'_>, each: EachMember<'_>) -> Result<(), InputError> {
    let Source { name, reader, bounds, .. } = source;
    let broken = |error| InputError::packed(name.clone(), "tar", error);
    let mut unpacking = Unpacking { archive: &name, left: bounds.unpacked, allowed: bounds.unpacked, each };
    let mut archive = tar::Archive::new(reader);
    for (at, entry) in archive.entries().map_err(broken)?.enumerate() {
        count(at).map_err(broken)?;
        let mut entry = entry.map_err(broken)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let member = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if unpacking.member(&member, &mut entry).map_err(broken)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// The logs in a `.zip`.
///
/// # Errors
/// When it cannot be read to its end; the members before were told.
pub fn zip_members(path: &Path, bounds: Bounds, each: EachMember<'_>) -> Result<(), InputError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| InputError::opening(name.clone(), error))?;
    let broken = |error| InputError::packed(name.clone(), "zip", error);
    let mut unpacking = Unpacking { archive: &name, left: bounds.unpacked, allowed: bounds.unpacked, each };
    let mut archive = zip::ZipArchive::new(file).map_err(|error| broken(error.into()))?;
    for at in 0..archive.len() {
        count(at).map_err(broken)?;
        let mut entry = match archive.by_index(at) {
            Ok(entry) => entry,
            // One that needs a password, or is packed in a way that is not known here, keeps no other from being read.
            Err(error) => {
                let member = format!("{name}!{at}");
                if (unpacking.each)(member.clone(), Err(InputError::packed(member, "zip", error.into()))).is_break() {
                    break;
                }
                continue;
            }
        };
        let member = entry.name().map_or_else(|_| at.to_string(), |name| name.into_owned());
        if entry.is_file() && unpacking.member(&member, &mut entry).map_err(broken)?.is_break() {
            break;
        }
    }
    Ok(())
}

fn count(at: usize) -> io::Result<()> {
    if at as u64 >= MEMBERS { Err(io::Error::other(Exceeded::Members { allowed: MEMBERS })) } else { Ok(()) }
}

/// An archive on its way out.
struct Unpacking<'u> {
    archive: &'u str,
    /// Bytes that it may still unpack to.
    left: u64,
    allowed: u64,
    each: EachMember<'u>,
}

impl Unpacking<'_> {
    /// Tells a member, when it is a log. An error ends the archive: there is no end to it.
    fn member(&mut self, member: &str, bytes: &mut dyn Read) -> io::Result<ControlFlow<()>> {
        let kind = NameKind::of(member);
        let name = format!("{}!{member}", self.archive);
        if kind.is_archive() {
            return Ok((self.each)(name.clone(), Err(InputError::ArchiveInArchive { name })));
        }
        if kind != NameKind::Log {
            return Ok(ControlFlow::Continue(()));
        }
        let mut text = tempfile::spooled_tempfile(IN_MEMORY);
        let copied = match io::copy(&mut Bounded::within(bytes, self.left, self.allowed), &mut text) {
            Ok(copied) => copied,
            Err(error) if error.get_ref().is_some_and(|inner| inner.is::<Exceeded>()) => return Err(error),
            Err(error) => return Ok((self.each)(name.clone(), Err(InputError::packed(name, "packed", error)))),
        };
        self.left -= copied.min(self.left);
        text.rewind()?;
        Ok((self.each)(name, Ok(text)))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, text) in members {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            builder.append_data(&mut header, name, *text).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn told(data: &[u8], unpacked: u64) -> (Vec<String>, bool) {
        let bounds = Bounds { unpacked, ..Bounds::default() };
        let mut told = Vec::new();
        let ended = tar_members(Source::within("a.tar", data, bounds).unwrap(), &mut |name, text| {
            let mut read = String::new();
            match text {
                Ok(mut text) => text.read_to_string(&mut read).map(|_| ()).unwrap(),
                Err(error) => read = error.to_string(),
            }
            told.push(format!("{name}={read}"));
            ControlFlow::Continue(())
        });
        (told, ended.is_ok())
    }

    #[test]
    fn only_logs_are_told_and_an_archive_inside_is_said() {
        let data = tar(&[("b/comfyui.log", b"one"), ("x.png", b"no"), ("a.txt", b"two"), ("c.zip", b"PK")]);
        let inside = "`a.tar!c.zip` is an archive inside an archive";
        assert_eq!(
            told(&data, 1 << 20),
            (
                vec![
                    "a.tar!b/comfyui.log=one".to_owned(),
                    "a.tar!a.txt=two".to_owned(),
                    format!("a.tar!c.zip={inside}")
                ],
                true
            )
        );
    }

    #[test]
    fn what_unpacks_to_too_much_ends_with_what_was_told_before() {
        let data = tar(&[("a.log", b"12345"), ("b.log", b"67890")]);
        assert_eq!(told(&data, 10).0.len(), 2);
        assert_eq!(told(&data, 9), (vec!["a.tar!a.log=12345".to_owned()], false));
    }

    #[test]
    fn names_tell_logs_from_other_files() {
        for (name, kind) in [
            ("comfyui.prev.log", NameKind::Log),
            ("comfyui.log.1", NameKind::Log),
            ("Console.LOG.gz", NameKind::Log),
            ("bundle.tar.gz", NameKind::Tar),
            ("logs.ZIP", NameKind::Zip),
            ("model.safetensors", NameKind::Other),
        ] {
            assert_eq!(NameKind::of(name), kind, "{name}");
        }
    }

    #[test]
    fn a_zip_is_read_member_by_member() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        let mut writer = zip::ZipWriter::new(File::create(&path).unwrap());
        for name in ["b.log", "a.log", "picture.png"] {
            writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            writer.write_all(name.as_bytes()).unwrap();
        }
        writer.finish().unwrap();
        let mut names = Vec::new();
        zip_members(&path, Bounds::default(), &mut |name, _| {
            names.push(name.rsplit('!').next().unwrap().to_owned());
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(names, ["b.log", "a.log"]);
        std::fs::write(&path, b"PK\x03\x04cut").unwrap();
        assert!(matches!(
            zip_members(&path, Bounds::default(), &mut |_, _| ControlFlow::Continue(())),
            Err(InputError::Corrupt { .. })
        ));
    }
}
