//! Checks the configuration: files, trust, roots, sources. Problems are failed checks here and do
//! not end the run.

use super::codes::Code;
use super::{Checks, Subject, count};
use local_agent_agent::config::{Config, ConfigArea, LayerKind};
use local_agent_files::sandbox::{Confinement, confinement_offered};
use local_agent_files::state::quoted;
use local_agent_text::error::ErrorCode;

pub(super) fn check(subject: &Subject<'_>, checks: &mut Checks) {
    files(subject, checks);
    problems(subject, checks);
    for warning in &subject.config().warnings {
        checks.ok(Code::ConfigWarning, warning);
    }
    roots(subject, checks);
    confinement(checks);
    sources(subject, checks);
}

fn confinement(checks: &mut Checks) {
    let commands = "every command that opens the index";
    let said = match confinement_offered() {
        Confinement::Enforced => format!("the kernel confines {commands} to the folders they need"),
        Confinement::Partly => {
            format!("the kernel confines the reading of {commands} to the folders they need")
        }
        Confinement::Absent => {
            format!("the kernel confines no process here: {commands} relies on the sandbox alone")
        }
    };
    checks.ok(Code::Confinement, said);
}

fn files(subject: &Subject<'_>, checks: &mut Checks) {
    let shown: Vec<String> = subject
        .loaded
        .layers
        .iter()
        .map(|layer| {
            let kind = match layer.kind {
                LayerKind::User => "the user's",
                LayerKind::Found => "found from here",
                LayerKind::Workroot => "the workroot's",
                LayerKind::Named => "named",
            };
            format!("{} ({kind})", layer.path.display())
        })
        .collect();
    if shown.is_empty() {
        checks.fail(
            Code::ConfigPathMissing,
            "no configuration file was found",
            "local-agent init --here",
        );
    } else {
        checks.ok(
            Code::ConfigPathOk,
            format!("configuration: {}", shown.join(", ")),
        );
    }
}

fn problems(subject: &Subject<'_>, checks: &mut Checks) {
    let problems = &subject.loaded.problems;
    for problem in problems {
        let failure = &problem.failure;
        let (code, fix) = match failure.code {
            ErrorCode::ConfigUntrusted => (
                Code::ConfigUntrusted,
                Some("local-agent config trust".to_owned()),
            ),
            _ => (code_of(problem.area), failure.hint.clone()),
        };
        let fix = fix.unwrap_or_else(|| "local-agent config check".to_owned());
        checks.fail(code, failure.message.clone(), fix);
    }
    if problems
        .iter()
        .all(|problem| problem.failure.code != ErrorCode::ConfigUntrusted)
    {
        checks.ok(
            Code::ConfigTrustOk,
            "nothing in the configuration waits for `config trust`",
        );
    }
}

/// The code for a problem in this part of the configuration.
const fn code_of(area: ConfigArea) -> Code {
    match area {
        ConfigArea::AllowedRootOutside => Code::AllowedRootOutside,
        ConfigArea::Sources => Code::Phase2ConfigInvalid,
        ConfigArea::Search => Code::Phase3ConfigInvalid,
        ConfigArea::Other => Code::ConfigInvalid,
    }
}

fn roots(subject: &Subject<'_>, checks: &mut Checks) {
    let config = subject.config();
    let allowed = &config.security.allowed_roots;
    if allowed.is_empty() && config.sources.is_empty() {
        let message = "neither sources nor allowed roots are configured, so nothing can be read";
        checks.fail(Code::AllowedRootsEmpty, message, add_a_source(subject));
        return;
    }
    let missing: Vec<_> = allowed.iter().filter(|root| !root.is_dir()).collect();
    for root in &missing {
        let message = format!("the allowed root {} is not a folder", root.display());
        checks.fail(
            Code::AllowedRootMissing,
            message,
            format!("mkdir -p {}", quoted(root)),
        );
    }
    match subject.sandbox {
        Err(failure) => {
            let fix = failure
                .hint
                .clone()
                .unwrap_or_else(|| "local-agent config check".to_owned());
            checks.fail(Code::ConfigInvalid, failure.message.clone(), fix);
        }
        Ok(_) if missing.is_empty() => {
            let hidden = if config.security.deny_hidden_paths {
                "denied"
            } else {
                "allowed"
            };
            let message = format!(
                "{} and {} may be read below {}; hidden paths are {hidden}",
                count(config.sources.len(), "source"),
                count(allowed.len(), "allowed root"),
                config.security_root.display()
            );
            checks.ok(Code::SecurityPolicyOk, message);
        }
        Ok(_) => {}
    }
}

fn sources(subject: &Subject<'_>, checks: &mut Checks) {
    let config = subject.config();
    if config.sources.is_empty() {
        checks.fail(
            Code::Phase2ConfigInvalid,
            "no sources are configured",
            add_a_source(subject),
        );
        return;
    }
    let mut all_there = true;
    for source in &config.sources {
        let reason = match subject.sandbox {
            Ok(sandbox) => sandbox
                .roots()
                .iter()
                .find(|r| r.name == source.name)
                .and_then(|r| r.unavailable.clone()),
            Err(_) => (!source.root.is_dir()).then(|| "it is not a folder".to_owned()),
        };
        if let Some(reason) = reason {
            all_there = false;
            let message = format!(
                "the folder {} of the source `{}` cannot be opened: {reason}",
                source.root.display(),
                source.name
            );
            let fix = format!(
                "bring {} back, or mend `sources` in {}",
                quoted(&source.root),
                file(config)
            );
            checks.fail(Code::SourceRootMissing, message, fix);
        }
    }
    if all_there && !checks.failed(Code::Phase2ConfigInvalid) {
        let names: Vec<&str> = config
            .sources
            .iter()
            .map(|source| source.name.as_str())
            .collect();
        checks.ok(
            Code::Phase2ConfigOk,
            format!("{}: {}", count(names.len(), "source"), names.join(", ")),
        );
    }
}

/// How to add a source to a configuration: a new file, or a line in the existing one.
fn add_a_source(subject: &Subject<'_>) -> String {
    match subject.config().config_path {
        Some(_) => {
            format!(
                "add a folder below `sources:` in {}, then run `local-agent index`",
                file(subject.config())
            )
        }
        None => "local-agent init --here".to_owned(),
    }
}

fn file(config: &Config) -> String {
    config
        .config_path
        .as_ref()
        .map_or_else(|| "the configuration".to_owned(), |path| quoted(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_agent::config::{Inputs, load_lenient};

    fn codes(yaml: &str) -> Vec<Code> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("own.yaml");
        std::fs::write(&file, yaml).unwrap();
        let inputs = Inputs {
            cwd: dir.path().to_owned(),
            config_flag: Some(file),
            ..Inputs::default()
        };
        load_lenient(&inputs)
            .unwrap()
            .problems
            .iter()
            .map(|problem| code_of(problem.area))
            .collect()
    }

    #[test]
    fn w50_a_mistake_is_reported_under_the_part_of_the_configuration_it_stands_in() {
        assert_eq!(codes("nonsense: 1\n"), [Code::ConfigInvalid]);
        assert_eq!(
            codes("index: {max_chars: many}\n"),
            [Code::Phase2ConfigInvalid]
        );
        assert_eq!(
            codes("sources: [{name: out, root: /}]\n"),
            [Code::Phase2ConfigInvalid]
        );
        assert_eq!(
            codes("retrieve: {fusion: guess}\n"),
            [Code::Phase3ConfigInvalid]
        );
        // The message names no key, or quotes words that look like one.
        for yaml in [
            "sources: [{root: notes}]\n",
            "sources: [{name: index, root: notes}, {name: index, root: other}]\n",
        ] {
            assert_eq!(codes(yaml), [Code::Phase2ConfigInvalid], "{yaml}");
        }
        assert_eq!(
            codes("security: {allowed_roots: [/]}\n"),
            [Code::AllowedRootOutside]
        );
    }
}
