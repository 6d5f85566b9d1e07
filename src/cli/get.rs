//! `get` and `multi-get`: documents and chunks through the sandbox, with line numbers.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::args::{Get, MultiGet};
use super::context::Context;
use super::enter::Needs;
use super::index::extend;
use super::output::{Output, talk};
use local_agent_agent::operations::documents::{self, Piece};
use local_agent_text::error::Result;

pub fn run(context: &Context, args: &Get) -> Result<ExitCode> {
    let config = context.load()?.config;
    context.enter(&config, &Needs::nothing())?;
    let piece = documents::get(&config, &context.sandbox(&config)?, &args.address)?;
    if args.json {
        let mut body = piece_json(&piece);
        extend(&mut body, context.roots());
        context.out.json(body);
    } else {
        print(context.out, &piece, args.raw);
    }
    Ok(ExitCode::SUCCESS)
}

fn piece_json(piece: &Piece) -> Value {
    json!({
        "address": piece.address,
        "sha256": piece.sha256,
        "first_line": piece.first_line,
        "total_lines": piece.total_lines,
        "text": piece.text,
        "truncated": false,
    })
}

fn print(out: Output, piece: &Piece, raw: bool) {
    if raw {
        out.raw(&out.shown(&piece.text));
        return;
    }
    for (at, line) in piece.text.lines().enumerate() {
        out.line(&format!(
            "{:>5}  {}",
            piece.first_line + at,
            out.shown(line)
        ));
    }
}

pub fn run_many(context: &Context, args: &MultiGet) -> Result<ExitCode> {
    let config = context.load()?.config;
    context.enter(&config, &Needs::nothing())?;
    let sandbox = context.sandbox(&config)?;
    let (mut pieces, mut refused, mut budget) = (Vec::new(), Vec::new(), args.max_bytes);
    let mut left_out = 0;
    for (at, skipped) in documents::matching(&config, &sandbox, &args.glob)? {
        if let Some(reason) = skipped {
            refused.push(json!({"path": at.to_string(), "reason": reason}));
            continue;
        }
        match documents::whole(&sandbox, &at) {
            Ok(piece) if piece.text.len() as u64 <= budget => {
                budget -= piece.text.len() as u64;
                pieces.push(piece);
            }
            Ok(_) => left_out += 1,
            Err(failure) => {
                refused.push(json!({"path": at.to_string(), "reason": failure.code.as_str()}))
            }
        }
    }
    show_many(context, args, &pieces, &refused, left_out);
    Ok(ExitCode::SUCCESS)
}

fn show_many(
    context: &Context,
    args: &MultiGet,
    pieces: &[Piece],
    refused: &[Value],
    left_out: usize,
) {
    if args.json {
        let mut body = json!({
            "glob": args.glob,
            "count": pieces.len(),
            "outcome": if pieces.is_empty() && left_out == 0 { "nothing_found" } else { "found" },
            "documents": pieces.iter().map(piece_json).collect::<Vec<_>>(),
            "skipped": refused,
            "left_out_by_max_bytes": left_out,
        });
        extend(&mut body, context.roots());
        context.out.json(body);
        return;
    }
    for piece in pieces {
        context.out.line(
            &context
                .out
                .bold(&context.out.shown(&format!("== {}", piece.address))),
        );
        print(context.out, piece, false);
    }
    if pieces.is_empty() && left_out == 0 {
        context.out.line("No document fits this glob.");
    }
    for one in refused {
        talk(&format!(
            "skipped: {} ({})",
            one["path"].as_str().unwrap_or_default(),
            one["reason"].as_str().unwrap_or_default()
        ));
    }
    if left_out > 0 {
        talk(&format!(
            "left out: {left_out} more documents, beyond --max-bytes {}",
            args.max_bytes
        ));
    }
}
