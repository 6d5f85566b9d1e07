//! Decides which note a link refers to.

use local_agent_files::sandbox::Address;

/// Whether the target of a link may refer to the note `name`: it is the note's path or the end of
/// it, with or without extension.
pub(crate) fn names_target(target: &str, name: &str) -> bool {
    let (target, name) = (bare(target), bare(name));
    means(&target, &name) || ends_in(&target, &name)
}

/// Whether a wikilink's target means the note at `path`: its whole path or the end of it.
pub(crate) fn means(target: &str, path: &str) -> bool {
    target == path || ends_in(path, target)
}

fn ends_in(path: &str, end: &str) -> bool {
    !end.is_empty()
        && path
            .strip_suffix(end)
            .is_some_and(|before| before.ends_with('/'))
}

/// Whether two paths are the same, ignoring case and a markdown extension.
pub(crate) fn same(a: &str, b: &str) -> bool {
    bare(a) == bare(b)
}

/// A path in lower case, without `./` and its markdown extension.
pub(crate) fn bare(path: &str) -> String {
    let path = path.trim().trim_start_matches("./").to_lowercase();
    path.strip_suffix(".md")
        .or_else(|| path.strip_suffix(".markdown"))
        .unwrap_or(&path)
        .to_owned()
}

/// The path that a relative link of `here` means; `None` when it leaves the root.
pub(crate) fn relative(here: &Address, target: &str) -> Option<String> {
    let mut names: Vec<&str> = match target.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => here.path.segments().collect(),
    };
    names.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                names.pop()?;
            }
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}
