//! The entries of the index: one per document and, directly after it, one per chunk.
//!
//! Only ids, keys and lengths are stored; texts are read from SQLite. The body of a document is
//! indexed once, in its chunks; a document's score is the sum over them.

use local_agent_text::language::Language;
use tantivy::schema::{
    Field, INDEXED, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager};

/// The name under which [`Encoding`] is registered.
const ENCODED: &str = "encoded";

/// The fields, by name.
#[derive(Clone, Copy)]
pub(super) struct Fields {
    /// Row id of the document; on every entry.
    pub(super) doc_id: Field,
    /// Row id of the chunk; 0 on a document's entry.
    pub(super) chunk_id: Field,
    /// How many entries earlier the entry of its document is; 0 on a document's entry.
    pub(super) back: Field,
    /// Number of words of a chunk; on a document's entry, of all its chunks and of its text outside
    /// them.
    pub(super) length: Field,
    /// First and last eight bytes of the chunk key, big-endian.
    pub(super) key: [Field; 2],
    /// Exact forms, with positions. On a chunk: those of its text. On a document: those of all its
    /// other texts.
    pub(super) exact: Field,
    /// Stems, without positions.
    pub(super) stems: StemFields,
    /// For documents in languages other than English. On chunks: the stems of their text in that
    /// language, each with a mark. On documents: the mark alone.
    pub(super) local: Field,
}

/// The fields that are searched and weighted.
#[derive(Clone, Copy)]
pub(super) struct StemFields {
    /// On chunks: their text, without stems that are also in `exact`. On documents: text that is in
    /// no chunk.
    pub(super) text: Field,
    /// On chunks: their heading path. On documents: all headings.
    pub(super) headings: Field,
    pub(super) title: Field,
    pub(super) aliases: Field,
    pub(super) path: Field,
    pub(super) tags: Field,
    pub(super) anchors: Field,
}

/// The mark for a document in this language, which is also the prefix of the terms of its words.
pub(super) fn mark(language: Language) -> String {
    format!("{}:", language.code())
}

/// The schema and its fields. The same on every call.
pub(super) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let fast = NumericOptions::default().set_fast();
    let stems = text_options(IndexRecordOption::WithFreqs);
    let fields = Fields {
        doc_id: builder.add_i64_field("doc_id", fast.clone() | INDEXED),
        chunk_id: builder.add_i64_field("chunk_id", fast.clone()),
        back: builder.add_u64_field("back", fast.clone()),
        length: builder.add_u64_field("length", fast.clone()),
        key: [
            builder.add_u64_field("key_first", fast.clone()),
            builder.add_u64_field("key_last", fast),
        ],
        exact: builder.add_text_field(
            "exact",
            text_options(IndexRecordOption::WithFreqsAndPositions),
        ),
        stems: StemFields {
            text: builder.add_text_field("text", stems.clone()),
            headings: builder.add_text_field("headings", stems.clone()),
            title: builder.add_text_field("title", stems.clone()),
            aliases: builder.add_text_field("aliases", stems.clone()),
            path: builder.add_text_field("path", stems.clone()),
            tags: builder.add_text_field("tags", stems.clone()),
            anchors: builder.add_text_field("anchors", stems.clone()),
        },
        local: builder.add_text_field("local", stems),
    };
    (builder.build(), fields)
}

/// A field of encoded terms, without norms.
fn text_options(option: IndexRecordOption) -> TextOptions {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(ENCODED)
        .set_index_option(option)
        .set_fieldnorms(false);
    TextOptions::default().set_indexing_options(indexing)
}

/// The tokenizers named in the schema.
pub(super) fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register(ENCODED, TextAnalyzer::from(Encoding::default()));
    manager
}

/// Reads the output of [`super::encode::Encoded`]: one term per line; a term after a tab shares the
/// position of the next one; an empty line is a gap of [`GAP`] positions.
///
/// Analysis happens once, outside tantivy, and produces both forms; terms contain no control
/// characters.
#[derive(Clone, Default)]
pub(super) struct Encoding {
    token: Token,
}

/// Number of positions between separate texts.
const GAP: usize = 8;

pub(super) struct LineStream<'a> {
    rest: &'a str,
    next: usize,
    token: &'a mut Token,
}

impl Tokenizer for Encoding {
    type TokenStream<'a> = LineStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> LineStream<'a> {
        self.token.reset();
        LineStream {
            rest: text,
            next: 0,
            token: &mut self.token,
        }
    }
}

impl TokenStream for LineStream<'_> {
    fn advance(&mut self) -> bool {
        while let Some(end) = self.rest.bytes().position(|b| b == b'\n') {
            let line = &self.rest[..end];
            self.rest = &self.rest[end + 1..];
            if line.is_empty() {
                self.next += GAP;
                continue;
            }
            self.token.position = self.next;
            self.token.text.clear();
            match line.strip_prefix('\t') {
                Some(whole) => self.token.text.push_str(whole),
                None => {
                    self.token.text.push_str(line);
                    self.next += 1;
                }
            }
            return true;
        }
        false
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
