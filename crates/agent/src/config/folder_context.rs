//! A user's description of a source or a folder: shown with every hit in it, and given to chat
//! models.

use std::fmt;

use local_agent_text::types::SourceName;

/// One entry of `contexts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderContext {
    /// `None`: all sources.
    pub source: Option<SourceName>,
    /// Below the source's folder, without leading and trailing slashes; empty: the whole source.
    pub folder: String,
    /// The description, on one line.
    pub text: String,
}

impl FolderContext {
    /// `place` is `/` for everything, a source, or `source/folder` (also `source:folder` and
    /// `qmd://source/folder`).
    /// # Errors
    /// The reason as a text: the place is invalid, or the description is blank or has more than one
    /// line.
    pub fn new(place: &str, text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() || text.chars().any(char::is_control) {
            return Err("the text of a context is one line of words".to_owned());
        }
        let bare = place.trim().strip_prefix("qmd://").unwrap_or(place.trim());
        let text = text.to_owned();
        if bare.trim_matches('/').is_empty() {
            let (source, folder) = (None, String::new());
            return Ok(Self {
                source,
                folder,
                text,
            });
        }
        let (source, folder) = bare
            .split_once([':', '/'])
            .map_or((bare, ""), |(source, folder)| (source, folder));
        let source = SourceName::new(source).map_err(|why| format!("`{place}`: {why}"))?;
        Ok(Self {
            source: Some(source),
            folder: folder.trim_matches('/').to_owned(),
            text,
        })
    }

    /// Parses `place: text`.
    ///
    /// # Errors
    /// Those of [`Self::new`], or that `: ` is missing.
    pub fn parse(entry: &str) -> Result<Self, String> {
        let (place, text) = entry
            .split_once(": ")
            .ok_or("an entry of `contexts` is `source/folder: text`")?;
        Self::new(place, text)
    }

    /// The place alone, as `source/folder` or `/`.
    pub fn place(&self) -> String {
        match &self.source {
            None => "/".to_owned(),
            Some(source) if self.folder.is_empty() => source.to_string(),
            Some(source) => format!("{source}/{}", self.folder),
        }
    }

    /// How many bytes of a path it covers; `None` if the path is not below it.
    fn covers(&self, source: &str, path: &str) -> Option<usize> {
        let Some(own) = &self.source else {
            return Some(0);
        };
        if own.as_str() != source {
            return None;
        }
        let rest = path.strip_prefix(self.folder.as_str())?;
        let is_below = self.folder.is_empty() || rest.is_empty() || rest.starts_with('/');
        is_below.then_some(1 + self.folder.len())
    }
}

impl fmt::Display for FolderContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place(), self.text)
    }
}

/// The most specific context of a file: that of the longest folder that contains it.
pub fn context_of<'a>(
    contexts: &'a [FolderContext],
    source: &str,
    path: &str,
) -> Option<&'a FolderContext> {
    contexts
        .iter()
        .filter_map(|context| Some((context.covers(source, path)?, context)))
        .max_by_key(|(length, _)| *length)
        .map(|(_, context)| context)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str, path: &str) -> Option<String> {
        let contexts = [
            ("/", "mine"),
            ("notes", "the bakery"),
            ("notes/projects", "one file a project"),
            ("work:a", "papers"),
        ]
        .map(|(place, text)| FolderContext::new(place, text).unwrap());
        context_of(&contexts, source, path).map(|found| found.text.clone())
    }

    #[test]
    fn the_longest_folder_wins() {
        let of = |source, path| texts(source, path).unwrap();
        assert_eq!(of("notes", "projects/oven.md"), "one file a project");
        assert_eq!(of("notes", "projects2/oven.md"), "the bakery");
        assert_eq!(of("work", "a"), "papers");
        assert_eq!(of("work", "b.md"), "mine");
    }

    #[test]
    fn a_place_is_read_in_each_form_and_written_in_one() {
        for (place, shown) in [
            ("qmd://notes/projects/", "notes/projects"),
            ("notes:projects", "notes/projects"),
            ("notes", "notes"),
            ("/", "/"),
            ("qmd://", "/"),
        ] {
            assert_eq!(FolderContext::new(place, "x").unwrap().place(), shown);
        }
        let one = FolderContext::parse("notes/a: papers: old ones").unwrap();
        assert_eq!(one.text, "papers: old ones");
        assert_eq!(FolderContext::parse(&one.to_string()).unwrap(), one);
        assert!(FolderContext::parse("notes").is_err());
        assert!(FolderContext::new("notes", "two\nlines").is_err());
        assert!(FolderContext::new("notes", " ").is_err());
    }
}
