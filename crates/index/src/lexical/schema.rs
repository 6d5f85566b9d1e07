//! What stands in the index: one entry a document and, right behind it, one entry a chunk.
//!
//! Nothing is stored but ids, keys and lengths; texts are read from SQLite. The body of a document
//! is indexed once, in its chunks: what a document as a whole scores is added up from them.

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
    /// How many entries before this one its document's entry stands; 0 on that entry itself.
    pub(super) back: Field,
    /// Words of a chunk; on a document's entry, of all its chunks and of its text outside them.
    pub(super) length: Field,
    /// First and last eight bytes of the chunk key, big-endian.
    pub(super) key: [Field; 2],
    /// Exact forms, with positions. On chunks: of their text. On documents: of everything else.
    pub(super) exact: Field,
    /// Stems, without positions.
    pub(super) stems: StemFields,
    /// In documents of another language than English. On chunks: the stems of their text in that
    /// language, each with its mark. On documents: the mark alone.
    pub(super) local: Field,
}

/// The fields that are searched and weighted.
#[derive(Clone, Copy)]
pub(super) struct StemFields {
    /// On chunks: their text, without stems that stand in `exact` too. On documents: text that
    /// stands in no chunk.
    pub(super) text: Field,
    /// On chunks: their heading path. On documents: all headings.
    pub(super) headings: Field,
    pub(super) title: Field,
    pub(super) aliases: Field,
    pub(super) path: Field,
    pub(super) tags: Field,
    pub(super) anchors: Field,
}

/// What says, in the index, that a document is in this language; begins the terms of its words.
pub(super) fn mark(language: Language) -> String {
    format!("{}:", language.code())
}

/// The schema and its fields. Equal on every call.
pub(super) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let fast = NumericOptions::default().set_fast();
    let text = |option| {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(ENCODED)
            .set_index_option(option)
            .set_fieldnorms(false);
        TextOptions::default().set_indexing_options(indexing)
    };
    let stems = text(IndexRecordOption::WithFreqs);
    let fields = Fields {
        doc_id: builder.add_i64_field("doc_id", fast.clone() | INDEXED),
        chunk_id: builder.add_i64_field("chunk_id", fast.clone()),
        back: builder.add_u64_field("back", fast.clone()),
        length: builder.add_u64_field("length", fast.clone()),
        key: [
            builder.add_u64_field("key_first", fast.clone()),
            builder.add_u64_field("key_last", fast),
        ],
        exact: builder.add_text_field("exact", text(IndexRecordOption::WithFreqsAndPositions)),
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

/// The tokenizers that the schema names.
pub(super) fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register(ENCODED, TextAnalyzer::from(Encoding::default()));
    manager
}

/// Reads what [`super::encode::Encoded`] wrote: a term a line; a term after a tab shares the
/// position of the next one; an empty line is a gap of [`GAP`] positions.
///
/// Analysis happens once, outside of tantivy, and feeds both forms; terms hold no control
/// character.
#[derive(Clone, Default)]
pub(super) struct Encoding {
    token: Token,
}

/// Positions between texts that are not one text.
const GAP: usize = 8;

pub(super) struct Lines<'a> {
    rest: &'a str,
    next: usize,
    token: &'a mut Token,
}

impl Tokenizer for Encoding {
    type TokenStream<'a> = Lines<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Lines<'a> {
        self.token.reset();
        Lines {
            rest: text,
            next: 0,
            token: &mut self.token,
        }
    }
}

impl TokenStream for Lines<'_> {
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
