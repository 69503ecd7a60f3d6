//! Made-up machines for the tests of `probe`.

#![allow(dead_code)] // each test program uses its part

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::io;

use comfy_triage::probe::{Host, Root};

pub const GIB: u64 = 1024 * 1024 * 1024;
pub const HUGE_V1: &str = "9223372036854771712\n";
pub const V2_MOUNT: &str = "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
pub const V1_MOUNT: &str = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";

/// A Linux in a scratch folder.
pub struct Tree(pub tempfile::TempDir);

impl Tree {
    /// A machine with 1002 GiB of RAM and the given files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        tree.write("/proc/meminfo", "MemTotal:       1050673152 kB\nMemFree: 5 kB\nMemAvailable:   1000000000 kB\nSwapTotal:      8388608 kB\nSwapFree:       8388608 kB\n");
        fs::create_dir_all(tree.0.path().join("proc/self")).unwrap();
        for (path, text) in files {
            tree.write(path, text);
        }
        tree
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A folder where a file is expected: it can be seen, not read.
    pub fn block(&self, path: &str) {
        fs::create_dir_all(self.0.path().join(path.trim_start_matches('/'))).unwrap();
    }

    pub fn root(&self) -> Root {
        Root::below(self.0.path())
    }
}

/// What a path holds in memory; several texts are given one after the other, the last one for ever.
#[derive(Debug, Clone)]
pub enum Held {
    Texts(Vec<String>),
    Refused,
}

/// A machine in memory.
#[derive(Debug, Default)]
pub struct Memory {
    pub files: BTreeMap<String, Held>,
    reads: Cell<usize>,
    counts: std::cell::RefCell<BTreeMap<String, usize>>,
}

impl Memory {
    pub fn put(&mut self, path: &str, text: impl Into<String>) {
        self.files.insert(path.to_owned(), Held::Texts(vec![text.into()]));
    }

    pub fn put_changing(&mut self, path: &str, texts: &[&str]) {
        self.files.insert(path.to_owned(), Held::Texts(texts.iter().map(|text| (*text).to_owned()).collect()));
    }

    pub fn refuse(&mut self, path: &str) {
        self.files.insert(path.to_owned(), Held::Refused);
    }
}

impl Host for Memory {
    fn read(&self, path: &str) -> io::Result<String> {
        self.reads.set(self.reads.get() + 1);
        match self.files.get(path) {
            None => Err(io::ErrorKind::NotFound.into()),
            Some(Held::Refused) => Err(io::ErrorKind::PermissionDenied.into()),
            Some(Held::Texts(texts)) => {
                let mut counts = self.counts.borrow_mut();
                let count = counts.entry(path.to_owned()).or_default();
                let text = texts.get(*count).or(texts.last()).unwrap().clone();
                *count += 1;
                Ok(text)
            }
        }
    }

    fn exists(&self, path: &str) -> bool {
        let below = format!("{}/", path.trim_end_matches('/'));
        self.files.contains_key(path) || self.files.keys().any(|known| known.starts_with(&below))
    }

    fn env(&self, _: &str) -> Option<String> {
        None
    }

    fn run(&self, _: &str, _: &[&str]) -> Option<String> {
        None
    }

    fn system(&self) -> &str {
        "linux"
    }
}
