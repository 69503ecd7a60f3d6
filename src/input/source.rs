//! A file or any stream becomes a stream of unpacked bytes: gzip and zstd are recognised by their first bytes.
//!
//! Nothing is read ahead beyond those first bytes, and nothing is interpreted; memory does not depend on how
//! large the unpacked data is.

use super::error::InputError;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use serde::Serialize;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, ErrorKind, Read};
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
        Self::open_with(path, |file| file)
    }

    /// Opens a file and reads it through what `attend` makes of it.
    pub(crate) fn open_with<R: Read + Send + 'static>(
        path: &Path,
        attend: impl FnOnce(File) -> R,
    ) -> Result<Self, InputError> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| Self::refused(path, &name, error))?;
        match file.metadata() {
            Ok(data) if data.is_dir() => Err(InputError::IsDirectory { name }),
            _ => Self::from_reader(name, attend(file)),
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
    pub fn stdin() -> Result<Self, InputError> {
        Self::from_reader("standard input".to_owned(), std::io::stdin())
    }
}

impl<'a> Source<'a> {
    /// Takes any stream; `name` is what messages call it.
    pub fn from_reader(name: impl Into<String>, mut reader: impl Read + Send + 'a) -> Result<Self, InputError> {
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
            Some(Compression::Gzip) => Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::new(whole))),
            Some(Compression::Zstd) => Box::new(ZstdFrames::new(BufReader::new(whole))),
        };
        Ok(Self { name, reader, compression })
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

/// Unpacks zstd frames one after the other, as `zstd` itself does with files that were appended to.
struct ZstdFrames<R> {
    source: R,
    decoder: FrameDecoder,
    open: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), open: false }
    }

    /// Goes to the next frame; false at the end of the data.
    fn next_frame(&mut self) -> std::io::Result<bool> {
        loop {
            if self.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    std::io::copy(&mut self.source.by_ref().take(u64::from(length)), &mut std::io::sink())?;
                }
                Err(FrameDecoderError::WindowSizeTooBig { requested }) => {
                    let mib = requested / (1024 * 1024);
                    let words = format!("it needs a window of {mib} MiB to be unpacked, and 100 MiB are allowed");
                    return Err(std::io::Error::new(ErrorKind::InvalidData, words));
                }
                Err(error) => return Err(std::io::Error::new(ErrorKind::InvalidData, error.to_string())),
            }
        }
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.open {
                if !self.next_frame()? {
                    return Ok(0);
                }
                self.open = true;
            }
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if self.decoder.is_finished() {
                self.open = false;
                continue;
            }
            self.decoder
                .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                .map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error.to_string()))?;
        }
    }
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
