//! The Python version's keys. A configuration written for the Python version loads. Every one of
//! its keys is used, reported with a warning, or refused; none is ignored silently.

use super::findings::{Findings, Origin};
use super::keys::{Effect, Key};
use super::typed::{Item, Typed, Val};

/// The only key of the Python version that has a separate effect: `false` prints answers under
/// `UNVERIFIED`.
pub(super) const VALIDATION_ENABLED: &str = "phase3.ask.citation_validation.enabled";

/// Window of the embedding model in tokens; longer windows are capped.
const MINILM_WINDOW: i64 = 256;

/// Whether a file was written for the Python version: it contains the Python version's sections.
pub(super) fn is_ancestor<T>(top: &[(String, T)]) -> bool {
    top.iter()
        .any(|(name, _)| name == "phase2" || name == "phase3")
}

/// Replaces the Python version's keys of one layer by ours. If the layer also has our key, ours
/// wins, with a warning.
pub(super) fn translate(layer: Vec<Typed>, findings: &mut Findings) -> Vec<Typed> {
    let (old, mut out): (Vec<_>, Vec<_>) = layer.into_iter().partition(|t| t.key.is_ancestor());
    let fixed_window = old
        .iter()
        .any(|t| t.val == Val::Text("fixed_window_v1".into()));
    let workroot = out
        .iter()
        .find(|t| t.key.path == "workroot")
        .and_then(|t| text(&t.val))
        .map(str::to_owned);
    let has_sections = old.iter().any(|t| t.key.path.starts_with("phase"));
    for typed in old {
        match typed.key.effect {
            Effect::Moved(to) => {
                if let Some(ours) = out
                    .iter()
                    .find(|t| t.key.path == to && !t.key.is_ancestor())
                {
                    let why = format!(
                        "`{}` is ignored: `{to}` ({}) wins",
                        typed.key.path, ours.origin
                    );
                    findings.warn(&typed.origin, why);
                } else if let Some(key) = Key::find(to) {
                    let (origin, path) = (typed.origin.clone(), typed.key.path);
                    if let Some(val) = convert(path, typed.val, &origin, fixed_window, findings) {
                        out.push(Typed { key, val, origin });
                    }
                }
            }
            Effect::Kept if typed.key.path == VALIDATION_ENABLED => {
                remark(&typed, findings);
                out.push(typed);
            }
            Effect::Kept => remark(&typed, findings),
            Effect::Setting => {}
        }
    }
    if let Some(workroot) = workroot.filter(|_| has_sections) {
        for typed in &mut out {
            reanchor(typed, &workroot, findings);
        }
    }
    out
}

fn text(val: &Val) -> Option<&str> {
    if let Val::Text(text) = val {
        Some(text)
    } else {
        None
    }
}

/// Converts the value of a moved key to the type of our key, with a warning if the result differs
/// from the typed value.
fn convert(
    path: &str,
    val: Val,
    origin: &Origin,
    fixed_window: bool,
    findings: &mut Findings,
) -> Option<Val> {
    let mut warn = |why: &str| findings.warn(origin, format_args!("`{path}` {why}"));
    Some(match (path, val) {
        ("phase2.chunking.scheme", Val::Text(scheme)) if scheme == "obsidian_v1" => {
            warn(
                "is read as `obsidian_v2`; `index --scheme obsidian_v1` gives the Python version's cut points",
            );
            Val::Text("obsidian_v2".into())
        }
        ("phase2.chunking.max_chars" | "phase2.chunking.overlap", val) if !fixed_window => {
            warn(
                "does not bound the chunks of `obsidian_v2`, which counts tokens (`index.max_tokens`)",
            );
            val
        }
        ("phase3.embed.provider", Val::Text(name)) if name == "torch" => {
            warn("`torch` is read as `candle`: the same model, run inside this program");
            Val::Text("candle".into())
        }
        ("phase3.embed.model_id", Val::Text(id)) => Val::Text(
            id.strip_prefix("sentence-transformers/")
                .unwrap_or(&id)
                .to_owned(),
        ),
        ("phase3.embed.torch.max_length", Val::Int(n)) if n > MINILM_WINDOW => {
            warn("is capped at the model's own window");
            Val::Int(n.min(32_768))
        }
        ("phase3.embed.torch.max_length", Val::Int(n)) if n < 8 => {
            warn("is raised to 8, the shortest useful window");
            Val::Int(8)
        }
        ("phase3.retrieve.rel_path_prefix", Val::Text(prefix)) => {
            warn("is read as a folder and holds for both searches");
            Val::Text(prefix)
        }
        ("phase3.retrieve.fusion", Val::Text(_)) => {
            warn("`simple_union` is read as `convex`");
            Val::Text("convex".into())
        }
        ("phase3.ask.evidence.top_n", Val::Int(n)) if n < 1 => {
            warn("is raised to 1");
            Val::Int(1)
        }
        ("max_chars_full_read", Val::Int(n)) if !(200..=200_000).contains(&n) => {
            warn("is read as the nearest of 200 to 200000");
            Val::Int(n.clamp(200, 200_000))
        }
        (_, val) => val,
    })
}

/// Reports a key without a counterpart here. A value that equals this program's behaviour needs no
/// warning.
fn remark(typed: &Typed, findings: &mut Findings) {
    let agrees = match (typed.key.path, &typed.val) {
        ("phase3.embed.torch.normalize", Val::Bool(false)) => {
            findings.problem(
                typed.key.path,
                &typed.origin,
                format_args!("`{}` {}", typed.key.path, typed.key.doc),
                None,
            );
            return;
        }
        (
            "phase3.embed.torch.normalize"
            | "phase3.embed.torch.offline_only"
            | "phase3.ask.citation_validation.require_in_snapshot"
            | VALIDATION_ENABLED,
            Val::Bool(value),
        ) => *value,
        ("phase3.embed.torch.trust_remote_code", Val::Bool(value)) => !*value,
        ("phase3.embed.torch.device", Val::Text(device)) => device != "cuda",
        ("phase3.embed.torch.dtype", Val::Text(dtype)) => dtype == "float32",
        ("phase3.embed.torch.pooling", Val::Text(_))
        | ("phase3.retrieve.vector_fetch_k", Val::Int(0)) => true,
        _ => false,
    };
    if !agrees {
        findings.warn(
            &typed.origin,
            format_args!("`{}` {}", typed.key.path, typed.key.doc),
        );
    }
}

/// Corrects a folder that the Python version's shipped file names by the workroot's original name
/// (`../local-agent-workroot/runs/`). That path was only right while the workroot had this name.
/// Such an entry means "in the workroot".
fn reanchor(typed: &mut Typed, workroot: &str, findings: &mut Findings) {
    let prefix = workroot.trim_end_matches('/');
    if !prefix.starts_with("..") || prefix.trim_end_matches(['.', '/']).is_empty() {
        return;
    }
    let origin = typed.origin.clone();
    let mut inside = |item: &mut Item| {
        let rest = item
            .text
            .strip_prefix(prefix)
            .filter(|rest| rest.is_empty() || rest.starts_with('/'));
        if let Some(rest) = rest.map(|r| r.trim_start_matches('/').to_owned()) {
            let rest = if rest.is_empty() {
                ".".to_owned()
            } else {
                rest
            };
            findings.warn(
                &origin.at(item.line),
                format_args!("`{}` is read as `{rest}` in the workroot", item.text),
            );
            item.text = rest;
        }
    };
    match (typed.key.path, &mut typed.val) {
        ("security.allowed_roots", Val::List(items)) => items.iter_mut().for_each(inside),
        ("sources", Val::Sources(sources)) => sources.iter_mut().for_each(|s| inside(&mut s.root)),
        _ => {}
    }
}
