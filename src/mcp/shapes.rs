//! The input and output types of the tools. The schemas for clients are generated from these types,
//! and models read the field descriptions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use local_agent_agent::operations::Limits;
use local_agent_agent::operations::notes::{Backlink, OutgoingLink, SimilarNote, TagCount};

/// Defines the arguments of a tool; unknown ones are refused, so that a typo is noticed.
macro_rules! arguments {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name { $($(#[$field_doc])* pub(super) $field: $kind,)* }
    };
}

arguments! {
    SearchArgs {
        /// A question or words, in plain language.
        query: String,
        /// Most hits on one page, 1 to 50. Usually 8.
        limit: Option<u32>,
        /// Only these sources, by name.
        #[serde(default)]
        source: Vec<String>,
        /// Only below these folders, or what fits these globs.
        #[serde(default)]
        path: Vec<String>,
        /// Only notes with one of these tags or one below, without `#`.
        #[serde(default)]
        tag: Vec<String>,
        /// From this day on, YYYY-MM-DD.
        after: Option<String>,
        /// Before this day, YYYY-MM-DD.
        before: Option<String>,
        /// Newer first: half-life, days.
        recent: Option<u32>,
        /// Most bytes of text. Usually 16384.
        max_bytes: Option<usize>,
        /// `next_cursor` of the page before; all else as it was.
        cursor: Option<String>,
    }
}

arguments! {
    GetArgs {
        /// `source:path.md`, `path.md`, `path.md:40` (from line 40), `path.md:40:20` (20 lines), or
        /// `#chunk_key`.
        address: String,
        /// Most bytes of text in one result. Usually 32768.
        max_bytes: Option<usize>,
        /// `next_cursor` of the result before.
        cursor: Option<String>,
    }
}

arguments! {
    MultiGetArgs {
        /// Globs (`**/2026-*.md`; `*` stays in a folder) or addresses as in `get`, with commas.
        glob: String,
        /// Most bytes of text. Usually 65536.
        max_bytes: Option<usize>,
        /// `next_cursor` of the page before.
        cursor: Option<String>,
    }
}

arguments! {
    LinksArgs {
        /// A path, `source:path.md`, or a note's name.
        note: String,
    }
}

arguments! {
    TagsArgs {
    }
}

arguments! {
    SimilarArgs {
        /// A path, `source:path.md`, or a note's name.
        note: String,
        /// Most notes, 1 to 50. Usually 8.
        limit: Option<usize>,
    }
}

arguments! {
    MemorySearchArgs {
        /// Words to look for.
        query: String,
        /// Most memories, 1 to 50. Usually 8.
        limit: Option<usize>,
    }
}

arguments! {
    AskArgs {
        /// The question, in plain language.
        question: String,
        /// Answer from this one file, read whole.
        file: Option<String>,
        /// As in `search`.
        #[serde(default)]
        source: Vec<String>,
        /// As in `search`.
        #[serde(default)]
        path: Vec<String>,
        /// As in `search`.
        #[serde(default)]
        tag: Vec<String>,
        /// As in `search`.
        after: Option<String>,
        /// As in `search`.
        before: Option<String>,
        /// Fail when a sentence does not pass or is in doubt.
        #[serde(default)]
        strict: bool,
        /// Most bytes of evidence text. Usually 16384.
        max_bytes: Option<usize>,
    }
}

arguments! {
    VerifyArgs {
        /// The answer, with its citations.
        answer: String,
        /// For citations by label: the `run_id` of `ask`. Without it files are cited:
        /// `[notes:ovens.md:12-18]`, `[text](ovens.md#L12)`, `[[Ovens]]`.
        run_id: Option<String>,
        /// Most bytes of claims on one page. Usually 32768.
        max_bytes: Option<usize>,
        /// `next_cursor` of the page before.
        cursor: Option<String>,
    }
}

arguments! {
    StatusArgs {
        /// Also compare every file with the index.
        #[serde(default)]
        compare_files: bool,
    }
}

macro_rules! limits {
    ($($name:ident)*) => {$(
        impl $name {
            pub(super) fn limits(&self) -> Limits {
                let Self { source, path, tag, after, before, .. } = self;
                Limits {
                    source: source.clone(),
                    path: path.clone(),
                    tag: tag.clone(),
                    after: after.clone(),
                    before: before.clone(),
                }
            }
        }
    )*};
}

limits! { SearchArgs AskArgs }

/// How much of the index has vectors, and can be found by similarity.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Covered {
    pub(super) chunks: u64,
    /// Of those, with a vector.
    pub(super) embedded: u64,
}

/// Something older than the files or the index.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Behind {
    pub(super) why: String,
    /// The command that mends it.
    pub(super) fix: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SearchHit {
    /// From 1, over all pages.
    pub(super) rank: usize,
    /// What to write after a sentence that rests on this.
    pub(super) cite: String,
    pub(super) source: String,
    pub(super) rel_path: String,
    pub(super) title: String,
    pub(super) heading_path: String,
    /// First and last line, from 1, both included.
    pub(super) lines: [u32; 2],
    pub(super) chunk_key: String,
    /// The chance that it is relevant, 0 to 1. It is missing for a client with limited access,
    /// because it depends on all notes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) score: Option<f32>,
    /// Whether its file is what was indexed; where it is not, `text` is the old one.
    pub(super) fresh: bool,
    /// Whether its file is gone.
    #[serde(skip_serializing_if = "is_false")]
    pub(super) gone: bool,
    /// What the person says about its folder; null: nothing.
    pub(super) context: Option<String>,
    /// Word for word.
    pub(super) text: String,
    /// Whether `text` was cut for the budget; `get` with `#` and the key gives all of it.
    pub(super) truncated: bool,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the type that serde wants"
)]
const fn is_false(value: &bool) -> bool {
    !*value
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SearchPage {
    /// `found` or `nothing_found`.
    pub(super) outcome: &'static str,
    /// Best first.
    pub(super) hits: Vec<SearchHit>,
    /// Which words no note has, and what was searched in their place.
    pub(super) unknown_words: Vec<String>,
    /// Gives the next page; null on the last page.
    pub(super) next_cursor: Option<String>,
    pub(super) coverage: Covered,
    pub(super) stale: Vec<Behind>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Document {
    /// `source:path`.
    pub(super) address: String,
    /// Of the whole file.
    pub(super) sha256: String,
    /// Number of the first line of `text`, from 1.
    pub(super) first_line: usize,
    /// Lines of the whole file.
    pub(super) total_lines: usize,
    /// Word for word, without line numbers.
    pub(super) text: String,
    /// Whether `text` was cut for the budget.
    pub(super) truncated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GetResult {
    #[serde(flatten)]
    pub(super) document: Document,
    /// Gives what comes after; null: this was the end.
    pub(super) next_cursor: Option<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Skipped {
    pub(super) path: String,
    pub(super) reason: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MultiGetPage {
    /// `found` or `nothing_found`.
    pub(super) outcome: &'static str,
    /// How many files and passages.
    pub(super) matched: usize,
    pub(super) documents: Vec<Document>,
    /// Files that fit and are not read.
    pub(super) skipped: Vec<Skipped>,
    pub(super) next_cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Evidence {
    /// `E1`, `E2`, …: cited as `[E1]`.
    pub(super) label: String,
    pub(super) source: String,
    pub(super) rel_path: String,
    pub(super) heading_path: String,
    /// First and last line, from 1, both included.
    pub(super) lines: [u32; 2],
    pub(super) chunk_key: String,
    /// Word for word; empty when the budget was spent.
    pub(super) text: String,
    /// Whether `text` was cut for the budget; `get` with `#` and the key gives all of it.
    pub(super) truncated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NotedSentence {
    /// Without citations.
    pub(super) sentence: String,
    pub(super) codes: Vec<String>,
    /// The same in words.
    pub(super) reason: String,
    /// What the source says: `source:path:lines: words`; null where nothing is cited.
    pub(super) source: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AskResult {
    /// `answered`; `closest`: no sentence answers for certain, these passages come closest;
    /// `partial`: the sentences of a model's answer that passed; `abstained`; or
    /// `extractive_fallback`: no sentence of the model's answer passed, these are the notes' own
    /// sentences.
    pub(super) outcome: &'static str,
    /// A value that was computed from the passages of `answer`, with the arithmetic.
    pub(super) computed: Option<String>,
    /// With citations; null when the notes do not answer the question.
    pub(super) answer: Option<String>,
    /// Why there is no answer, not all of it, or not the model's.
    pub(super) why: Option<String>,
    /// Sentences of `answer` that something speaks against and nothing disproves.
    pub(super) doubts: Vec<NotedSentence>,
    /// Sentences of the model's answer that were refused; they are not in `answer`.
    pub(super) left_out: Vec<NotedSentence>,
    /// Who wrote it: `extractive`, `ollama`, `openai`.
    pub(super) answerer: String,
    /// Whether every claim of `answer` passed the checks and the configuration lets that be said.
    pub(super) verified: bool,
    /// How many citations are wrong; null: none.
    pub(super) checks: Option<String>,
    /// What the answer may be checked against, and what `verify` takes as `run_id`; null when no
    /// records are kept.
    pub(super) run_id: Option<String>,
    pub(super) evidence: Vec<Evidence>,
    /// What the person asked the program to remember about this: context, not evidence.
    pub(super) memory: Vec<String>,
    /// Servers that text was sent to; empty: it stayed in this program.
    pub(super) sent_to: Vec<String>,
    pub(super) coverage: Covered,
    pub(super) stale: Vec<Behind>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ClaimResult {
    /// As written, without its citations.
    pub(super) text: String,
    /// `verified`: word for word in the evidence. `checked`: cited, and nothing was found against
    /// it, which is not a proof. `rejected`: see `codes` and `why`.
    pub(super) verdict: String,
    pub(super) codes: Vec<String>,
    pub(super) why: String,
    /// Where it is carried: `source:path:first-last`.
    pub(super) found_in: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Unresolved {
    pub(super) citation: String,
    pub(super) why: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LinksResult {
    /// `source:path`.
    pub(super) note: String,
    pub(super) links: Vec<OutgoingLink>,
    pub(super) backlinks: Vec<Backlink>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TagsResult {
    /// How many tags there are; `tags` are the most frequent of them.
    pub(super) count: usize,
    pub(super) tags: Vec<TagCount>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SimilarResult {
    /// `source:path`.
    pub(super) note: String,
    pub(super) similar: Vec<SimilarNote>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MemoryFound {
    /// `constraint`, `preference`, `project_state`, `user_fact` or `workflow_rule`.
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) content: String,
    /// When the person said it.
    pub(super) created_at: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MemoryResult {
    /// Best first.
    pub(super) memories: Vec<MemoryFound>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct VerifyResult {
    /// Whether everything passed, or the answer says that it cannot answer and claims nothing.
    pub(super) passed: bool,
    /// `passed`, `abstained` or `rejected`.
    pub(super) outcome: String,
    /// Of the whole answer.
    pub(super) codes: Vec<String>,
    pub(super) claims: Vec<ClaimResult>,
    /// Citations that name nothing that can be read.
    pub(super) unresolved: Vec<Unresolved>,
    /// The counts of citations that are wrong, if there are any.
    pub(super) footer: Option<String>,
    pub(super) next_cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SourceResult {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) documents: u64,
    pub(super) last_scan_unix: i64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StatusResult {
    pub(super) indexed: bool,
    pub(super) documents: u64,
    pub(super) skipped_files: u64,
    pub(super) sources: Vec<SourceResult>,
    pub(super) coverage: Covered,
    pub(super) stale: Vec<Behind>,
    /// The embedding model.
    pub(super) model: Option<String>,
    /// Jobs that are at work now.
    pub(super) jobs: Vec<String>,
}
