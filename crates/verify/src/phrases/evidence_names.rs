//! How a sentence names the evidence: "the notes", "your recipe", "none of the provided pages".

/// The evidence itself: "does not say" about it is no claim about the world.
pub(super) const EVIDENCE: &[&str] = list!("abstention.evidence");

/// Texts: they are the evidence, unless a note speaks of them.
pub(super) const TEXTS: &[&str] = list!("abstention.texts");

/// Things of the world that can be a text.
const THINGS: &[&str] = list!("abstention.things");

/// Words that point at the evidence.
pub(super) const POINTING: &[&str] = list!("abstention.pointing");

/// Words that stand before the word for the evidence.
const LEADS: &[&str] = list!("abstention.leads");

/// Words that cannot stand inside the name of the evidence.
const BREAKS: &[&str] = list!("abstention.breaks");

/// How a phrase begins that says where somebody looked.
pub(super) const PLACES: &[&str] = list!("abstention.places");

/// Maximum number of other words inside a name of the evidence: "the harbour notes".
const MOST_STRANGE: usize = 2;

/// Maximum number of words of a name of the evidence.
const LONGEST: usize = 8;

/// A name of the evidence at the beginning of some words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EvidenceName<'t> {
    /// Its last word: "notes".
    pub word: &'t str,
    /// How many words it has.
    pub words: usize,
    /// Whether a word points at the evidence: "your notes".
    pub pointed: bool,
}

/// Whether a word means the evidence; `pointed`: a word that points at it stands before.
pub(super) fn is_name_of_evidence(word: &str, pointed: bool) -> bool {
    EVIDENCE.contains(&word) || TEXTS.contains(&word) || pointed && THINGS.contains(&word)
}

/// The name of the evidence that these words begin with.
pub(super) fn name_of_evidence<'t>(all: &[&'t str], pointed: bool) -> Option<EvidenceName<'t>> {
    let mut pointed = pointed;
    let mut strange = 0;
    for (i, word) in all.iter().copied().enumerate().take(LONGEST) {
        if is_name_of_evidence(word, pointed) {
            return Some(EvidenceName {
                word,
                words: i + 1,
                pointed,
            });
        }
        pointed |= POINTING.contains(&word);
        // "Bob found no evidence" is about Bob.
        if LEADS.contains(&word) && strange == 0 {
            continue;
        }
        let breaks = LEADS.contains(&word) || BREAKS.contains(&word);
        if breaks || strange == MOST_STRANGE {
            return None;
        }
        strange += 1;
    }
    None
}

/// Whether some words name the evidence behind a word that points at it, or behind an article:
/// "in the notes", "in your guide"; not "evidence of fraud".
pub(super) fn points_at_evidence(all: &[&str]) -> bool {
    all.iter().enumerate().any(|(at, word)| {
        let before = all.get(at.saturating_sub(2)..at).unwrap_or(&[]);
        let pointed = before.iter().any(|w| POINTING.contains(w));
        let article = before
            .iter()
            .any(|w| matches!(*w, "the" | "these" | "this" | "those" | "den" | "diesen"));
        pointed && is_name_of_evidence(word, true) || article && EVIDENCE.contains(word)
    })
}
