//! The failure for an unknown source name, which is the same in every command.

use local_agent_text::error::{ErrorCode, Failure, Fix};

/// Minimum similarity of a suggested name, from 0 to 1.
const LIKE: f64 = 0.5;

/// Maximum number of names that are listed.
const MAX_LISTED: usize = 10;

/// The failure `INVALID_ARGS` for a name that no source has. It names the sources with the most
/// similar names or, if no name is similar, those in `known`.
pub fn unknown_source<'s>(name: &str, known: impl IntoIterator<Item = &'s str>) -> Failure {
    let known: Vec<&str> = known.into_iter().collect();
    let said = match similar_names(name, known.iter().copied()) {
        Some(near) => format!("; like it are: {near}"),
        None if known.is_empty() => "; none is configured".to_owned(),
        None => format!("; configured are: {}", listed(known.into_iter())),
    };
    let message = format!("there is no source called `{name}`{said}");
    Failure::new(ErrorCode::InvalidArgs, message)
        .with_fix(Fix::ListSources, "local-agent source list")
}

/// The names that are similar to `name`, the most similar first; `None` if there are none.
pub fn similar_names<'s>(name: &str, known: impl IntoIterator<Item = &'s str>) -> Option<String> {
    let mut near: Vec<(f64, &str)> = known
        .into_iter()
        .map(|one| (likeness(name, one), one))
        .filter(|(likeness, _)| *likeness >= LIKE)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    (!near.is_empty()).then(|| listed(near.iter().map(|(_, name)| *name)))
}

fn likeness(typed: &str, name: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(&typed.to_lowercase(), &name.to_lowercase())
}

/// The first names, and the number of the others.
fn listed<'s>(names: impl ExactSizeIterator<Item = &'s str>) -> String {
    let more = names.len().saturating_sub(MAX_LISTED);
    let first: Vec<&str> = names.take(MAX_LISTED).collect();
    match more {
        0 => first.join(", "),
        more => format!("{}, and {more} more", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_come_first_and_the_list_is_bounded() {
        let message =
            |name: &str, known: &[&str]| unknown_source(name, known.iter().copied()).message;
        assert_eq!(
            message("ntoes", &["work", "notes"]),
            "there is no source called `ntoes`; like it are: notes"
        );
        assert_eq!(
            message("zzzz", &["work", "notes"]),
            "there is no source called `zzzz`; configured are: work, notes"
        );
        assert_eq!(
            message("a", &[]),
            "there is no source called `a`; none is configured"
        );
        let many: Vec<String> = (0..12).map(|n| format!("folder-{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(message("zzzz", &many).ends_with("folder-9, and 2 more"));
    }
}
