//! Reads globs as people and other programs write them: lists, alternatives in braces, and the
//! kinds of files they name.

use std::collections::BTreeSet;

use local_agent_files::sandbox::NOTE_EXTENSIONS;
use local_agent_text::documents::CODE_EXTENSIONS;

/// Maximum number of globs that one glob with braces expands to.
const MOST_GLOBS: usize = 64;

/// The files that a glob selects, as settings of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GlobSettings {
    /// Whether source code files are documents too.
    pub code: bool,
    /// Extensions of documents besides notes and code, each with its dot.
    pub extensions: Vec<String>,
    /// Patterns of included files; empty: every document.
    pub include: Vec<String>,
}

impl GlobSettings {
    /// Reads a glob (`**/*.{md,txt}`) and extensions that are named in addition to it (`.txt`).
    /// The files are limited by patterns only if folders, or kinds that a source always takes,
    /// are left out.
    pub fn of(glob: &str, named: &[String]) -> Self {
        let globs = alternatives(glob);
        let mut extensions: BTreeSet<String> = named.iter().map(|one| one.to_lowercase()).collect();
        let mut limits_folders = false;
        for one in &globs {
            let (extension, has_folder) = kind_of(one);
            extensions.extend(extension);
            limits_folders |= has_folder;
        }
        let has_notes = NOTE_EXTENSIONS.iter().any(|one| extensions.contains(*one));
        let code = CODE_EXTENSIONS.iter().any(|one| extensions.contains(*one));
        // With `code: true` a source takes every kind of code.
        let limits_kinds = !extensions.is_empty() && (code || !has_notes);
        let include = if limits_folders {
            globs
        } else if limits_kinds {
            extensions.iter().map(|one| format!("*{one}")).collect()
        } else {
            Vec::new()
        };
        extensions.retain(|one| {
            let one = one.as_str();
            !NOTE_EXTENSIONS.contains(&one) && !CODE_EXTENSIONS.contains(&one)
        });
        Self {
            code,
            extensions: extensions.into_iter().collect(),
            include,
        }
    }
}

/// The extension that a glob names, and whether the glob limits more than the kind of the files.
fn kind_of(glob: &str) -> (Option<String>, bool) {
    let name = glob.rsplit('/').next().unwrap_or_default();
    let extension = name
        .strip_prefix('*')
        .filter(|rest| rest.starts_with('.') && rest[1..].chars().all(char::is_alphanumeric))
        .map(str::to_lowercase);
    let is_everywhere = matches!(glob.trim_end_matches(name), "" | "**/");
    let is_any = name.is_empty() || name == "*" || name == "**";
    let limits = !(is_everywhere && (extension.is_some() || is_any));
    (extension, limits)
}

/// The parts between commas outside braces and brackets.
pub fn split_list(list: &str) -> Vec<&str> {
    let (mut depth, mut start) = (0_i32, 0);
    let mut parts = Vec::new();
    for (at, c) in list.char_indices() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    let parts = parts.into_iter().map(str::trim);
    parts.filter(|part| !part.is_empty()).collect()
}

/// The globs without braces that a list of globs expands to.
fn alternatives(list: &str) -> Vec<String> {
    let mut open: Vec<String> = split_list(list)
        .into_iter()
        .rev()
        .map(str::to_owned)
        .collect();
    let mut done = Vec::new();
    while let Some(glob) = open.pop() {
        let room = MOST_GLOBS.saturating_sub(done.len() + open.len());
        match first_braces(&glob) {
            Some((before, inside, after)) if room > 0 => {
                let parts = split_list(inside).into_iter().rev();
                open.extend(parts.map(|part| format!("{before}{part}{after}")));
            }
            _ => done.push(glob),
        }
    }
    done
}

/// The text before the first braces, in them, and after them.
fn first_braces(glob: &str) -> Option<(&str, &str, &str)> {
    let start = glob.find('{')?;
    let mut depth = 0_usize;
    for (at, c) in glob.char_indices().skip_while(|(at, _)| *at < start) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&glob[..start], &glob[start + 1..at], &glob[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(glob: &str) -> (bool, String, String) {
        let settings = GlobSettings::of(glob, &[]);
        (
            settings.code,
            settings.extensions.join(" "),
            settings.include.join(" "),
        )
    }

    fn set(code: bool, extensions: &str, include: &str) -> (bool, String, String) {
        (code, extensions.to_owned(), include.to_owned())
    }

    #[test]
    fn every_kind_that_a_glob_names_becomes_a_setting() {
        for everything in ["", "**/*.md", "**/*", "*", "*.{md,markdown}"] {
            assert_eq!(of(everything), set(false, "", ""), "{everything}");
        }
        assert_eq!(of("**/*.{md,txt}"), set(false, ".txt", ""));
        assert_eq!(of("**/*.md, **/*.{txt,org}"), set(false, ".org .txt", ""));
        assert_eq!(of("**/*.txt"), set(false, ".txt", "*.txt"));
        assert_eq!(of("**/*.{py,rs}"), set(true, "", "*.py *.rs"));
        assert_eq!(of("**/*.{md,PY}"), set(true, "", "*.md *.py"));
        assert_eq!(
            of("{docs,src}/**/*.{md,py}"),
            set(
                true,
                "",
                "docs/**/*.md docs/**/*.py src/**/*.md src/**/*.py"
            )
        );
        assert_eq!(of("docs/**"), set(false, "", "docs/**"));
    }

    #[test]
    fn extensions_that_are_named_beside_a_glob_count_too() {
        let named = [".md".to_owned(), ".TXT".to_owned()];
        let settings = GlobSettings::of("**/*", &named);
        assert_eq!(settings.extensions, [".txt"]);
        assert!(settings.include.is_empty() && !settings.code);
        assert!(GlobSettings::of("**/*", &[".py".to_owned()]).code);
    }

    #[test]
    fn lists_are_split_at_commas_outside_of_braces() {
        assert_eq!(split_list("a.md, b/c.md"), ["a.md", "b/c.md"]);
        assert_eq!(split_list("x/{a,b}.md,#12ab"), ["x/{a,b}.md", "#12ab"]);
        assert_eq!(split_list("[[A, B]]"), ["[[A, B]]"]);
        assert!(split_list(" , ").is_empty());
    }

    #[test]
    fn braces_end_somewhere_or_are_characters() {
        assert_eq!(alternatives("{a,{b,c}}.md"), ["a.md", "b.md", "c.md"]);
        assert_eq!(alternatives("{a,b"), ["{a,b"]);
        assert!(alternatives(&"{a,b}".repeat(40)).len() <= 2 * MOST_GLOBS);
    }
}
