//! A growing file is read on: appended bytes, another file under its name, the same file cut and begun again.
//!
//! By polling size and identity: notifications do not come through on network and container mounts.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes before the reading position that must still be there when a file has grown.
const MEMORY: usize = 64;
/// The same of its first bytes.
const HEAD: usize = 256;

/// What a look at the file brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Poll {
    /// So many new bytes are in the block.
    Bytes(usize),
    /// Nothing new.
    Nothing,
    /// The file is not there yet.
    Absent,
    /// From here on it is another file, or the same one from its beginning.
    Part,
}

/// Follows the file of one name.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    file: Option<(File, Identity)>,
    position: u64,
    /// The last bytes before `position`.
    memory: Vec<u8>,
    /// The first bytes: a log may end with the same line as the one before it, and tells its start in its head.
    head: Vec<u8>,
    /// The last read found the end; what comes now may be another text.
    at_end: bool,
    /// There was a file of this name: a folder in its place is a moment between two files.
    seen: bool,
}

/// What tells two files of one name apart.
type Identity = (u64, u64);

impl Follower {
    /// Nothing is opened yet.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            file: None,
            position: 0,
            memory: Vec::new(),
            head: Vec::new(),
            at_end: false,
            seen: false,
        }
    }

    /// Reads what is new into `block`.
    ///
    /// # Errors
    /// As the system says, except that the file is not there.
    pub fn poll(&mut self, block: &mut [u8]) -> io::Result<Poll> {
        if self.file.is_none() && !self.open()? {
            return Ok(Poll::Absent);
        }
        if self.at_end && self.was_rewritten()? {
            self.begin_again();
            return Ok(Poll::Part);
        }
        let read = self.read(block)?;
        if read > 0 {
            return Ok(Poll::Bytes(read));
        }
        let now = match std::fs::metadata(&self.path) {
            Ok(data) => identity(&data),
            // Moved away, and the new one is not there yet: the old one may still grow.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Poll::Nothing),
            Err(error) => return Err(error),
        };
        if self.file.as_ref().is_none_or(|(_, known)| *known == now) {
            return Ok(Poll::Nothing);
        }
        // Something may have been written to the old one between the read and the look.
        let read = self.read(block)?;
        if read > 0 {
            return Ok(Poll::Bytes(read));
        }
        self.file = None;
        self.begin_again();
        Ok(Poll::Part)
    }

    fn open(&mut self) -> io::Result<bool> {
        let kind = match std::fs::metadata(&self.path) {
            Ok(data) => data.file_type(),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        if kind.is_dir() && self.seen {
            return Ok(false);
        }
        if kind.is_dir() {
            return Err(ErrorKind::IsADirectory.into());
        }
        // To open a named pipe waits for its writer, for ever if need be.
        if !kind.is_file() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is no regular file any more"));
        }
        match File::open(&self.path) {
            Ok(file) => {
                let data = file.metadata()?;
                self.file = Some((file, identity(&data)));
                self.seen = true;
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn begin_again(&mut self) {
        self.position = 0;
        self.memory.clear();
        self.head.clear();
        self.at_end = false;
    }

    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        let Some((file, _)) = &mut self.file else { return Ok(0) };
        file.seek(SeekFrom::Start(self.position))?;
        let read = loop {
            match file.read(block) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        self.at_end = read == 0;
        self.position += read as u64;
        let new = block.get(..read).unwrap_or_default();
        let first = new.len().min(HEAD - self.head.len());
        self.head.extend_from_slice(new.get(..first).unwrap_or_default());
        let kept = new.get(new.len().saturating_sub(MEMORY)..).unwrap_or_default();
        self.memory.extend_from_slice(kept);
        let surplus = self.memory.len().saturating_sub(MEMORY);
        self.memory.drain(..surplus);
        Ok(read)
    }

    /// The file is shorter than what was read, or holds something else before the position: it was cut and has
    /// grown again between two looks.
    fn was_rewritten(&mut self) -> io::Result<bool> {
        let Some((file, _)) = &mut self.file else { return Ok(false) };
        let length = file.metadata()?.len();
        if length < self.position {
            return Ok(true);
        }
        // Of the same length it may still be another text.
        Ok(!stands_at(file, self.position - self.memory.len() as u64, &self.memory)?
            || !stands_at(file, 0, &self.head)?)
    }
}

/// The bytes stand in the file at this place.
fn stands_at(file: &mut File, at: u64, bytes: &[u8]) -> io::Result<bool> {
    file.seek(SeekFrom::Start(at))?;
    let mut there = vec![0; bytes.len()];
    match file.read_exact(&mut there) {
        Ok(()) => Ok(there == bytes),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn identity(data: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (data.dev(), data.ino())
}

/// Without inode numbers, the time of creation tells files apart.
#[cfg(not(unix))]
fn identity(data: &Metadata) -> Identity {
    let created = data.created().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    created.map_or((0, 0), |since| (since.as_secs(), u64::from(since.subsec_nanos())))
}
