//! The numbers of the ranking.

/// The weights of the parts of a score. They were chosen on development sets of four kinds
/// (scientific abstracts, technical documentation, encyclopedia paragraphs in English and in
/// Chinese). One setting serves all four, and small changes to it make little difference.
pub(super) struct FieldWeights {
    /// Saturation of frequencies, and length normalisation: Lucene's defaults.
    pub(super) k1: f32,
    pub(super) b: f32,
    /// The minimum contribution of a word that is in a text, however long the text: BM25+ (Lv and
    /// Zhai 2011).
    pub(super) delta: f32,
    pub(super) title: f32,
    pub(super) aliases: f32,
    /// Headings: those of a document for the document, and the heading path of a chunk for the
    /// chunk. The body, which includes headings, has weight 1.
    pub(super) headings: f32,
    pub(super) chunk_headings: f32,
    pub(super) path: f32,
    pub(super) tags: f32,
    pub(super) anchors: f32,
    /// Share of the document's score in its chunks' scores.
    pub(super) doc_share: f32,
    /// Weights of a compound in the query: of each part, and of the whole.
    pub(super) part: f32,
    pub(super) whole: f32,
    /// Weight of a pair of characters that begins with hiragana.
    pub(super) grammar: f32,
    /// Bonus for the same form of the word, in addition to the stem.
    pub(super) exact: f32,
}

pub(super) const WEIGHTS: FieldWeights = FieldWeights {
    k1: 1.2,
    b: 0.75,
    delta: 0.5,
    title: 3.0,
    aliases: 3.0,
    headings: 0.5,
    chunk_headings: 1.5,
    path: 0.5,
    tags: 1.0,
    anchors: 0.5,
    doc_share: 1.0,
    part: 0.7,
    whole: 0.5,
    grammar: 0.1,
    exact: 0.25,
};
