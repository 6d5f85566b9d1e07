//! Names in a file: the headings of a note, the definitions and uses in a source file.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use super::files::is_note;
use super::notes;
use super::text::ReadFile;
use local_agent_files::sandbox::Address;
use local_agent_text::documents::{CODE_EXTENSIONS, Definition};
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::types::RelPath;

/// Maximum size in bytes of a source file that is parsed.
const MOST_BYTES: usize = 1 << 20;

/// Source with deeper nested brackets is not parsed, because the grammars take quadratic time for
/// it.
const DEEPEST: usize = 500;

/// Maximum time for parsing one file.
#[cfg(feature = "code")]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(3);

/// A name, and the part of the file that it names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Symbol {
    pub name: String,
    /// `heading`, `function`, `method`, `class`, `call`, …
    pub kind: String,
    /// The first line, from 1.
    pub line: u32,
    pub end_line: u32,
    /// The level of a heading; 0 for symbols in code.
    #[serde(skip)]
    pub level: u8,
    #[serde(skip)]
    pub range: Range<usize>,
    #[serde(skip)]
    pub is_definition: bool,
}

/// Whether names can be found in this kind of file.
pub(super) fn has_names(at: &Address) -> bool {
    is_note(at) || extension(&at.path).is_some()
}

/// Every name in a file, in order.
///
/// `FILE_READ_ERROR` when it is not text, `INVALID_ARGS` when it is neither a note nor a source file,
/// `FILE_TOO_LARGE`.
pub(super) fn symbols(file: &ReadFile) -> Result<Vec<Symbol>> {
    let text = file.text()?;
    if is_note(&file.at) {
        return Ok(headings(text));
    }
    let Some(ext) = extension(&file.at.path) else {
        let message = format!(
            "`{}` is neither a note nor a source file, so it has no names.",
            file.at
        );
        return Err(Failure::new(ErrorCode::InvalidArgs, message)
            .with_fix(Fix::ReadTextFile, "read it with read_text_file"));
    };
    if text.len() > MOST_BYTES {
        let message = format!(
            "`{}` has {} bytes; source files of up to {MOST_BYTES} are parsed.",
            file.at,
            text.len()
        );
        return Err(Failure::new(ErrorCode::FileTooLarge, message)
            .with_fix(Fix::SearchWithGrep, "search it with grep"));
    }
    if nesting(text) > DEEPEST {
        let message = format!(
            "`{}` has brackets nested more than {DEEPEST} deep, so it is not parsed.",
            file.at
        );
        return Err(Failure::new(ErrorCode::FileTooLarge, message)
            .with_fix(Fix::SearchWithGrep, "search it with grep"));
    }
    of_code(ext, text)
}

/// Maximum depth of open brackets, including those in strings.
fn nesting(text: &str) -> usize {
    let (mut deep, mut deepest) = (0usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => deep += 1,
            b')' | b']' | b'}' => deep = deep.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(deep);
    }
    deepest
}

/// The definitions in a source file, in order; none if it cannot be parsed.
pub(crate) fn definitions(path: &RelPath, text: &str) -> Vec<Definition> {
    let Some(ext) = extension(path) else {
        return Vec::new();
    };
    if text.len() > MOST_BYTES || nesting(text) > DEEPEST {
        return Vec::new();
    }
    let symbols = of_code(ext, text).unwrap_or_default();
    let defined = symbols.into_iter().filter(|symbol| symbol.is_definition);
    defined
        .map(|symbol| Definition {
            name: symbol.name,
            range: symbol.range,
        })
        .collect()
}

fn extension(path: &RelPath) -> Option<&'static str> {
    let name = path.file_name().to_lowercase();
    CODE_EXTENSIONS.into_iter().find(|ext| name.ends_with(ext))
}

/// Offsets of the line breaks of a text, so that many positions can be looked up after one pass.
pub(super) struct LineStarts(Vec<usize>);

impl LineStarts {
    pub(super) fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The line of a byte, from 1.
    pub(super) fn at(&self, byte: usize) -> u32 {
        u32::try_from(self.0.partition_point(|b| *b < byte) + 1).unwrap_or(u32::MAX)
    }
}

fn headings(text: &str) -> Vec<Symbol> {
    let document = notes::parse(text);
    let lines = LineStarts::of(text);
    let one = |(n, heading): (usize, &local_agent_text::markdown::HeadingAt)| {
        let range = notes::section(&document, n, text)?;
        let last = range.start + text[range.clone()].trim_end().len();
        Some(Symbol {
            name: heading.title.clone(),
            kind: "heading".to_owned(),
            line: heading.line,
            end_line: lines.at(last),
            level: heading.level,
            range,
            is_definition: true,
        })
    };
    document
        .headings
        .iter()
        .enumerate()
        .filter_map(one)
        .collect()
}

#[cfg(not(feature = "code"))]
fn of_code(_: &str, _: &str) -> Result<Vec<Symbol>> {
    let message = "This program was built without the grammars of programming languages.";
    Err(Failure::new(ErrorCode::InvalidArgs, message)
        .with_hint("cargo install --path . --features code"))
}

#[cfg(feature = "code")]
fn of_code(ext: &str, text: &str) -> Result<Vec<Symbol>> {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::RecvTimeoutError;

    use tree_sitter_tags::TagsContext;

    let config = grammars::of(ext).map_err(unparsable)?;
    let mut context = TagsContext::new();
    let stop = AtomicUsize::new(0);
    let (done, waiting) = std::sync::mpsc::channel::<()>();
    let tags = std::thread::scope(|threads| {
        let stop = &stop;
        threads.spawn(move || {
            if waiting.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                stop.store(1, Ordering::SeqCst);
            }
        });
        let tags = context
            .generate_tags(config, text.as_bytes(), Some(stop))
            .and_then(|(tags, _)| tags.collect::<std::result::Result<Vec<_>, _>>());
        drop(done);
        tags
    });
    let tags = tags.map_err(|e| unparsable(e.to_string()))?;
    let lines = LineStarts::of(text);
    let mut out = Vec::new();
    for tag in tags {
        let Some(name) = text.get(tag.name_range.clone()) else {
            continue;
        };
        let at = if tag.is_definition {
            tag.range.start
        } else {
            tag.name_range.start
        };
        out.push(Symbol {
            name: name.to_owned(),
            kind: config.syntax_type_name(tag.syntax_type_id).to_owned(),
            line: lines.at(at),
            end_line: lines.at(tag.range.end.saturating_sub(1)),
            level: 0,
            range: tag.range,
            is_definition: tag.is_definition,
        });
    }
    out.sort_by_key(|symbol| (symbol.range.start, symbol.range.end));
    Ok(out)
}

/// The failure for code that cannot be parsed.
#[cfg(feature = "code")]
fn unparsable(why: String) -> Failure {
    Failure::new(
        ErrorCode::FileReadError,
        format!("The code could not be parsed: {why}."),
    )
}

/// The grammars, each with the query for its definitions and uses, compiled once.
#[cfg(feature = "code")]
mod grammars {
    use std::sync::OnceLock;

    use tree_sitter::Language;
    use tree_sitter_tags::TagsConfiguration;

    type Made = Result<TagsConfiguration, String>;

    /// Additions to the grammar's own query: constants, calls by a path, uses of types.
    const RUST: &str = "
        (const_item name: (identifier) @name) @definition.constant
        (static_item name: (identifier) @name) @definition.constant
        (call_expression function: (scoped_identifier name: (identifier) @name)) @reference.call
        (struct_expression name: (type_identifier) @name) @reference.type
        (_ type: (type_identifier) @name) @reference.type
        (_ return_type: (type_identifier) @name) @reference.type
        (type_arguments (type_identifier) @name) @reference.type
        (reference_type type: (type_identifier) @name) @reference.type
        (scoped_identifier path: (identifier) @name) @reference.type
    ";
    const TYPESCRIPT: &str = "
        (type_alias_declaration name: (type_identifier) @name) @definition.type
        (enum_declaration name: (identifier) @name) @definition.enum
    ";

    fn make(language: impl Into<Language>, query: &str) -> Made {
        TagsConfiguration::new(language.into(), query, "").map_err(|e| e.to_string())
    }

    pub(super) fn of(ext: &str) -> Result<&'static TagsConfiguration, String> {
        static LANGUAGES: [OnceLock<Made>; 5] = [const { OnceLock::new() }; 5];
        let typescript = || {
            [
                tree_sitter_typescript::TAGS_QUERY,
                tree_sitter_javascript::TAGS_QUERY,
                TYPESCRIPT,
            ]
            .join("\n")
        };
        let made = match ext {
            ".rs" => LANGUAGES[0].get_or_init(|| {
                make(
                    tree_sitter_rust::LANGUAGE,
                    &[tree_sitter_rust::TAGS_QUERY, RUST].join("\n"),
                )
            }),
            ".py" | ".pyi" => LANGUAGES[1]
                .get_or_init(|| make(tree_sitter_python::LANGUAGE, tree_sitter_python::TAGS_QUERY)),
            ".ts" => LANGUAGES[2]
                .get_or_init(|| make(tree_sitter_typescript::LANGUAGE_TYPESCRIPT, &typescript())),
            ".tsx" => LANGUAGES[3]
                .get_or_init(|| make(tree_sitter_typescript::LANGUAGE_TSX, &typescript())),
            _ => LANGUAGES[4].get_or_init(|| {
                make(
                    tree_sitter_javascript::LANGUAGE,
                    tree_sitter_javascript::TAGS_QUERY,
                )
            }),
        };
        made.as_ref().map_err(Clone::clone)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::{World, code};
    use super::*;

    #[test]
    fn a_section_goes_to_the_next_heading_of_its_level() {
        let found = headings("# A\n\ntext\n\n## B\n\nmore\n\n# C\nend\n");
        let lines: Vec<_> = found
            .iter()
            .map(|s| (s.name.as_str(), s.level, s.line, s.end_line))
            .collect();
        assert_eq!(lines, [("A", 1, 1, 7), ("B", 2, 5, 7), ("C", 1, 9, 10)]);
        assert!(headings("```\n# no heading\n```\n").is_empty());
    }

    #[cfg(feature = "code")]
    #[test]
    fn definitions_and_uses_are_found_in_every_grammar() {
        let named = |ext: &str, text: &str| -> Vec<String> {
            let one = |s: Symbol| {
                format!(
                    "{}{} {} {}",
                    if s.is_definition { "" } else { "→" },
                    s.kind,
                    s.name,
                    s.line
                )
            };
            of_code(ext, text).unwrap().into_iter().map(one).collect()
        };
        let rust = named(
            ".rs",
            "const LIMIT: u32 = 3;\nstruct Zoo;\nimpl Zoo {\n    fn feed(&self) -> u32 { count(LIMIT) }\n}\nfn make() -> Zoo { Zoo::feed(&Zoo); Zoo }\n",
        );
        for expected in [
            "constant LIMIT 1",
            "class Zoo 2",
            "method feed 4",
            "→call count 4",
            "function make 6",
            "→call feed 6",
        ] {
            assert!(rust.iter().any(|s| s == expected), "{expected}: {rust:?}");
        }
        let python = named(
            ".py",
            "LIMIT = 3\nclass Zoo:\n    def feed(self):\n        return count(LIMIT)\n",
        );
        for expected in [
            "constant LIMIT 1",
            "class Zoo 2",
            "function feed 3",
            "→call count 4",
        ] {
            assert!(
                python.iter().any(|s| s == expected),
                "{expected}: {python:?}"
            );
        }
        let typescript = "interface Animal { name: string }\ntype Id = string;\nenum Kind { A }\nclass Zoo {\n  feed(a: Animal): void { count(a); }\n}\nfunction make() { return new Zoo(); }\nconst arrow = () => make();\n";
        for ext in [".ts", ".tsx"] {
            let found = named(ext, typescript);
            for expected in [
                "interface Animal 1",
                "type Id 2",
                "enum Kind 3",
                "class Zoo 4",
                "method feed 5",
                "→call count 5",
                "→type Animal 5",
                "function make 7",
                "→class Zoo 7",
                "function arrow 8",
                "→call make 8",
            ] {
                assert!(
                    found.iter().any(|s| s == expected),
                    "{ext} {expected}: {found:?}"
                );
            }
        }
        for ext in [".js", ".jsx", ".mjs"] {
            let found = named(
                ext,
                "class Zoo { feed() { count(1); } }\nfunction make() { return new Zoo(); }\n",
            );
            for expected in [
                "class Zoo 1",
                "method feed 1",
                "→call count 1",
                "function make 2",
            ] {
                assert!(
                    found.iter().any(|s| s == expected),
                    "{ext} {expected}: {found:?}"
                );
            }
        }
    }

    #[cfg(feature = "code")]
    #[test]
    fn s25_broken_and_deeply_nested_code_is_parsed_or_refused() {
        for text in [
            "fn (((((",
            "}}}}",
            "\u{0}",
            &"{".repeat(DEEPEST),
            &"f(".repeat(DEEPEST),
        ] {
            for ext in CODE_EXTENSIONS {
                let _ = of_code(ext, text);
            }
        }
        let world = World::new();
        for bomb in ["{".repeat(100_000), "f(".repeat(50_000)] {
            world.write("a.rs", &bomb);
            assert_eq!(
                code(&world.run("outline", json!({"path": "a.rs"}))),
                "FILE_TOO_LARGE"
            );
        }
        assert_eq!(nesting("f(a[1], {b: (c)}) if a < b { }"), 3);
    }
}
