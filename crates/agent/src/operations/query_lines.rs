//! A query of typed lines, as written by agents that know `qmd`: `lex:` words, `vec:` a question in
//! plain language, `hyde:` a passage as the answer might be worded, `intent:` its purpose.

/// A query split into its typed lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryLines {
    /// The text of the word search, with the full query language. Lines are joined.
    pub words: String,
    /// The texts to embed, each separately: `vec:` and `hyde:` lines.
    pub meanings: Vec<String>,
    /// The purpose of the search; it is embedded together with the other texts.
    pub intent: Option<String>,
    /// The numbers of the lines without a type, from 1.
    pub untyped: Vec<usize>,
}

impl QueryLines {
    /// Splits a text into lines. `None`: no line has a type, so the text is a normal query. Lines
    /// without a type, and `expand:` lines, are used for both word search and semantic search.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = Self::default();
        let mut typed = false;
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            if line.is_empty() {
                continue;
            }
            let (kind, rest) = match split_type(line) {
                Some((kind, rest)) => {
                    typed = true;
                    (kind, rest)
                }
                None => {
                    lines.untyped.push(number);
                    ("expand", line)
                }
            };
            if rest.is_empty() {
                continue;
            }
            match kind {
                "lex" => lines.add_words(rest),
                "intent" => lines.intent = Some(rest.to_owned()),
                "expand" => {
                    lines.add_words(rest);
                    lines.meanings.push(rest.to_owned());
                }
                _ => lines.meanings.push(rest.to_owned()),
            }
        }
        typed.then_some(lines)
    }

    /// All texts that must be embedded.
    pub fn embedded(&self) -> Vec<String> {
        let mut all = self.meanings.clone();
        if !all.is_empty() {
            all.extend(self.intent.clone());
        }
        all
    }

    fn add_words(&mut self, words: &str) {
        if !self.words.is_empty() {
            self.words.push(' ');
        }
        self.words.push_str(words);
    }
}

fn split_type(line: &str) -> Option<(&'static str, &str)> {
    ["lex", "vec", "hyde", "intent", "expand"]
        .into_iter()
        .find_map(|kind| {
            let rest = line.strip_prefix(kind)?.strip_prefix(':')?;
            // `vec::new` and `lex://x` are words.
            (!rest.starts_with([':', '/'])).then(|| (kind, rest.trim()))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_types_are_told_apart() {
        let lines = QueryLines::parse(
            "intent: reading\nlex: wikilink \"a b\"\n\nvec: how do I link?\nhyde: Write two brackets.",
        )
        .unwrap();
        assert_eq!(lines.words, "wikilink \"a b\"");
        assert_eq!(lines.meanings, ["how do I link?", "Write two brackets."]);
        assert_eq!(lines.embedded().len(), 3);
    }

    #[test]
    fn a_text_without_types_is_a_query_as_it_stands() {
        for text in [
            "sync conflicts",
            "std::vec::new",
            "vec::new",
            "note:this",
            "",
        ] {
            assert_eq!(QueryLines::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_line_without_a_type_beside_typed_ones_is_searched_both_ways() {
        let lines = QueryLines::parse("lex: a\nplain words").unwrap();
        assert_eq!(lines.words, "a plain words");
        assert_eq!(lines.meanings, ["plain words"]);
    }
}
