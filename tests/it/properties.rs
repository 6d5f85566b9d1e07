//! Properties that hold for every vault and every history of it. Tests the whole `index` job in
//! this process, over generated notes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use local_agent_agent::config::Config;
use local_agent_files::sandbox::{Policy, RootSpec, Sandbox, Selection};
use local_agent_index::indexing::Source;
use local_agent_index::indexing::{IndexOptions, IndexSummary, index};
use local_agent_index::store::{ChunkRecord, IndexReader};
use local_agent_text::markdown::Scheme;
use local_agent_text::markdown::{self, ChunkOptions, CountTokens};
use local_agent_text::types::SourceName;
use proptest::prelude::*;
use tempfile::TempDir;

use super::churn::{State, assert_same};

const BUDGET: usize = 40;

/// A folder of notes and a folder for an index, without running the program.
pub(crate) struct Folder {
    dir: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("notes")).unwrap();
        Self { dir }
    }

    pub(crate) fn notes(&self) -> PathBuf {
        self.dir.path().join("notes")
    }

    pub(crate) fn state(&self, name: &str) -> State {
        State(self.dir.path().join(name))
    }

    /// Writes a note. If `old`, its time stamp is far in the past, so that only size, inode and
    /// change time show a change.
    pub(crate) fn write(&self, path: &str, text: &str, old: bool) {
        let file = self.notes().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        if old {
            let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
            File::options()
                .write(true)
                .open(file)
                .unwrap()
                .set_modified(then)
                .unwrap();
        }
    }

    pub(crate) fn index(&self, state: &State) -> IndexSummary {
        self.index_with(state, &words)
    }

    /// Like [`Self::index`]; `count` is called with every text that is cut.
    pub(crate) fn index_with(&self, state: &State, count: CountTokens<'_>) -> IndexSummary {
        let summary = self.run(state, count, true);
        assert_eq!(summary.errors, Vec::<String>::new());
        summary
    }

    /// The job itself, whose summary may name errors.
    pub(crate) fn run(
        &self,
        state: &State,
        count: CountTokens<'_>,
        allow_empty: bool,
    ) -> IndexSummary {
        let name = SourceName::new("notes").unwrap();
        let sources = [Source {
            name: name.clone(),
            root: self.notes(),
            kind: "notes".into(),
            code: false,
            selection: Selection::default(),
        }];
        let config = Config::defaults(self.dir.path()).unwrap();
        let spec = RootSpec {
            name,
            path: self.notes(),
            kind: "notes".into(),
            code: false,
            selection: Selection::default(),
        };
        let sandbox = Sandbox::open(vec![spec], Policy::from(&config.security)).unwrap();
        let options = IndexOptions {
            selected: &sources,
            configured: &sources,
            db_path: &state.index_db(),
            lexical_dir: &state.lexical(),
            chunking: chunking(),
            chunker_sig: "words",
            definitions: &|_, _| Vec::new(),
            verify: false,
            rebuild: None,
            allow_empty,
            wait: Duration::ZERO,
            holder: "a test",
        };
        index(&options, &sandbox, &|| Ok(Box::new(count)), &|_| ()).unwrap()
    }

    pub(crate) fn chunks(&self, state: &State) -> Vec<ChunkRecord> {
        let index = IndexReader::required(&state.index_db()).unwrap();
        let ids: Vec<_> = index.all_chunk_ids().unwrap().iter().collect();
        index.chunks(&ids).unwrap()
    }
}

pub(crate) fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

const fn chunking() -> ChunkOptions {
    ChunkOptions {
        scheme: Scheme::ObsidianV2,
        max_tokens: BUDGET,
        max_chars: 1200,
        overlap: 120,
    }
}

/// A block of a note, in any of the forms that notes have.
fn block() -> impl Strategy<Value = String> {
    let prose = "[a-zäß日本é,.]{1,9}( [a-zäß日本é,.]{1,9}){0,30}";
    prop_oneof![
        6 => prose.prop_map(|text| text + "\n"),
        4 => (1usize..=6, "[A-Za-z|#>%日 ]{0,18}").prop_map(|(level, title)| format!("{} {title}\n", "#".repeat(level))),
        1 => "[a-z]{1,8}".prop_map(|title| format!("{title}\n=====\n")),
        2 => prop::collection::vec("[a-z ]{1,40}", 1..8).prop_map(|items| items.iter().map(|i| format!("- {i}\n")).collect()),
        1 => prop::collection::vec("[a-z# ]{0,30}", 0..9).prop_map(|code| format!("```sh\n{}\n```\n", code.join("\n"))),
        1 => prop::collection::vec("[a-z ]{1,9}", 1..9)
            .prop_map(|rows| format!("| a | b |\n|---|---|\n{}", rows.iter().map(|r| format!("| {r} | 1 |\n")).collect::<String>())),
        1 => "[a-z]{1,9}".prop_map(|to| format!("see [[p{}|{to}]] and ![[{to}#part]] #tag/{to} ^{to}\n", to.len() % 6)),
        1 => "[a-z \n]{0,60}".prop_map(|text| format!("%%{text}%%\n")),
        1 => "[a-z ]{0,30}".prop_map(|text| format!("> [!note] {text}\n> {text}\n")),
        1 => Just("---\n".to_owned()),
        1 => Just("<div>\n".to_owned()),
        2 => "\\PC{0,40}".prop_map(|text| text + "\n"),
        1 => any::<String>(),
    ]
}

fn note() -> impl Strategy<Value = String> {
    let head = prop_oneof![
        4 => Just(String::new()),
        2 => "[a-z]{1,6}".prop_map(|tag| format!("---\ntitle: T {tag}\ntags: [{tag}]\naliases: [{tag} two]\n---\n")),
        1 => Just("---\nnever: closed\n".to_owned()),
        1 => Just("---\n: [not yaml\n---\n".to_owned()),
        1 => Just("\u{feff}".to_owned()),
    ];
    let body = prop::collection::vec((block(), any::<bool>()), 0..14);
    (head, body, prop::bool::weighted(0.15)).prop_map(|(head, body, crlf)| {
        let blocks = body
            .into_iter()
            .map(|(block, gap)| if gap { block + "\n" } else { block });
        let text = head + &blocks.collect::<String>();
        if crlf {
            text.replace('\n', "\r\n")
        } else {
            text
        }
    })
}

/// An event in a vault between two runs.
#[derive(Debug, Clone)]
enum Change {
    Write(usize, String, bool),
    Remove(usize),
    Rename(usize, usize),
}

const PATHS: [&str; 6] = [
    "p0.md",
    "p1.md",
    "sub/p2.md",
    "sub/p3.md",
    "Ünï/p4.md",
    "a b/p5.md",
];

fn change() -> impl Strategy<Value = Change> {
    let at = 0..PATHS.len();
    prop_oneof![
        5 => (at.clone(), note(), any::<bool>()).prop_map(|(at, text, old)| Change::Write(at, text, old)),
        1 => at.clone().prop_map(Change::Remove),
        1 => (at.clone(), at).prop_map(|(from, to)| Change::Rename(from, to)),
    ]
}

fn apply(folder: &Folder, files: &mut BTreeMap<usize, String>, change: &Change) {
    match change {
        Change::Write(at, text, old) => {
            folder.write(PATHS[*at], text, *old);
            files.insert(*at, text.clone());
        }
        Change::Remove(at) => {
            if files.remove(at).is_some() {
                fs::remove_file(folder.notes().join(PATHS[*at])).unwrap();
            }
        }
        Change::Rename(from, to) => {
            if let Some(text) = files.remove(from) {
                let target = folder.notes().join(PATHS[*to]);
                fs::create_dir_all(target.parent().unwrap()).unwrap();
                fs::rename(folder.notes().join(PATHS[*from]), target).unwrap();
                files.insert(*to, text);
            }
        }
    }
}

fn check(folder: &Folder, state: &State, files: &BTreeMap<usize, String>) {
    let chunks = folder.chunks(state);
    let keys: BTreeSet<_> = chunks.iter().map(|chunk| chunk.key).collect();
    assert_eq!(keys.len(), chunks.len(), "two chunks have one key");
    let mut of_file: BTreeMap<&str, Vec<&ChunkRecord>> = BTreeMap::new();
    for chunk in &chunks {
        of_file.entry(chunk.path.as_str()).or_default().push(chunk);
    }
    for (at, text) in files {
        let own = of_file.remove(PATHS[*at]).unwrap_or_default();
        check_file(text, &own);
    }
    assert!(
        of_file.is_empty(),
        "chunks of files that are gone: {:?}",
        of_file.keys()
    );
}

/// Every chunk is a slice of the file, on the lines it names; together they contain every visible
/// byte of the body.
fn check_file(text: &str, chunks: &[&ChunkRecord]) {
    let mut covered = vec![false; text.len()];
    for chunk in chunks {
        let (start, end) = (chunk.span.start(), chunk.span.end());
        assert_eq!(text.get(start..end), Some(chunk.text.as_str()));
        assert!(!chunk.text.trim().is_empty());
        let line = |byte: usize| {
            1 + text.as_bytes()[..byte]
                .iter()
                .filter(|b| **b == b'\n')
                .count()
        };
        assert_eq!(
            (chunk.lines.first() as usize, chunk.lines.last() as usize),
            (line(start), line(end - 1)),
            "{:?}",
            chunk.text
        );
        for byte in &mut covered[start..end] {
            assert!(!*byte, "two chunks hold one byte");
            *byte = true;
        }
    }
    let head = markdown::parse(text, &chunking(), &words)
        .frontmatter
        .span
        .map_or(0, local_agent_text::types::ByteSpan::end);
    for (at, c) in text.char_indices() {
        let seen = at >= head && !c.is_whitespace() && c != '\u{feff}';
        assert!(
            !seen || covered[at],
            "byte {at} ({c:?}) lies in no chunk of {text:?}"
        );
    }
}

/// A chapter that is a separate chunk: not so small that it is joined with a neighbour, and not so
/// large that it is split.
fn chapter(name: &str) -> impl Strategy<Value = String> + use<> {
    let name = name.to_owned();
    prop::collection::vec("[a-z]{2,7}", BUDGET / 2..BUDGET - 6)
        .prop_map(move |words| format!("## {name}\n\n{}\n\n", words.join(" ")))
}

fn chapters() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[A-Z][a-z]{3,9}", 3..7)
        .prop_flat_map(|names| names.iter().map(|n| chapter(n)).collect::<Vec<_>>())
}

/// Each case indexes folders, so the number is small unless PROPTEST_CASES sets it.
fn few() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(24);
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(few())]

    #[test]
    fn an_index_that_followed_any_history_is_the_index_that_a_fresh_run_makes(
        rounds in prop::collection::vec(prop::collection::vec(change(), 1..5), 1..4)
    ) {
        let folder = Folder::new();
        let grown = folder.state("grown");
        let mut files = BTreeMap::new();
        for round in &rounds {
            for change in round {
                apply(&folder, &mut files, change);
            }
            folder.index(&grown);
        }
        check(&folder, &grown, &files);
        let again = folder.index(&grown);
        prop_assert_eq!((again.docs_changed, again.docs_pruned, again.chunks_written, again.chunks_removed), (0, 0, 0, 0));
        let fresh = folder.state("fresh");
        folder.index(&fresh);
        assert_same(&grown.dump_index(), &fresh.dump_index());
    }

    #[test]
    fn w22_editing_one_section_leaves_the_rows_of_all_others(
        before in chapters(), new in chapter("New"), at in any::<prop::sample::Index>(), edit in 0usize..3
    ) {
        let folder = Folder::new();
        let state = folder.state("state");
        let intro = "# Title\n\n".to_owned() + &"intro ".repeat(BUDGET / 2) + "\n\n";
        folder.write("note.md", &(intro.clone() + &before.concat()), true);
        folder.index(&state);
        let rows = |folder: &Folder| -> BTreeMap<_, _> {
            folder.chunks(&state).into_iter().map(|chunk| (chunk.key, (chunk.id, chunk.text))).collect()
        };
        let old = rows(&folder);
        prop_assert_eq!(old.len(), before.len() + 1);
        let mut after = before.clone();
        let at = at.index(before.len());
        match edit {
            0 => after[at] = new,
            1 => after.insert(at, new),
            _ => drop(after.remove(at)),
        }
        folder.write("note.md", &(intro + &after.concat()), true);
        let summary = folder.index(&state);
        let (written, removed) = [(1, 1), (1, 0), (0, 1)][edit];
        prop_assert_eq!((summary.chunks_written, summary.chunks_removed), (written, removed));
        let now = rows(&folder);
        let kept = now.iter().filter(|(key, row)| old.get(*key) == Some(*row)).count();
        prop_assert_eq!(kept, old.len() - removed);
    }
}
