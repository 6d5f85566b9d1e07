//! How many tokens a processor second embeds, on the markdown files below `LOCAL_AGENT_BENCH_DIR`.
//!
//! Processor time is what the whole process used (user and system, all threads), from `/proc/self/stat`; it hardly
//! changes with what else the machine does, unlike wall time. `LOCAL_AGENT_BENCH_TOKENS` (100,000) is about how much
//! is embedded, `LOCAL_AGENT_BENCH_BATCH` (1024) and `LOCAL_AGENT_BENCH_THREADS` (0: all) how. With
//! `LOCAL_AGENT_BENCH_VECTORS=FILE` texts and vectors are written as JSON lines, for
//! `tests/data/reference_vectors.py --compare FILE`. Exits 1 when it measured nothing.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use local_agent::embedding::{Embedded, Encoder, TokenCounter};
use local_agent::models::ModelFiles;

/// Clock ticks a second in `/proc/self/stat`: 100 on every Linux that Rust runs on.
const TICKS: f64 = 100.0;

fn main() -> ExitCode {
    // `cargo test` runs benches too, to see that they build.
    if std::env::args().any(|a| a == "--test") {
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let dir = std::env::var_os("LOCAL_AGENT_BENCH_DIR").ok_or("set LOCAL_AGENT_BENCH_DIR to a folder of markdown")?;
    let wanted = number("LOCAL_AGENT_BENCH_TOKENS", 100_000)?;
    let batch_tokens = number("LOCAL_AGENT_BENCH_BATCH", 1024)?;
    let threads = number("LOCAL_AGENT_BENCH_THREADS", 0)?;
    let files = ModelFiles::embedded().map_err(|e| e.to_string())?;
    let texts = passages(Path::new(&dir), wanted, &TokenCounter::load(&files).map_err(|e| e.to_string())?)?;
    let (start, cpu) = (Instant::now(), cpu_seconds()?);
    let encoder = Encoder::load(&files).map_err(|e| e.to_string())?;
    println!("load            {:>8.1} ms wall, {:.2} CPU s", start.elapsed().as_secs_f64() * 1e3, cpu_seconds()? - cpu);
    let start = Instant::now();
    encoder.embed_query("how are nightly backups rotated and where are they kept").map_err(|e| e.to_string())?;
    println!("first query     {:>8.1} ms wall", start.elapsed().as_secs_f64() * 1e3);
    let (start, cpu) = (Instant::now(), cpu_seconds()?);
    for _ in 0..50 {
        encoder.embed_query("how are nightly backups rotated and where are they kept").map_err(|e| e.to_string())?;
    }
    println!(
        "warm query      {:>8.1} ms wall, {:.1} CPU ms",
        start.elapsed().as_secs_f64() * 1e3 / 50.0,
        (cpu_seconds()? - cpu) * 1e3 / 50.0
    );

    let inputs: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (start, cpu) = (Instant::now(), cpu_seconds()?);
    let done = encoder.embed_passages(&inputs, threads, batch_tokens, &|_| ()).map_err(|e| e.to_string())?;
    let (wall, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds()? - cpu);
    let tokens: u64 = done.iter().map(|e| u64::from(e.tokens)).sum();
    if tokens == 0 || cpu <= 0.0 {
        return Err("nothing was measured".into());
    }
    println!("passages        {:>8}", done.len());
    println!("windows         {:>8}", done.iter().map(|e| e.windows).sum::<u32>());
    println!("tokens          {tokens:>8}");
    println!("wall            {wall:>8.2} s");
    println!("CPU             {cpu:>8.2} s");
    println!("tokens / CPU s  {:>8.0}", tokens as f64 / cpu);
    println!("tokens / s      {:>8.0}", tokens as f64 / wall);
    println!("peak RSS        {:>8.1} MiB", peak_mib()?);
    if let Some(path) = std::env::var_os("LOCAL_AGENT_BENCH_VECTORS") {
        let line = |(text, e): (&String, &Embedded)| serde_json::json!({"text": text, "vector": e.vector}).to_string();
        let lines: Vec<String> = texts.iter().zip(&done).map(line).collect();
        std::fs::write(path, lines.join("\n")).map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn number(name: &str, default: usize) -> Result<usize, String> {
    match std::env::var(name) {
        Ok(text) => text.parse().map_err(|_| format!("{name} is not a number")),
        Err(_) => Ok(default),
    }
}

/// Paragraphs of the files below `dir`, until they have about `wanted` tokens.
fn passages(dir: &Path, wanted: usize, counter: &TokenCounter) -> Result<Vec<String>, String> {
    let mut paths = Vec::new();
    collect(dir, &mut paths).map_err(|e| format!("{}: {e}", dir.display()))?;
    paths.sort();
    let (mut texts, mut tokens) = (Vec::new(), 0);
    // Every tenth file first: neighbours in one folder are too alike.
    for path in (0..10).flat_map(|offset| paths.iter().skip(offset).step_by(10)) {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        for paragraph in text.split("\n\n").map(str::trim).filter(|p| p.len() > 20) {
            if tokens >= wanted {
                return Ok(texts);
            }
            tokens += counter.count(paragraph);
            texts.push(paragraph.to_owned());
        }
    }
    Ok(texts)
}

fn collect(dir: &Path, paths: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|e| e == "md") {
            paths.push(path);
        }
    }
    Ok(())
}

/// User and system time of this process so far.
fn cpu_seconds() -> Result<f64, String> {
    let stat = std::fs::read_to_string("/proc/self/stat").map_err(|e| e.to_string())?;
    let after = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = after.split_whitespace().skip(11).take(2).filter_map(|t| t.parse::<f64>().ok()).sum();
    Ok(ticks / TICKS)
}

fn peak_mib() -> Result<f64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|e| e.to_string())?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    line.split_whitespace().next().and_then(|kb| kb.parse::<f64>().ok()).map(|kb| kb / 1024.0).ok_or("no VmHWM".into())
}
