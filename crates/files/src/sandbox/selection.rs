//! Selects the files of a root that are documents: `include` and `exclude` of a source, with the
//! syntax of `.gitignore` lines, and the kinds of files that are documents in addition to notes.

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use unicode_normalization::UnicodeNormalization as _;

use local_agent_text::types::RelPath;

use super::policy::is_ignorable;

/// Extensions of notes: files with these are documents in every root.
pub const NOTE_EXTENSIONS: [&str; 2] = [".md", ".markdown"];

/// Patterns that select files of a root. Without any pattern every file is selected.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// A file must match one of these, if there are any.
    include: Option<Gitignore>,
    /// In lower case.
    exclude: Option<Gitignore>,
    /// The include and exclude patterns as text, in this order.
    patterns: [Vec<String>; 2],
    /// Extensions of documents other than notes, in lower case with their dots.
    extensions: Vec<String>,
}

/// Equal patterns select equal files.
impl PartialEq for Selection {
    fn eq(&self, other: &Self) -> bool {
        self.patterns == other.patterns && self.extensions == other.extensions
    }
}

impl Eq for Selection {}

impl Selection {
    /// Reads patterns as lines of a `.gitignore` in the root: `archive/`, `*.draft.md`,
    /// `/inbox/**`, `!keep.md`. `exclude` ignores case.
    ///
    /// # Errors
    /// The pattern that cannot be parsed, and why.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self, String> {
        Ok(Self {
            include: compiled(include, str::to_owned)?,
            exclude: compiled(exclude, folded)?,
            patterns: [include.to_vec(), exclude.to_vec()],
            extensions: Vec::new(),
        })
    }

    /// The same selection, in which files with these extensions are documents too. Each is given
    /// with its dot (`.txt`); case is ignored.
    ///
    /// # Errors
    /// The extension that is not valid, and why.
    pub fn with_extensions(mut self, extensions: &[String]) -> Result<Self, String> {
        self.extensions = extensions
            .iter()
            .map(|extension| checked_extension(extension))
            .collect::<Result<_, _>>()?;
        Ok(self)
    }

    /// Extensions of documents other than notes, in lower case with their dots.
    pub fn extensions(&self) -> &[String] {
        &self.extensions
    }

    /// The patterns of which a file must match one; empty: every file is selected.
    pub fn include(&self) -> &[String] {
        &self.patterns[0]
    }

    /// The patterns that a file must not match.
    pub fn exclude(&self) -> &[String] {
        &self.patterns[1]
    }

    /// Whether the file at `path`, relative to the root, is selected.
    pub fn takes(&self, path: &RelPath) -> bool {
        self.include
            .as_ref()
            .is_none_or(|rules| is_matched(path.as_str(), false, rules))
            && !self.excludes(path, false)
    }

    /// Whether `exclude` matches the folder at `path`, or one above it: the walk skips it, and it
    /// is not listed.
    pub(super) fn leaves_out_folder(&self, path: &RelPath) -> bool {
        self.excludes(path, true)
    }

    /// Whether `exclude` matches the path or a folder above it. Case is ignored, because many disks
    /// ignore it, too: another spelling opens the same file there.
    fn excludes(&self, path: &RelPath, is_folder: bool) -> bool {
        self.exclude
            .as_ref()
            .is_some_and(|rules| is_matched(&folded(path.as_str()), is_folder, rules))
    }
}

/// Whether the rules match the path or a folder above it.
fn is_matched(path: &str, is_folder: bool, rules: &Gitignore) -> bool {
    rules
        .matched_path_or_any_parents(path, is_folder)
        .is_ignore()
}

/// The form in which disks that ignore case compare names: composed, in lower case. Marks of
/// patterns stay as they are; [`fold`](super::policy::fold) would also turn wide ones into them.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfc()
        .filter(|c| !is_ignorable(*c))
        .flat_map(char::to_lowercase)
        .collect()
}

fn checked_extension(extension: &str) -> Result<String, String> {
    let is_extension = extension
        .strip_prefix('.')
        .is_some_and(|rest| !rest.is_empty() && rest.chars().all(char::is_alphanumeric));
    if is_extension {
        Ok(extension.to_lowercase())
    } else {
        let name: String = extension.chars().filter(|c| c.is_alphanumeric()).collect();
        let way = match name.as_str() {
            _ if extension.contains(',') => "; give each extension on its own".to_owned(),
            "" => String::new(),
            name => format!("; write `.{name}`"),
        };
        Err(format!("`{extension}` is not an extension{way}"))
    }
}

fn compiled(patterns: &[String], spelled: fn(&str) -> String) -> Result<Option<Gitignore>, String> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let mut builder = GitignoreBuilder::new("");
    for pattern in patterns {
        builder
            .add_line(None, &spelled(pattern))
            .map_err(|error| format!("`{pattern}` is not a pattern: {error}"))?;
    }
    let rules = builder.build().map_err(|error| error.to_string())?;
    Ok(Some(rules))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(include: &[&str], exclude: &[&str], path: &str) -> bool {
        let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        let selection = Selection::new(&owned(include), &owned(exclude)).unwrap();
        selection.takes(&RelPath::new(path).unwrap())
    }

    #[test]
    fn without_a_pattern_every_file_is_chosen() {
        assert!(chosen(&[], &[], "a/b.md"));
    }

    #[test]
    fn exclude_takes_out_and_include_keeps_only_what_it_names() {
        assert!(!chosen(&[], &["archive/"], "archive/old/a.md"));
        assert!(!chosen(&[], &["*.draft.md"], "deep/x.draft.md"));
        assert!(chosen(&[], &["/inbox"], "deep/inbox/x.md"));
        assert!(!chosen(&[], &["/inbox"], "inbox/x.md"));
        assert!(chosen(&["projects/"], &[], "projects/a.md"));
        assert!(!chosen(&["projects/"], &[], "people/a.md"));
        assert!(!chosen(&["projects/"], &["*.tmp.md"], "projects/a.tmp.md"));
    }

    #[test]
    fn an_exclamation_mark_takes_a_file_back_in() {
        assert!(chosen(
            &[],
            &["*.draft.md", "!keep.draft.md"],
            "keep.draft.md"
        ));
    }

    #[test]
    fn exclude_ignores_case_and_include_does_not() {
        assert!(!chosen(&[], &["archive/"], "Archive/old.md"));
        assert!(!chosen(&[], &["Über/*.MD"], "u\u{308}ber/a.md"));
        assert!(!chosen(&[], &["*.draft.md"], "a.DRAFT.md"));
        assert!(chosen(&[], &["*.md", "!Keep.md"], "keep.md"));
        assert!(!chosen(&["projects/"], &[], "Projects/a.md"));
        assert!(!chosen(&[], &["＃drafts/"], "＃drafts/a.md"));
    }

    #[test]
    fn a_folder_in_an_excluded_folder_is_left_out() {
        let selection = Selection::new(&[], &["archive/".to_owned()]).unwrap();
        for (folder, out) in [("archive", true), ("Archive/2020/a", true), ("a", false)] {
            let path = RelPath::new(folder).unwrap();
            assert_eq!(selection.leaves_out_folder(&path), out, "{folder}");
        }
    }

    #[test]
    fn an_extension_is_a_dot_and_letters() {
        let with = |one: &str| Selection::default().with_extensions(&[one.to_owned()]);
        assert_eq!(with(".TXT").unwrap().extensions(), [".txt"]);
        for wrong in ["txt", ".", "", ".a/b", ".tar.gz", "*.txt"] {
            assert!(with(wrong).unwrap_err().contains(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_pattern_that_cannot_be_read_is_named() {
        let error = Selection::new(&[], &["[z-a]".to_owned()]).unwrap_err();
        assert!(error.contains("`[z-a]`"), "{error}");
    }
}
