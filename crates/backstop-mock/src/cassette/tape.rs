//! The file of a cassette.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use super::{
    CassetteError,
    entry::{Entry, Head},
};

const VERSION: u32 = 1;

/// A cassette that is being recorded. The whole file is written anew for each entry and put in its place at once, so
/// that no reader ever finds half of it, whenever the program ends.
pub(super) struct Tape {
    path: PathBuf,
    head: String,
    lines: BTreeMap<u64, String>,
    begun: u64,
}

impl Tape {
    pub(super) fn new(path: &Path, provider: &str) -> Result<Self, CassetteError> {
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(directory) = directory {
            fs::create_dir_all(directory).map_err(|source| io(path, source))?;
        }
        let head = Head { version: VERSION, provider: provider.to_owned() };
        let head = serde_json::to_string(&head).map_err(|error| io(path, error.into()))?;
        Ok(Self { path: path.to_owned(), head, lines: BTreeMap::new(), begun: 0 })
    }

    /// The number of a request that begins now.
    pub(super) fn begin(&mut self) -> u64 {
        self.begun += 1;
        self.begun
    }

    pub(super) fn write(&mut self, entry: &Entry) -> Result<(), CassetteError> {
        let failed = |source| io(&self.path, source);
        let line = serde_json::to_string(entry).map_err(|error| failed(error.into()))?;
        self.lines.insert(entry.number, line);
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        let unfinished = self.path.with_file_name(name);
        let written = self.write_to(&unfinished).and_then(|()| fs::rename(&unfinished, &self.path));
        written.map_err(|source| {
            let _ = fs::remove_file(&unfinished);
            io(&self.path, source)
        })
    }

    fn write_to(&self, path: &Path) -> std::io::Result<()> {
        let mut file = std::io::BufWriter::new(fs::File::create(path)?);
        for line in std::iter::once(&self.head).chain(self.lines.values()) {
            writeln!(file, "{line}")?;
        }
        file.into_inner()?.sync_data()
    }
}

fn io(path: &Path, source: std::io::Error) -> CassetteError {
    CassetteError::Io { path: path.to_owned(), source }
}

/// Reads a cassette: the provider's name, and the entries with their lines in the order of asking.
pub(super) fn read(path: &Path) -> Result<(String, Vec<(usize, Entry)>), CassetteError> {
    let text = fs::read_to_string(path).map_err(|source| io(path, source))?;
    let mut lines = text.lines().zip(1..);
    let head = lines.next().and_then(|(line, _)| serde_json::from_str::<Head>(line).ok());
    let Some(head) = head.filter(|head| head.version == VERSION) else {
        return Err(CassetteError::Version { path: path.to_owned() });
    };
    let mut entries = Vec::new();
    for (text, line) in lines.filter(|(text, _)| !text.trim().is_empty()) {
        let entry: Entry = serde_json::from_str(text).map_err(|source| CassetteError::Line {
            path: path.to_owned(),
            line,
            source,
        })?;
        entries.push((line, entry));
    }
    entries.sort_by_key(|(_, entry)| entry.number);
    Ok((head.provider, entries))
}
