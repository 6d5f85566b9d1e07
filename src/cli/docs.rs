//! Reference pages generated from the code, so that they are always up to date: `docs/cli.md`,
//! `docs/codes.md`, `docs/models.md`.

use std::fmt::Write as _;

use clap::CommandFactory as _;

use super::args::Cli;
use crate::doctor;
use local_agent_agent::runs::Trouble;
use local_agent_embed::models::{KNOWN, Known, ModelTask};
use local_agent_text::error::ErrorCode;
use local_agent_verify as verify;

/// `docs/cli.md`: the help of every command. The options shared by all commands appear once, under
/// the program's own name.
pub fn cli_reference() -> String {
    let mut out = String::from(
        "# Command line\n\nGenerated from the program's own help. Every command also takes the global \
         options below.\n",
    );
    let mut root = Cli::command().term_width(100).disable_help_subcommand(true);
    root.build();
    page(&mut out, &mut root, "");
    out
}

fn page(out: &mut String, command: &mut clap::Command, parents: &str) {
    let name = if parents.is_empty() {
        command.get_name().to_owned()
    } else {
        format!("{parents} {}", command.get_name())
    };
    let help = if parents.is_empty() {
        command.render_long_help()
    } else {
        without_globals(command).render_long_help()
    };
    let help = help.to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(
        out,
        "\n## `{name}`\n\n```text\n{}\n```\n",
        help.join("\n").trim_end()
    );
    for sub in command
        .get_subcommands_mut()
        .filter(|sub| sub.get_name() != "help")
    {
        page(out, sub, &name);
    }
}

/// The command with the shared options hidden, including `--help` and `--version`.
fn without_globals(command: &clap::Command) -> clap::Command {
    command.clone().mut_args(hide_global)
}

/// Hides an argument that every command has.
fn hide_global(arg: clap::Arg) -> clap::Arg {
    let is_global = arg.is_global_set() || matches!(arg.get_id().as_str(), "help" | "version");
    arg.hide(is_global)
}

/// `docs/codes.md`: every stable code with its meaning.
pub fn codes_reference() -> String {
    let mut out = String::from(
        "# Codes\n\nGenerated from the tables in the source. A code never changes its meaning.\n\n\
         ## Errors\n\nExit code 1; 2 when the command line cannot be read. `error_code` in JSON.\n\n| code | meaning |\n| --- | --- |\n",
    );
    for code in ErrorCode::ALL {
        let _ = writeln!(out, "| `{code}` | {} |", code.meaning());
    }
    out.push_str("\n## Doctor\n\n| code | meaning |\n| --- | --- |\n");
    for (code, meaning) in doctor::codes() {
        let _ = writeln!(out, "| `{code}` | {meaning} |");
    }
    out.push_str(
        "\nCodes of the Python version that another one says now:\n\n| code | now |\n| --- | --- |\n",
    );
    for (code, now) in doctor::retired_codes() {
        let _ = writeln!(out, "| `{code}` | `{now}` |");
    }
    out.push_str(
        "\n## Records of runs\n\nFindings of `runs verify`.\n\n| code | meaning | fails |\n| --- | --- | --- |\n",
    );
    for (trouble, meaning, fails) in Trouble::TABLE {
        let _ = writeln!(
            out,
            "| `{}` | {meaning} | {} |",
            trouble.as_str(),
            if *fails { "yes" } else { "no" }
        );
    }
    out.push_str("\n## Verification\n\n| code | meaning | example |\n| --- | --- | --- |\n");
    for code in verify::Code::ALL {
        let _ = writeln!(
            out,
            "| `{code}` | {} | {} |",
            code.meaning(),
            code.example()
        );
    }
    out
}

/// The text before the table of `docs/models.md`.
const MODELS_HEAD: &str = "# Models\n
Models that make vectors of texts come first, then [rerankers](#rerankers).
Generated from the code. Two models are compiled in. Others are pulled, or used from a folder
(`embed.model_path`); nothing else downloads.\n
```sh
local-agent models pull bge-base-en-v1.5            # or BAAI/bge-base-en-v1.5
local-agent models pull OWNER/NAME --revision main    # its commit is recorded
local-agent embed --model bge-base-en-v1.5          # or embed.model in the configuration
local-agent models verify
```\n
## What can be computed\n
A model is one `model.safetensors` with a `tokenizer.json`, laid out as `sentence-transformers` does.
Split and pickled weights are refused. So is every network, pooling or module that is not in this
list; the message says what was found.\n
| `model_type` | computed by | precision |
| --- | --- | --- |
| `bert`, `roberta`, `xlm-roberta`, `camembert` (absolute positions, exact GELU) | this program's kernels | `embed.precision` |
| `mpnet`, `modernbert`, `nomic_bert`, `new` and `gte` (Alibaba's GTE), `qwen3`, `gemma3_text` (attention in both directions) | candle | f32 |
| `model2vec` (a table of token vectors) | looked up and averaged | f32 |\n
- Pooling: mean, first token, last token. Behind it: dense layers with Identity or Tanh.
- Prefixes: `embed.query_prefix` and `embed.passage_prefix`, otherwise those of the model's files,
  otherwise those of the table below. Models of the E5 family need them.
- `embed.dimensions` cuts vectors and scales them to length 1 again. Use it only with a model whose
  card says that it was trained for it (Matryoshka); others lose much by it.
- All of this is part of the fingerprint: vectors that were made in another way are never mixed.
- A `nomic_bert` is used with at most 2048 tokens if its file does not say how long its training
  texts were: beyond them its reference stretches positions with the length of each text.
- `models verify` compares the vectors of BERT networks with those of a second implementation; for
  the others there is none. Each kind of network is tested on small made-up weights against
  `transformers` and `model2vec` (`tests/data/encoders/make.py`).
- EmbeddingGemma needs a licence to be accepted on the hub: download it there and name its folder.\n
## Models known by name\n
| id | repository | network | MB | tokens | languages | licence | before a question | before a passage |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

/// The text before the table of rerankers.
const RERANKERS_HEAD: &str = "
## Rerankers\n
A reranker (cross-encoder) reads the question together with one passage and makes one number: the
greater, the better they fit. That is slower than comparing vectors and often ranks better. It is off
unless `retrieve.reranker` names one: an id of the table below, a repository, or a folder (which begins
with `/`, `~` or `.`). `query` and `ask` use it, and so do agents and the pages of `serve`; `search` and
`vsearch`, words alone and vectors alone, do not.\n
```sh
local-agent models pull bge-reranker-base
```\n
```yaml
retrieve:
  reranker: bge-reranker-base
  reranker_ms: 2000
```\n
- The best 20 hits of the search are ranked again, each with up to two headings above its text. Only the
  passage is cut to the reranker's window.
- A hit's score becomes `0.5 · fused + 0.5 · best · (r - least) / (greatest - least)`: `fused` is its
  score in the search, `best` the greatest of those, `r` the reranker's number, `least` and `greatest`
  the ends of these numbers among the ranked hits. This is the convex combination of Bruch, Gai and Ingber
  (2022, [arXiv:2210.11934](https://arxiv.org/abs/2210.11934)), with the ends that the numbers have,
  because they have no bounds of their own. The equal shares are a choice, not a measurement.
- Whether anything is relevant, and the chance that is shown beside the hit in each place, stay as the
  calibration says without a reranker: it changes the order and nothing else.
- `reranker_ms` limits the time for one question, counted from when the reranker is loaded; pairs that were
  begun are finished. Hits that it did not reach keep their order behind the others, and the output says
  how many it scored: in `reranked` and `stale` of `--json`, and on stderr.
- `query --json` shows `reranker_score` with each hit; `--explain` also shows `reranker_scaled`, `fused`
  and `blended`.
- `embed.precision`, `embed.instructions` and `embed.threads` hold for it, too. `doctor` loads it, and
  `models verify` compares it with a second implementation.
- `bert` (pooler and `classifier`), and `roberta`, `xlm-roberta` and `camembert` (`classifier.dense` and
  `classifier.out_proj`) with one number per pair can be computed. The mxbai rerankers are `deberta-v2` and
  `qwen2` networks, and are refused.\n
| id | repository | network | MB | tokens | languages | licence |
| --- | --- | --- | --- | --- | --- | --- |
";

/// The models known by name for this task, by their ids.
fn known_for(task: ModelTask) -> Vec<&'static Known> {
    let mut known: Vec<&Known> = KNOWN.iter().filter(|known| known.task == task).collect();
    known.sort_by_key(|known| known.id);
    known
}

/// `docs/models.md`: the supported networks, and the models known by name.
pub fn models_reference() -> String {
    let mut out = MODELS_HEAD.to_owned();
    for model in known_for(ModelTask::Vectors) {
        let window = model
            .window
            .map_or_else(|| "any".to_owned(), |window| window.to_string());
        let prefixes = model.prefixes();
        let _ = writeln!(
            out,
            "| `{}` | {} | `{}` | {} | {window} | {} | {} | {} | {} |",
            model.id,
            model.repo,
            model.network,
            model.megabytes,
            model.languages,
            model.license,
            prefix(&prefixes.query),
            prefix(&prefixes.passage),
        );
    }
    out.push_str(RERANKERS_HEAD);
    for model in known_for(ModelTask::Reranking) {
        let _ = writeln!(
            out,
            "| `{}` | {} | `{}` | {} | {} | {} | {} |",
            model.id,
            model.repo,
            model.network,
            model.megabytes,
            model.window.unwrap_or_default(),
            model.languages,
            model.license,
        );
    }
    out
}

fn prefix(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!("`{}`", text.replace('\n', "\\n"))
}
