//! Parses the text of a request into the places that it can mean. Pure: `PATH_DENIED` is decided
//! here, before any system call.

use super::Selection;
use super::policy::{Denied, MAX_PATH_BYTES, Policy, fold};
use local_agent_text::types::{RelPath, SourceName};

/// One root's name and path without its handle, for comparison with the text of a request.
#[derive(Debug, Clone)]
pub(super) struct RootText {
    pub(super) name: SourceName,
    /// The names of the root's absolute path.
    pub(super) place: Vec<String>,
    /// Folders below the root that contain this program's own state, folded.
    pub(super) own_state: Vec<Vec<String>>,
    /// Extensions that are allowed below it in addition to those of the policy: source files, and
    /// those that its selection names.
    pub(super) extensions: Vec<String>,
    /// The files that are documents.
    pub(super) selection: Selection,
}

impl RootText {
    /// Checks a path below this root.
    pub(super) fn check(&self, path: &RelPath, policy: &Policy) -> Result<(), Denied> {
        policy.check_path(path, &self.extensions)?;
        if self.holds_own_state(path) {
            Err(Denied::OwnState)
        } else if !self.selection.takes(path) {
            Err(Denied::NotSelected)
        } else {
            Ok(())
        }
    }

    /// Checks the path of a folder below this root.
    fn check_folder(&self, path: &RelPath, policy: &Policy) -> Result<(), Denied> {
        policy.check_folder(path, &self.extensions)?;
        if self.holds_own_state(path) {
            Err(Denied::OwnState)
        } else if self.selection.leaves_out_folder(path) {
            Err(Denied::NotSelected)
        } else {
            Ok(())
        }
    }

    /// Whether the path is a folder with this program's own state, or inside one.
    pub(super) fn holds_own_state(&self, path: &RelPath) -> bool {
        self.own_state.iter().any(|folder| {
            let mut names = path.segments();
            folder
                .iter()
                .all(|wanted| names.next().is_some_and(|name| fold(name) == *wanted))
        })
    }
}

/// A place that a request can mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Index into the roots.
    pub(super) root: usize,
    pub(super) path: RelPath,
}

/// A folder that a request can mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Index into the roots.
    pub(super) root: usize,
    /// The path below the root; `None` for the root itself.
    pub(super) path: Option<RelPath>,
}

/// All places that a request can mean and that are not denied; never empty.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) candidates: Vec<Candidate>,
    /// The file name to search below all roots if no candidate exists.
    pub(super) bare_name: Option<String>,
}

/// Parses a request: `source:rel/path.md`, `rel/path.md` below any root or below `base`, or a bare
/// file name.
pub(super) fn plan(
    request: &str,
    roots: &[RootText],
    base: Option<&[String]>,
    policy: &Policy,
) -> Result<Plan, Denied> {
    if request.trim().is_empty() {
        return Err(Denied::Blank);
    }
    if request.len() > MAX_PATH_BYTES {
        return Err(Denied::TooLong);
    }
    if request.chars().any(char::is_control) {
        return Err(Denied::Control);
    }
    let named = request.split_once(':');
    if let Some((name, rest)) = named
        && let Some(root) = roots.iter().position(|r| r.name.as_str() == name)
    {
        refuse_anchored(rest)?;
        let path = rel_path(&normalise(rest)?)?;
        roots[root].check(&path, policy)?;
        return Ok(Plan {
            candidates: vec![Candidate { root, path }],
            bare_name: None,
        });
    }
    if is_home(request) {
        return Err(Denied::Home);
    }
    if is_absolute(request) {
        if policy.deny_absolute {
            return Err(Denied::Absolute);
        }
        return admit(
            below_roots(&normalise(request)?, roots),
            None,
            roots,
            policy,
        );
    }
    if named.is_some() {
        return Err(Denied::UnknownSource);
    }
    let names = normalise(request)?;
    let path = rel_path(&names)?;
    let mut places: Vec<_> = (0..roots.len())
        .map(|root| Candidate {
            root,
            path: path.clone(),
        })
        .collect();
    if let Some(base) = base {
        let from_base: Vec<&str> = base
            .iter()
            .map(String::as_str)
            .chain(names.iter().copied())
            .collect();
        places.extend(
            below_roots(&from_base, roots)
                .into_iter()
                .filter(|c| c.path != path),
        );
    }
    let bare_name = (!request.contains(['/', '\\'])).then(|| path.as_str().to_owned());
    admit(places, bare_name, roots, policy)
}

/// All folders that a request can mean and that are not denied: `source:`, `source:folder`, or
/// `folder` below any root.
pub(super) fn plan_folder(
    request: &str,
    roots: &[RootText],
    policy: &Policy,
) -> Result<Vec<Place>, Denied> {
    if request.trim().is_empty() {
        return Err(Denied::Blank);
    }
    if request.len() > MAX_PATH_BYTES {
        return Err(Denied::TooLong);
    }
    if request.chars().any(char::is_control) {
        return Err(Denied::Control);
    }
    let named = request.split_once(':');
    let source = named.and_then(|(name, _)| roots.iter().position(|r| r.name.as_str() == name));
    let (wanted, rest): (Vec<usize>, &str) = match (source, named) {
        (Some(root), Some((_, rest))) => (vec![root], rest),
        _ if is_home(request) => return Err(Denied::Home),
        _ if is_absolute(request) => return Err(Denied::Absolute),
        (_, Some(_)) => return Err(Denied::UnknownSource),
        (_, None) => ((0..roots.len()).collect(), request),
    };
    if !rest.is_empty() {
        refuse_anchored(rest)?;
    }
    let names = normalise(rest)?;
    let path = if names.is_empty() {
        None
    } else {
        Some(rel_path(&names)?)
    };
    let mut first_refusal = None;
    let mut places = Vec::new();
    for root in wanted {
        let checked = path
            .as_ref()
            .map_or(Ok(()), |path| roots[root].check_folder(path, policy));
        match checked {
            Ok(()) => places.push(Place {
                root,
                path: path.clone(),
            }),
            Err(denied) => first_refusal = first_refusal.or(Some(denied)),
        }
    }
    if places.is_empty() {
        Err(first_refusal.unwrap_or(Denied::NotBelowARoot))
    } else {
        Ok(places)
    }
}

/// Keeps the places that the policy allows; if it allows none of them, returns why the first was
/// refused.
fn admit(
    places: Vec<Candidate>,
    bare_name: Option<String>,
    roots: &[RootText],
    policy: &Policy,
) -> Result<Plan, Denied> {
    let mut first_refusal = None;
    let mut candidates = Vec::with_capacity(places.len());
    for place in places {
        match roots[place.root].check(&place.path, policy) {
            Ok(()) => candidates.push(place),
            Err(denied) => first_refusal = first_refusal.or(Some(denied)),
        }
    }
    if candidates.is_empty() {
        return Err(first_refusal.unwrap_or(Denied::NotBelowARoot));
    }
    Ok(Plan {
        candidates,
        bare_name,
    })
}

/// The roots that contain an absolute path according to its text, with the rest of the path.
fn below_roots(names: &[&str], roots: &[RootText]) -> Vec<Candidate> {
    roots
        .iter()
        .enumerate()
        .filter_map(|(root, text)| path_below(names, text).map(|path| Candidate { root, path }))
        .collect()
}

/// The path below this root, if the names lead below it.
fn path_below(names: &[&str], root: &RootText) -> Option<RelPath> {
    let (head, rest) = names.split_at_checked(root.place.len())?;
    if head.iter().zip(&root.place).all(|(a, b)| a == b) {
        rel_path(rest).ok()
    } else {
        None
    }
}

/// Splits at both kinds of slash and resolves `.` and `..` in the text.
fn normalise(text: &str) -> Result<Vec<&str>, Denied> {
    let mut names = Vec::new();
    for part in text.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                names.pop().ok_or(Denied::Leaves)?;
            }
            name => names.push(name),
        }
    }
    Ok(names)
}

fn rel_path(names: &[&str]) -> Result<RelPath, Denied> {
    // Only a path without any name fails here. It is the root itself, which has no allowed
    // extension.
    RelPath::new(names.join("/")).map_err(|_| Denied::Extension)
}

/// Refuses a path that begins outside the named source. Below a source, `~old/a.md` is in a folder
/// of that name.
fn refuse_anchored(rest: &str) -> Result<(), Denied> {
    if rest == "~" || rest.starts_with("~/") || rest.starts_with("~\\") {
        Err(Denied::Home)
    } else if is_absolute(rest) {
        Err(Denied::Absolute)
    } else {
        Ok(())
    }
}

/// Whether the path is `~`, `~/x` or `~user/x`. A file called `~x.md` does not count.
fn is_home(text: &str) -> bool {
    text.starts_with('~') && (text == "~" || text.contains(['/', '\\']))
}

/// Whether the path has a leading slash of either kind (so also UNC and device paths) or, on
/// systems with drives, a drive letter. On other systems, a file may be called `a:b.md`.
fn is_absolute(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has_drive =
        cfg!(windows) && matches!(bytes, [drive, b':', ..] if drive.is_ascii_alphabetic());
    matches!(bytes, [b'/' | b'\\', ..]) || has_drive
}

#[cfg(test)]
mod tests {
    use super::super::policy::{names_of, tests::security};
    use super::*;
    use proptest::prelude::*;
    use std::path::Path;

    fn root(name: &str, place: &str) -> RootText {
        RootText {
            name: SourceName::new(name).unwrap(),
            place: names_of(Path::new(place)),
            own_state: vec![],
            extensions: Vec::new(),
            selection: Selection::default(),
        }
    }

    fn roots() -> Vec<RootText> {
        vec![
            root("notes", "/home/me/notes"),
            root("work", "/home/me/agent/corpus"),
        ]
    }

    fn ask(request: &str) -> Result<Plan, Denied> {
        plan(
            request,
            &roots(),
            Some(&names_of(Path::new("/home/me/agent"))),
            &Policy::from(&security()),
        )
    }

    fn places(request: &str) -> Vec<String> {
        let roots = roots();
        let plan = ask(request).unwrap();
        plan.candidates
            .iter()
            .map(|c| format!("{}:{}", roots[c.root].name, c.path))
            .collect()
    }

    #[test]
    fn a_request_means_a_source_or_every_root_or_a_place_below_the_base() {
        assert_eq!(places("notes:a/b.md"), ["notes:a/b.md"]);
        assert_eq!(places("a/b.md"), ["notes:a/b.md", "work:a/b.md"]);
        assert_eq!(
            places("corpus/b.md"),
            ["notes:corpus/b.md", "work:corpus/b.md", "work:b.md"]
        );
        assert_eq!(places("a\\.\\b.md"), ["notes:a/b.md", "work:a/b.md"]);
        assert_eq!(ask("b.md").unwrap().bare_name.as_deref(), Some("b.md"));
        assert_eq!(ask("./b.md").unwrap().bare_name, None);
    }

    #[test]
    fn s01_dot_dot_is_taken_away_by_text_and_may_not_leave() {
        assert_eq!(places("notes:a/../b.md"), ["notes:b.md"]);
        assert_eq!(places("notes:.git/../b.md"), ["notes:b.md"]);
        for request in [
            "../a.md",
            "a/../../b.md",
            "notes:../a.md",
            "notes:a/../../notes/b.md",
            "a\\..\\..\\b.md",
        ] {
            assert_eq!(ask(request), Err(Denied::Leaves), "{request:?}");
        }
        for request in ["..", "notes:.."] {
            assert_eq!(ask(request), Err(Denied::Leaves), "{request:?}");
        }
        assert_eq!(ask("a/.."), Err(Denied::Extension));
    }

    #[test]
    fn s02_absolute_requests_are_refused_wherever_they_point() {
        for request in [
            "/etc/passwd.md",
            "//host/x.md",
            "/home/me/notes/a.md",
            "notes:/etc/x.md",
            "\\x.md",
        ] {
            assert_eq!(ask(request), Err(Denied::Absolute), "{request:?}");
        }
        let mut open = security();
        open.deny_absolute_paths = false;
        let ask = |request: &str| plan(request, &roots(), None, &Policy::from(&open));
        let path = RelPath::new("a.md").unwrap();
        assert_eq!(
            ask("/home/me/notes/a.md").unwrap().candidates,
            [Candidate { root: 0, path }]
        );
        assert_eq!(ask("/etc/a.md"), Err(Denied::NotBelowARoot));
        assert_eq!(ask("/home/me/notes/../x.md"), Err(Denied::NotBelowARoot));
    }

    #[test]
    fn s03_nothing_is_expanded() {
        for request in ["~", "~/a.md", "~root/a.md", "notes:~/a.md"] {
            assert_eq!(ask(request), Err(Denied::Home), "{request:?}");
        }
        assert_eq!(places("notes:$HOME/a.md"), ["notes:$HOME/a.md"]);
        assert_eq!(
            places("notes:%USERPROFILE%/a.md"),
            ["notes:%USERPROFILE%/a.md"]
        );
        assert_eq!(places("notes:~draft.md"), ["notes:~draft.md"]);
        assert_eq!(places("notes:~old/a.md"), ["notes:~old/a.md"]);
    }

    #[test]
    fn s04_drives_unc_and_device_paths_are_absolute() {
        for request in ["\\\\host\\share\\x.md", "\\\\?\\C:\\x.md", "//./x.md"] {
            assert_eq!(ask(request), Err(Denied::Absolute), "{request:?}");
        }
        let drive = if cfg!(windows) {
            Denied::Absolute
        } else {
            Denied::UnknownSource
        };
        for request in ["C:\\x.md", "C:x.md", "c:/x.md"] {
            assert_eq!(ask(request), Err(drive), "{request:?}");
        }
        if cfg!(not(windows)) {
            assert_eq!(
                places("notes:a:b.md"),
                ["notes:a:b.md"],
                "a name like any other"
            );
        }
        assert_eq!(ask("elsewhere:x.md"), Err(Denied::UnknownSource));
        assert_eq!(ask("notes:a.md:stream"), Err(Denied::ForeignName));
    }

    #[test]
    fn s05_control_characters_are_refused() {
        for request in [
            "a\0.md",
            "a\n.md",
            "a\u{7f}.md",
            "a\u{85}.md",
            "notes:a\t.md",
        ] {
            assert_eq!(ask(request), Err(Denied::Control), "{request:?}");
        }
        assert_eq!(ask(" "), Err(Denied::Blank));
    }

    #[test]
    fn s06_a_sibling_with_the_roots_name_as_prefix_is_not_below_it() {
        let mut open = security();
        open.deny_absolute_paths = false;
        let policy = Policy::from(&open);
        assert_eq!(
            plan("/home/me/notes-evil/a.md", &roots(), None, &policy),
            Err(Denied::NotBelowARoot)
        );
        assert_eq!(ask("notes:../notes-evil/a.md"), Err(Denied::Leaves));
    }

    #[test]
    fn w41_own_state_below_a_root_is_never_a_document() {
        let mut roots = roots();
        roots[0].own_state = vec![vec!["state".into(), "runs".into()]];
        let ask = |request: &str| plan(request, &roots, None, &Policy::from(&security()));
        assert_eq!(ask("notes:state/runs/1/run.json"), Err(Denied::OwnState));
        assert_eq!(ask("notes:STATE/Runs/1/run.json"), Err(Denied::OwnState));
        assert!(ask("notes:state/running.md").is_ok());
    }

    proptest! {
        #[test]
        fn whatever_is_asked_stays_below_a_root_and_passes_the_policy(request in any::<String>()) {
            let policy = Policy::from(&security());
            if let Ok(plan) = ask(&request) {
                prop_assert!(!plan.candidates.is_empty());
                for c in plan.candidates {
                    prop_assert!(policy.check_path(&c.path, &[]).is_ok());
                    prop_assert!(c.path.segments().all(|s| s != ".." && s != "." && !s.contains(['/', '\\'])));
                }
            }
        }

        #[test]
        fn path_like_requests_too(request in "(notes:|work:|/|~|C:)?((\\.\\.?|[a-c.]{1,4}|\\.git|x\\.md)[/\\\\]){0,6}[a-z.]{1,6}(\\.md)?") {
            let policy = Policy::from(&security());
            if let Ok(plan) = ask(&request) {
                for c in plan.candidates {
                    prop_assert!(policy.check_path(&c.path, &[]).is_ok());
                    prop_assert!(!c.path.segments().any(|s| s == ".git"));
                }
            }
        }
    }
}
