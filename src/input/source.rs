//! A file or any stream becomes a stream of unpacked bytes: gzip and zstd are recognised by their first bytes.
//!
//! Nothing is read ahead beyond those first bytes, and nothing is interpreted; memory does not depend on how
//! large the unpacked data is.

use super::bounds::{Bounded, Bounds};
use super::error::InputError;
use super::zstd::ZstdFrames;
use serde::Serialize;
use std::fs::File;
use std::io::{BufReader, Cursor, ErrorKind, Read};
use std::path::Path;

/// How the input was packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    /// Its name in a message.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// Bytes of a log, unpacked as they are read.
pub struct Source<'a> {
    pub(crate) name: String,
    pub(crate) reader: Box<dyn Read + Send + 'a>,
    pub(crate) compression: Option<Compression>,
    pub(crate) bounds: Bounds,
}

impl std::fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source")
            .field("name", &self.name)
            .field("compression", &self.compression)
            .finish_non_exhaustive()
    }
}

impl Source<'static> {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self, InputError> {
        Self::open_within(path, Bounds::default())
    }

    /// Opens a file that may take so much.
    pub(crate) fn open_within(path: &Path, bounds: Bounds) -> Result<Self, InputError> {
        Self::open_with(path, bounds, |file| file)
    }

    /// Opens a file and reads it through what `attend` makes of it.
    pub(crate) fn open_with<R: Read + Send + 'static>(
        path: &Path,
        bounds: Bounds,
        attend: impl FnOnce(File) -> R,
    ) -> Result<Self, InputError> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| Self::refused(path, &name, error))?;
        match file.metadata() {
            Ok(data) if data.is_dir() => Err(InputError::IsDirectory { name }),
            _ => Self::within(name, attend(file), bounds),
        }
    }

    /// Windows says "permission denied" for a folder.
    fn refused(path: &Path, name: &str, error: std::io::Error) -> InputError {
        if path.is_dir() {
            InputError::IsDirectory { name: name.to_owned() }
        } else {
            InputError::opening(name.to_owned(), error)
        }
    }

    /// Standard input.
    pub fn stdin(bounds: Bounds) -> Result<Self, InputError> {
        Self::within("standard input", std::io::stdin(), bounds)
    }
}

impl<'a> Source<'a> {
    /// Takes any stream; `name` is what messages call it.
    pub fn from_reader(name: impl Into<String>, reader: impl Read + Send + 'a) -> Result<Self, InputError> {
        Self::within(name, reader, Bounds::default())
    }

    /// The same for a stream that may take so much.
    pub fn within(
        name: impl Into<String>,
        mut reader: impl Read + Send + 'a,
        bounds: Bounds,
    ) -> Result<Self, InputError> {
        let name = name.into();
        let mut head = [0_u8; 4];
        let mut have = 0;
        while have < head.len() {
            let Some(rest) = head.get_mut(have..) else { break };
            match reader.read(rest) {
                Ok(0) => break,
                Ok(n) => have += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) if source.kind() == ErrorKind::IsADirectory => {
                    return Err(InputError::IsDirectory { name });
                }
                Err(source) if have == 0 => return Err(InputError::CannotRead { name, source }),
                Err(_) => break, // it will fail again, when what is there has been read
            }
        }
        let compression = match head.get(..have) {
            Some([0x1f, 0x8b, ..]) => Some(Compression::Gzip),
            Some([0x28, 0xb5, 0x2f, 0xfd]) => Some(Compression::Zstd),
            _ => None,
        };
        if let Some(format) = binary(head.get(..have).unwrap_or_default()) {
            return Err(InputError::Binary { name, format });
        }
        let start: Vec<u8> = head.into_iter().take(have).collect();
        let whole = Cursor::new(start).chain(reader);
        let reader: Box<dyn Read + Send + 'a> = match compression {
            None => Box::new(whole),
            Some(Compression::Gzip) => {
                let unpacked = flate2::bufread::MultiGzDecoder::new(BufReader::new(whole));
                Box::new(Bounded::new(unpacked, bounds.unpacked))
            }
            Some(Compression::Zstd) => {
                let unpacked = ZstdFrames::new(BufReader::new(whole), bounds.memory);
                Box::new(Bounded::new(unpacked, bounds.unpacked))
            }
        };
        Ok(Self { name, reader, compression, bounds })
    }
}

/// The kind of a file that holds no text, by its first bytes.
fn binary(head: &[u8]) -> Option<&'static str> {
    Some(match head {
        [0x89, b'P', b'N', b'G'] => "PNG",
        [0xff, 0xd8, 0xff, _] => "JPEG",
        b"GIF8" => "GIF",
        b"RIFF" => "WebP",
        b"%PDF" => "PDF",
        [b'P', b'K', 3, 4] => "ZIP",
        [0x37, 0x7a, 0xbc, 0xaf] => "7z",
        [0xfd, b'7', b'z', b'X'] => "xz",
        [b'B', b'Z', b'h', b'1'..=b'9'] => "bzip2",
        [0x7f, b'E', b'L', b'F'] | [b'M', b'Z', 0x90, 0] => "program",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const TEXT: &[u8] = b"got prompt\nPrompt executed in 1.00 seconds\n";

    fn unpack(data: &[u8]) -> (Option<Compression>, std::io::Result<Vec<u8>>) {
        let mut source = Source::from_reader("x", data).unwrap();
        let mut out = Vec::new();
        let result = source.reader.read_to_end(&mut out).map(|_| out);
        (source.compression, result)
    }

    fn gz(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn unpacks_by_magic_bytes_with_several_members() {
        let zst = ruzstd::encoding::compress_to_vec(TEXT, ruzstd::encoding::CompressionLevel::Fastest);
        let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zst[..]].concat();
        for (data, kind, times) in [
            (TEXT.to_vec(), None, 1),
            (gz(TEXT), Some(Compression::Gzip), 1),
            ([gz(TEXT), gz(TEXT)].concat(), Some(Compression::Gzip), 2),
            (zst.clone(), Some(Compression::Zstd), 1),
            ([zst.clone(), zst.clone()].concat(), Some(Compression::Zstd), 2),
            ([zst.clone(), skippable].concat(), Some(Compression::Zstd), 2),
        ] {
            let (compression, text) = unpack(&data);
            assert_eq!(compression, kind);
            assert_eq!(text.unwrap(), TEXT.repeat(times));
        }
    }

    #[test]
    fn short_and_broken_inputs() {
        assert_eq!(unpack(b"").1.unwrap(), b"");
        assert_eq!(unpack(b"a").1.unwrap(), b"a");
        assert!(unpack(b"\x1f\x8bnonsense").1.is_err());
        assert!(unpack(b"\x28\xb5\x2f\xfd\xff\xff\xff").1.is_err());
    }

    #[test]
    fn opening_says_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let error = |path: &Path| Source::open(path).unwrap_err();
        assert!(matches!(error(folder.path()), InputError::IsDirectory { .. }));
        assert!(matches!(error(&folder.path().join("none.log")), InputError::NotFound { .. }));
        assert!(error(&folder.path().join("none.log")).to_string().contains("none.log"));
    }
}
