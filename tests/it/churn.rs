//! A vault that is generated from a seed and changes from round to round. Also dumps all results of
//! the jobs in a form that is equal for two runs: without row ids, commits or time stamps.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use local_agent_embed::embedding;
use local_agent_embed::embedding::QueryVector;
use local_agent_embed::models::ModelFiles;
use local_agent_index::lexical::{self, Query};
use local_agent_index::retrieval::Fusion;
use local_agent_index::retrieval::{Engine, Mode, Request, Scope};
use local_agent_index::store::{EmbeddingStore, IndexReader};
use local_agent_index::vectors::Matrix;
use local_agent_text::types::{Fingerprint, Sha256};
use rusqlite::{Connection, OpenFlags};

/// Pseudo-random numbers that are the same on every run (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.roll() % n as u64).unwrap()
    }

    /// A number from 0 to 1.
    pub(crate) fn share(&mut self) -> f64 {
        (self.roll() >> 11) as f64 / (1u64 << 53) as f64
    }
}

pub(crate) const WORDS: &[&str] = &[
    "oven",
    "flour",
    "ledger",
    "bicycle",
    "invoice",
    "harbour",
    "granite",
    "signal",
    "lantern",
    "orchard",
    "velvet",
    "compass",
    "turbine",
    "mortgage",
    "saffron",
    "glacier",
    "pottery",
    "catalogue",
    "beacon",
    "thistle",
    "harness",
    "quarry",
    "ribbon",
    "sextant",
    "tannery",
    "umbrella",
    "varnish",
    "walnut",
    "yeast",
    "zinc",
    "anchor",
    "barley",
    "cellar",
    "dynamo",
    "ember",
    "furnace",
    "gasket",
    "hinge",
    "inkwell",
    "juniper",
    "kiln",
    "lathe",
    "mallet",
    "nettle",
    "obsidian",
    "parchment",
    "quill",
    "rivet",
    "sluice",
    "trellis",
];

#[derive(Debug, Clone)]
struct Note {
    title: String,
    sections: Vec<(String, Vec<String>)>,
}

/// Notes on disk. Every version of every note is also stored by its hash, so that indexed text can
/// be looked up.
#[derive(Debug)]
pub(crate) struct Vault {
    root: PathBuf,
    versions: PathBuf,
    dice: Dice,
    notes: BTreeMap<String, Note>,
    made: usize,
    /// The initial number of notes.
    begun: usize,
    /// Sections per note, paragraphs per section, words per paragraph.
    size: [usize; 3],
}

impl Vault {
    /// `count` notes below `root`; their versions are stored in `versions`.
    pub(crate) fn new(
        root: &Path,
        versions: &Path,
        seed: u64,
        count: usize,
        size: [usize; 3],
    ) -> Self {
        fs::create_dir_all(versions).unwrap();
        let mut vault = Self {
            root: root.to_owned(),
            versions: versions.to_owned(),
            dice: Dice::new(seed),
            notes: BTreeMap::new(),
            made: 0,
            begun: count,
            size,
        };
        (0..count).for_each(|_| vault.add());
        vault
    }

    /// Edits, renames, deletes and adds `n` notes in total; the number of notes stays about the
    /// same.
    pub(crate) fn churn(&mut self, n: usize) {
        for _ in 0..n {
            match self.dice.below(8) {
                0 => self.rename(),
                1 | 2 if self.notes.len() >= self.begun => self.delete(),
                1 | 2 => self.add(),
                _ => self.edit(),
            }
        }
    }

    pub(crate) fn rename(&mut self) {
        let Some(path) = self.any() else { return };
        let Some(note) = self.notes.remove(&path) else {
            return;
        };
        let to = self.fresh_path();
        fs::rename(self.root.join(&path), self.place(&to)).unwrap();
        self.notes.insert(to, note);
    }

    pub(crate) fn delete(&mut self) {
        let Some(path) = self.any() else { return };
        self.notes.remove(&path);
        fs::remove_file(self.root.join(path)).unwrap();
    }

    pub(crate) fn add(&mut self) {
        let path = self.fresh_path();
        let word = self.word();
        let title = format!("Note {} about {word}", self.made);
        let sections = (0..self.size[0]).map(|at| self.section(at)).collect();
        self.put(path, Note { title, sections });
    }

    pub(crate) fn edit(&mut self) {
        let Some(path) = self.any() else { return };
        let Some(mut note) = self.notes.remove(&path) else {
            return;
        };
        let at = self.dice.below(note.sections.len().max(1));
        match self.dice.below(4) {
            0 => note.sections.insert(at, self.section(self.made + at)),
            1 if note.sections.len() > 1 => drop(note.sections.remove(at)),
            _ => {
                let text = self.paragraph();
                if let Some((_, paragraphs)) = note.sections.get_mut(at) {
                    paragraphs[0] = text;
                }
            }
        }
        self.put(path, note);
    }

    /// Copies the notes in their current state.
    pub(crate) fn copy_to(&self, root: &Path) {
        for path in self.notes.keys() {
            let target = root.join(path);
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::copy(self.root.join(path), target).unwrap();
        }
    }

    fn any(&mut self) -> Option<String> {
        if self.notes.is_empty() {
            return None;
        }
        let at = self.dice.below(self.notes.len());
        self.notes.keys().nth(at).cloned()
    }

    fn fresh_path(&mut self) -> String {
        self.made += 1;
        format!(
            "{}/note-{}.md",
            ["inbox", "work/deep", "home"][self.made % 3],
            self.made
        )
    }

    fn place(&self, path: &str) -> PathBuf {
        let file = self.root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        file
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.dice.below(WORDS.len())]
    }

    fn paragraph(&mut self) -> String {
        let mut text = String::new();
        for at in 0..self.size[2] {
            let word = self.word();
            let number = self.dice.below(1000);
            let _ = match self.dice.below(24) {
                0 => write!(text, "{number} "),
                1 => write!(text, "[[note-{}|{word} page]] ", number % 60),
                2 if at > 0 => write!(text, "{word}. "),
                3 => write!(text, "#{word} "),
                _ => write!(text, "{word} "),
            };
        }
        text.trim_end().to_owned() + "."
    }

    fn section(&mut self, at: usize) -> (String, Vec<String>) {
        let heading = format!("{} {at}", self.word());
        let paragraphs = (0..self.size[1]).map(|_| self.paragraph()).collect();
        (heading, paragraphs)
    }

    fn put(&mut self, path: String, note: Note) {
        let mut text = format!(
            "---\ntags: [made, {}]\n---\n# {}\n",
            self.word(),
            note.title
        );
        for (heading, paragraphs) in &note.sections {
            let _ = write!(text, "\n## {heading}\n\n{}\n", paragraphs.join("\n\n"));
        }
        fs::write(
            self.versions.join(Sha256::of(text.as_bytes()).to_string()),
            &text,
        )
        .unwrap();
        // The file is written completely or not at all, as by an editor, because half a note would
        // be a version that is not stored.
        let file = self.place(&path);
        let half = file.with_file_name(".half-written");
        fs::write(&half, text).unwrap();
        fs::rename(half, file).unwrap();
        self.notes.insert(path, note);
    }
}

/// The folder in which one installation stores the results of its jobs.
#[derive(Debug, Clone)]
pub(crate) struct State(pub PathBuf);

impl State {
    pub(crate) fn index_db(&self) -> PathBuf {
        self.0.join("index.sqlite")
    }

    pub(crate) fn embeddings_db(&self) -> PathBuf {
        self.0.join("embeddings.sqlite")
    }

    pub(crate) fn lexical(&self) -> PathBuf {
        self.0.join("lexical")
    }

    pub(crate) fn vectors(&self) -> PathBuf {
        self.0.join("vectors")
    }

    pub(crate) fn engine(
        &self,
        fingerprint: Option<&Fingerprint>,
    ) -> local_agent_text::error::Result<Engine> {
        Engine::open(
            &self.index_db(),
            &self.lexical(),
            &self.vectors(),
            fingerprint,
        )
    }

    /// Everything that `index` wrote, as lines.
    pub(crate) fn dump_index(&self) -> Vec<String> {
        let db = open(&self.index_db());
        let mut lines = Vec::new();
        let mut take =
            |what: &str, sql: &str| lines.extend(rows(&db, sql).map(|row| format!("{what} {row}")));
        take(
            "document",
            "SELECT name, rel_path, status, size, hex(sha256), chunker_sig, title, stem_key, yaml_present, yaml_parse_ok,
                 yaml_error, required_keys_present, frontmatter_json, aliases_json, note_date
             FROM documents JOIN sources ON sources.id = source_id ORDER BY 1, 2",
        );
        take(
            "chunk",
            "SELECT rel_path, ordinal, hex(key), start_byte, end_byte, first_line, last_line, heading, kinds, tokens, text,
                 hex(text_sha256), hex(input_sha256)
             FROM chunks JOIN documents ON documents.id = document_id ORDER BY 1, 2",
        );
        take(
            "link",
            "SELECT rel_path, links.kind, target, target_key, anchor, text
             FROM links JOIN documents ON documents.id = document_id ORDER BY 1, 2, 3, 4, 5, 6",
        );
        take(
            "tag",
            "SELECT rel_path, tag FROM tags JOIN documents ON documents.id = document_id ORDER BY 1, 2",
        );
        take("meta", "SELECT key, value FROM meta ORDER BY 1");
        take("integrity", "PRAGMA integrity_check");
        take("foreign keys", "PRAGMA foreign_key_check");
        self.dump_lexical(&db, &mut lines);
        lines
    }

    fn dump_lexical(&self, db: &Connection, lines: &mut Vec<String>) {
        let reader = lexical::Reader::open(&self.lexical())
            .unwrap()
            .expect("a lexical projection");
        assert_eq!(reader.damaged_files().unwrap(), Vec::<String>::new());
        let mut keys: Vec<String> = reader
            .chunk_keys()
            .unwrap()
            .into_iter()
            .map(|(id, key)| {
                let of_row: String = db
                    .query_row(
                        "SELECT lower(hex(key)) FROM chunks WHERE id = ?1",
                        [id],
                        |row| row.get(0),
                    )
                    .unwrap();
                assert_eq!(
                    of_row,
                    key.to_string(),
                    "a lexical entry points at another row"
                );
                format!("lexical {key}")
            })
            .collect();
        keys.sort();
        lines.append(&mut keys);
        lines.push(format!("lexical documents {}", reader.doc_count()));
        let engine = self.engine(None).unwrap();
        assert_eq!(engine.stale().unwrap(), []);
        for words in [
            "oven flour",
            "\"the lantern\" granite",
            "note 7 about",
            "made",
            "page zinc -kiln",
            "deep",
        ] {
            let query = Query::parse(words, &std::collections::BTreeSet::new());
            let request = request(&query, Mode::Lexical, 40);
            let found = engine
                .search(&request, || unreachable!("words alone"))
                .unwrap();
            assert_eq!(found.dropped, 0);
            lines.extend(found.hits.iter().map(|hit| {
                let score = hit.trace.lexical_score.unwrap_or_default();
                format!("search {words:?} {} {score} {}", hit.chunk.key, hit.score)
            }));
        }
    }

    /// Everything that `embed` wrote, as lines.
    pub(crate) fn dump_vectors(&self, fingerprint: &Fingerprint) -> Vec<String> {
        let db = open(&self.embeddings_db());
        let sql = "SELECT hex(input_sha256), hex(fingerprint), hex(vector), tokens, windows, model_id FROM embeddings AS e
                   WHERE NOT EXISTS (SELECT 1 FROM unused AS u WHERE (u.fingerprint, u.input_sha256) = (e.fingerprint, e.input_sha256))
                   ORDER BY 1, 2";
        let mut lines: Vec<String> = rows(&db, sql).map(|row| format!("vector {row}")).collect();
        lines.extend(rows(&db, "PRAGMA integrity_check"));
        let matrix = Matrix::open(&self.vectors()).unwrap().expect("a matrix");
        matrix.verify().unwrap();
        let index = IndexReader::required(&self.index_db()).unwrap();
        let mut keys: Vec<String> = matrix
            .rows()
            .map(|(id, key)| {
                assert_eq!(
                    index.chunks(&[id]).unwrap()[0].key,
                    key,
                    "a matrix row points at another row"
                );
                format!("matrix {key}")
            })
            .collect();
        keys.sort();
        lines.append(&mut keys);
        let engine = self.engine(Some(fingerprint)).unwrap();
        assert_eq!(engine.stale().unwrap(), []);
        let coverage = engine.coverage().unwrap();
        lines.push(format!(
            "coverage {} of {}",
            coverage.embedded, coverage.chunks
        ));
        let store = EmbeddingStore::open_read(&self.embeddings_db())
            .unwrap()
            .unwrap();
        let mut inputs = store.inputs(fingerprint).unwrap();
        // Vectors that no chunk uses and that are kept for a while.
        for (_, input) in store.unused().unwrap() {
            inputs.remove(&input);
        }
        let mut inputs: Vec<Sha256> = inputs.into_iter().collect();
        inputs.sort();
        for input in inputs.iter().step_by(inputs.len() / 4 + 1) {
            let vector = store.vector(fingerprint, input).unwrap().unwrap();
            let query = Query::plain("oven flour");
            let found = engine
                .search(&request(&query, Mode::Hybrid, 40), || {
                    Ok(QueryVector::new(vector, "oven flour"))
                })
                .unwrap();
            assert_eq!(found.dropped, 0);
            lines.extend(
                found
                    .hits
                    .iter()
                    .map(|hit| format!("hybrid {input} {} {}", hit.chunk.key, hit.score)),
            );
        }
        lines
    }

    /// Names of stray files: they are part of neither a database nor a projection.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (folder, known) in [
            (self.0.clone(), known_file as fn(&str) -> bool),
            (self.lexical(), known_lexical),
            (self.vectors(), known_vectors),
        ] {
            for entry in fs::read_dir(&folder).into_iter().flatten() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                if !known(&name) {
                    names.push(format!(
                        "{}/{name}",
                        folder.file_name().unwrap().to_string_lossy()
                    ));
                }
            }
        }
        names.sort();
        names
    }

    /// Stray files, and files of projections that the newest state does not name.
    pub(crate) fn unnamed_files(&self) -> Vec<String> {
        let mut names = self.leftovers();
        let read = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
        let meta = read(self.lexical().join("meta.json")).replace('-', "");
        let manifest = read(self.vectors().join("manifest.json"));
        for entry in fs::read_dir(self.lexical()).into_iter().flatten() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name
                .split('.')
                .next()
                .is_some_and(|stem| stem.len() == 32 && !meta.contains(stem))
            {
                names.push(name);
            }
        }
        for entry in fs::read_dir(self.vectors()).into_iter().flatten() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let stem = name.split(['-', '.']).nth(1).unwrap_or_default();
            if stem.len() == 32 && !manifest.contains(stem) {
                names.push(name);
            }
        }
        names
    }
}

fn known_file(name: &str) -> bool {
    let bases = ["index.sqlite", "embeddings.sqlite"];
    let side = |base: &str| {
        name.strip_prefix(base)
            .is_some_and(|rest| matches!(rest, "" | "-wal" | "-shm" | "-journal"))
    };
    matches!(
        name,
        "index.lock" | "embed.lock" | "lexical" | "vectors" | "local-agent-id" | ".gitignore"
    ) || bases.iter().any(|base| side(base))
}

fn known_lexical(name: &str) -> bool {
    matches!(
        name,
        "meta.json" | ".managed.json" | ".tantivy-writer.lock" | ".tantivy-meta.lock"
    ) || name.split('.').next().is_some_and(|stem| stem.len() == 32)
}

fn known_vectors(name: &str) -> bool {
    name == "manifest.json"
        || name == "profile.json"
        || name.starts_with("seg-")
        || name.starts_with("dead-")
}

pub(crate) fn request(query: &Query, mode: Mode, limit: usize) -> Request<'_> {
    Request {
        query,
        mode,
        scope: Scope::default(),
        limit,
        fusion: Fusion::Convex,
        vector_weight: Some(0.5),
    }
}

pub(crate) fn open(path: &Path) -> Connection {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

fn rows(db: &Connection, sql: &str) -> std::vec::IntoIter<String> {
    let mut statement = db.prepare(sql).unwrap();
    let columns = statement.column_count();
    let rows = statement
        .query_map([], |row| {
            let one = |at| row.get_ref(at).map(|value| format!("{value:?}"));
            (0..columns).map(one).collect::<Result<Vec<_>, _>>()
        })
        .unwrap();
    rows.map(|row| readable(&row.unwrap().join(" | ")))
        .collect::<Vec<_>>()
        .into_iter()
}

/// rusqlite shows texts as lists of bytes.
fn readable(row: &str) -> String {
    let mut out = String::new();
    let mut rest = row;
    while let Some(at) = rest.find("Text([") {
        out.push_str(&rest[..at]);
        let end = at + rest[at..].find("])").unwrap();
        let bytes: Vec<u8> = rest[at + 6..end]
            .split(", ")
            .filter_map(|b| b.parse().ok())
            .collect();
        let _ = write!(out, "{:?}", String::from_utf8_lossy(&bytes));
        rest = &rest[end + 2..];
    }
    out + rest
}

/// Shows where two dumps differ instead of printing both.
pub(crate) fn assert_same(left: &[String], right: &[String]) {
    for (at, (a, b)) in left.iter().zip(right).enumerate() {
        assert_eq!(a, b, "line {at}");
    }
    assert_eq!(
        left.len(),
        right.len(),
        "{:?}",
        left.get(right.len()).or_else(|| right.get(left.len()))
    );
    assert!(!left.is_empty());
}

/// Every chunk of the index is, byte for byte, at the position that its row names, in the version
/// of the file that was indexed.
pub(crate) fn check_rows(index: &IndexReader, versions: &Path) -> usize {
    let ids: Vec<_> = index.all_chunk_ids().unwrap().iter().collect();
    let chunks = index.chunks(&ids).unwrap();
    for chunk in &chunks {
        check_chunk(chunk, versions);
    }
    chunks.len()
}

pub(crate) fn check_chunk(chunk: &local_agent_index::store::ChunkRecord, versions: &Path) {
    let file =
        fs::read(versions.join(chunk.file_sha256.to_string())).expect("a version that was written");
    assert_eq!(
        chunk.span.slice(&file),
        Some(chunk.text.as_bytes()),
        "{}",
        chunk.path
    );
    assert_eq!(chunk.text_sha256, Sha256::of(chunk.text.as_bytes()));
    let key = |n| {
        local_agent_text::types::ChunkKey::derive(
            &chunk.source,
            &chunk.path,
            &chunk.heading,
            &chunk.text_sha256,
            n,
        )
    };
    assert!(
        (0..4).any(|n| key(n) == chunk.key),
        "{}: the key is another chunk's",
        chunk.path
    );
}

/// The fingerprint of the compiled-in model.
pub(crate) fn fingerprint() -> Fingerprint {
    embedding::fingerprint(&ModelFiles::embedded().unwrap())
}
