//! Packed weights in the cache folder. They are made on the first use of a precision other than
//! f32, and mapped on every later use.
//!
//! A file is checked in two steps. Whenever it is opened, its header (against its own checksum),
//! its key (for the input that it was made from) and its length are checked; that costs one page.
//! When it was written, and by `models verify`, its whole content is compared with the checksum in
//! the header. Reading all of it takes as long as making it, so this is not done each time. A file
//! that fails a check is rebuilt, and a message says so.
//!
//! Layout, little-endian: 16 bytes magic, u32 format, u32 byte order of the machine, u64 bytes of
//! content, 32 bytes key, 32 bytes SHA-256 of the content, 32 bytes SHA-256 of all that; then the
//! content, on the boundary of a cache line.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sha2::Digest as _;

use super::map::{self, Bytes};
use local_agent_text::error::{ErrorCode, Failure};
use local_agent_text::types::Sha256;

const MAGIC: &[u8; 16] = b"local-agent pack";
const FORMAT: u32 = 1;
/// The content is stored in the byte order of the machine.
const BYTE_ORDER: [u8; 4] = 0x0102_0304_u32.to_ne_bytes();
/// Where the content begins.
const HEADER: usize = 128;
const SUFFIX: &str = ".packed";
/// How the names of unfinished files begin and end.
const UNFINISHED: (&str, &str) = ("tmp-", ".part");
/// An unfinished file of this age is abandoned.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// The identity of packed weights.
#[derive(Debug, Clone)]
pub struct Name {
    /// For display: model, precision and layout.
    pub title: String,
    /// Everything that determines the content.
    pub key: Sha256,
}

impl Name {
    /// The part of the file name before the key; a file with the same beginning and another key is
    /// outdated.
    fn stem(&self) -> String {
        format!(
            "{}.",
            self.title
                .chars()
                .map(plain_or_underscore)
                .collect::<String>()
        )
    }

    fn file(&self) -> String {
        format!("{}{}{SUFFIX}", self.stem(), &self.key.to_string()[..16])
    }
}

/// The character, or `_` if a file name may not contain it.
fn plain_or_underscore(c: char) -> char {
    if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') {
        c
    } else {
        '_'
    }
}

/// The folder of packed weights, and a function that receives a message about an unusable file.
#[derive(Clone)]
pub struct PreparedFolder {
    dir: PathBuf,
    tell: Arc<dyn Fn(&str) + Send + Sync>,
}

impl fmt::Debug for PreparedFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PreparedFolder").field(&self.dir).finish()
    }
}

impl PreparedFolder {
    /// The folder `dir`, which need not exist; `tell` is called with whole sentences.
    pub fn new(dir: PathBuf, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self {
            dir,
            tell: Arc::new(tell),
        }
    }

    /// The file of this name, and the position of its content; `None` if no usable file exists.
    pub fn open(&self, name: &Name) -> Option<(Bytes, usize)> {
        let path = self.dir.join(name.file());
        if !path.exists() {
            return None;
        }
        let opened = map::open(&path).map_err(|failure| failure.message);
        match opened
            .and_then(|bytes| check_header(bytes.as_slice(), Some(&name.key)).map(|_| bytes))
        {
            Ok(bytes) => Some((bytes, HEADER)),
            Err(why) => {
                self.refuse(name, &why);
                None
            }
        }
    }

    /// Reports that the file of this name cannot be used and will be rebuilt.
    pub fn refuse(&self, name: &Name, why: &str) {
        let path = self.dir.join(name.file());
        (self.tell)(&format!(
            "the packed weights in {} {why}; they are made again",
            path.display()
        ));
    }

    /// Writes the file of this name and removes outdated ones of the same model, precision and
    /// layout. If it cannot be written, that is reported, but is not an error: the program then
    /// packs weights each time.
    pub fn put(&self, name: &Name, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        match self.try_put(name, content) {
            Ok(()) => self.sweep(name),
            Err(e) => (self.tell)(&format!(
                "the packed weights could not be kept in {} ({e}); every run computes them again",
                self.dir.display()
            )),
        }
    }

    fn try_put(
        &self,
        name: &Name,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        fs::create_dir_all(&self.dir)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED.0).suffix(UNFINISHED.1);
        #[cfg(unix)]
        {
            // The same permissions as any other new file of this user; tempfile alone would make it
            // unreadable for others.
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let mut file = builder.tempfile_in(&self.dir)?;
        file.write_all(&[0; HEADER])?;
        let mut hashing = Hashing {
            out: file.as_file_mut(),
            hasher: sha2::Sha256::new(),
            bytes: 0,
        };
        content(&mut hashing)?;
        let (bytes, sum) = (
            hashing.bytes,
            Sha256::from_bytes(hashing.hasher.finalize().into()),
        );
        file.as_file_mut().seek(SeekFrom::Start(0))?;
        file.write_all(&header(&name.key, bytes, &sum))?;
        file.as_file().sync_all()?;
        file.persist(self.dir.join(name.file()))?;
        // Windows cannot sync a folder, and its renames are journalled.
        #[cfg(unix)]
        File::open(&self.dir)?.sync_all()?;
        Ok(())
    }

    /// If a file cannot be removed, that is not an error: nothing refers to it.
    fn sweep(&self, name: &Name) {
        let Ok(entries) = fs::read_dir(&self.dir) else {
            return;
        };
        for entry in entries.flatten() {
            let file = entry.file_name();
            let Some(file) = file.to_str() else { continue };
            let key = file
                .strip_prefix(&name.stem())
                .and_then(|rest| rest.strip_suffix(SUFFIX));
            let outdated =
                key.is_some_and(|key| key.len() == 16 && !key.contains('.')) && file != name.file();
            let unfinished = file.starts_with(UNFINISHED.0) && file.ends_with(UNFINISHED.1);
            let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
            if outdated || unfinished && age().is_some_and(|age| age > ABANDONED) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// One file of packed weights, read completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// Its path, even if it was removed.
    pub path: PathBuf,
    /// The fault of a damaged file, which was removed.
    pub damage: Option<String>,
}

/// Reads every file of packed weights in `dir` completely, and removes the damaged ones: they are
/// rebuilt when they are needed. A folder that does not exist counts as empty.
///
/// Errors: `FILE_READ_ERROR` when the folder cannot be listed, `WRITE_ERROR` when a damaged file
/// cannot be removed.
pub fn verify_prepared(dir: &Path) -> Result<Vec<Prepared>, Failure> {
    let unlisted = |e: &io::Error| prepared_failure(dir, ErrorCode::FileReadError, "listed", e);
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(unlisted(&e)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| unlisted(&e))?.path();
        if !path.to_string_lossy().ends_with(SUFFIX) {
            continue;
        }
        let checked = map::open(&path)
            .map_err(|failure| failure.message)
            .and_then(|bytes| check(bytes.as_slice()));
        let damage = checked.err();
        if damage.is_some() {
            fs::remove_file(&path)
                .map_err(|e| prepared_failure(dir, ErrorCode::WriteError, "removed", &e))?;
        }
        found.push(Prepared { path, damage });
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// The failure for a folder of packed weights that cannot be used.
fn prepared_failure(dir: &Path, code: ErrorCode, what: &str, e: &io::Error) -> Failure {
    Failure::new(
        code,
        format!(
            "The packed weights in {} could not be {what}: {e}.",
            dir.display()
        ),
    )
    .with_hint("remove that folder; it is made again")
}

fn header(key: &Sha256, bytes: u64, sum: &Sha256) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..16].copy_from_slice(MAGIC);
    header[16..20].copy_from_slice(&FORMAT.to_le_bytes());
    header[20..24].copy_from_slice(&BYTE_ORDER);
    header[24..32].copy_from_slice(&bytes.to_le_bytes());
    header[32..64].copy_from_slice(key.as_bytes());
    header[64..96].copy_from_slice(sum.as_bytes());
    let own = Sha256::of(&header[..96]);
    header[96..].copy_from_slice(own.as_bytes());
    header
}

/// The checksum of the content, if header, key (where one is given) and length are correct.
fn check_header(file: &[u8], key: Option<&Sha256>) -> Result<Sha256, String> {
    let Some((head, content)) = file.split_first_chunk::<HEADER>() else {
        return Err("are cut short".to_owned());
    };
    if &head[..16] != MAGIC || head[16..20] != FORMAT.to_le_bytes() || head[20..24] != BYTE_ORDER {
        return Err("are not of a kind that this program reads".to_owned());
    }
    if Sha256::of(&head[..96]).as_bytes() != &head[96..] {
        return Err("have a damaged header".to_owned());
    }
    if head[24..32] != (content.len() as u64).to_le_bytes() {
        return Err("are cut short".to_owned());
    }
    if key.is_some_and(|key| key.as_bytes() != &head[32..64]) {
        return Err("belong to something else".to_owned());
    }
    let sum = head[64..].first_chunk::<32>();
    sum.map(|sum| Sha256::from_bytes(*sum))
        .ok_or_else(|| "are cut short".to_owned())
}

/// Like [`check_header`], but also checks the whole content.
fn check(file: &[u8]) -> Result<(), String> {
    let sum = check_header(file, None)?;
    if Sha256::of(&file[HEADER..]) == sum {
        Ok(())
    } else {
        Err("are damaged".to_owned())
    }
}

/// Counts and hashes the bytes written through it.
struct Hashing<W> {
    out: W,
    hasher: sha2::Sha256,
    bytes: u64,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.out.write(buffer)?;
        self.hasher.update(&buffer[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    fn name(key: &[u8]) -> Name {
        Name {
            title: "a/model.int8.avx2".to_owned(),
            key: Sha256::of(key),
        }
    }

    /// A folder that records its messages.
    fn folder(dir: &Path) -> (PreparedFolder, Arc<Mutex<Vec<String>>>) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let ear = Arc::clone(&told);
        (
            PreparedFolder::new(dir.join("cache"), move |text| {
                ear.lock().unwrap().push(text.to_owned());
            }),
            told,
        )
    }

    fn files(folder: &PreparedFolder) -> Vec<PathBuf> {
        let mut files: Vec<_> = fs::read_dir(&folder.dir)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        files
    }

    const CONTENT: &[u8] = &[7; 1000];

    #[test]
    fn what_was_put_is_mapped_again_and_outdated_files_go() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, told) = folder(dir.path());
        assert!(folder.open(&name(b"1")).is_none());
        folder.put(&name(b"1"), |out| out.write_all(CONTENT));
        let (bytes, at) = folder.open(&name(b"1")).unwrap();
        assert_eq!((&bytes.as_slice()[at..], at % 64), (CONTENT, 0));
        // The model or the program changed; another precision has its own file.
        let other = Name {
            title: "a/model.int8".to_owned(),
            key: Sha256::of(b"1"),
        };
        folder.put(&other, |out| out.write_all(CONTENT));
        folder.put(&name(b"2"), |out| out.write_all(CONTENT));
        assert!(folder.open(&name(b"1")).is_none() && folder.open(&other).is_some());
        assert_eq!((files(&folder).len(), told.lock().unwrap().len()), (2, 0));
        assert!(
            verify_prepared(&folder.dir)
                .unwrap()
                .iter()
                .all(|file| file.damage.is_none())
        );
        assert_eq!(bytes.as_slice()[at..].len(), 1000, "what is mapped stays");
    }

    #[test]
    fn a_damaged_file_is_refused_and_said() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, told) = folder(dir.path());
        folder.put(&name(b"1"), |out| out.write_all(CONTENT));
        let path = files(&folder).remove(0);
        let good = fs::read(&path).unwrap();
        let flipped = |at: usize| {
            let mut bad = good.clone();
            bad[at] ^= 1;
            bad
        };
        let mut bad: Vec<Vec<u8>> = (0..HEADER).map(flipped).collect();
        bad.extend([
            Vec::new(),
            good[..HEADER].to_vec(),
            good[..good.len() - 1].to_vec(),
            [&*good, b"x"].concat(),
        ]);
        let count = bad.len();
        for bytes in bad {
            fs::write(&path, bytes).unwrap();
            assert!(folder.open(&name(b"1")).is_none());
        }
        assert_eq!(told.lock().unwrap().len(), count);
        assert!(
            told.lock()
                .unwrap()
                .iter()
                .all(|text| text.ends_with("; they are made again"))
        );
        // A valid header with another key.
        fs::write(&path, header(&Sha256::of(b"2"), 0, &Sha256::of(b""))).unwrap();
        assert!(folder.open(&name(b"1")).is_none());
        // `models verify` reads the content, and removes damaged files.
        fs::write(&path, flipped(HEADER + 500)).unwrap();
        assert!(folder.open(&name(b"1")).is_some());
        assert_eq!(
            verify_prepared(&folder.dir).unwrap()[0].damage.as_deref(),
            Some("are damaged")
        );
        assert!(folder.open(&name(b"1")).is_none() && files(&folder).is_empty());
        assert!(
            verify_prepared(&dir.path().join("none"))
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn what_fails_while_it_is_written_leaves_nothing_and_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, told) = folder(dir.path());
        folder.put(&name(b"1"), |out| {
            out.write_all(CONTENT)
                .and(Err(io::Error::other("the disk is full")))
        });
        assert!(folder.open(&name(b"1")).is_none() && files(&folder).is_empty());
        assert!(told.lock().unwrap()[0].contains("the disk is full"));
        fs::remove_dir(&folder.dir).unwrap();
        fs::write(&folder.dir, "a file where the folder belongs").unwrap();
        assert_eq!(
            verify_prepared(&folder.dir).unwrap_err().code,
            ErrorCode::FileReadError
        );
        folder.put(&name(b"1"), |out| out.write_all(CONTENT));
        assert_eq!(told.lock().unwrap().len(), 2);
    }
}
