#!/usr/bin/env python3
"""Makes every figure of docs/quality.md, docs/performance.md and docs/verifier.md anew, from nothing.

    python3 benches/remake.py SETS NOTES [--only quality,speed,verifier] [--out FILE]

SETS   folder of evaluation sets (docs/quality.md says how one is laid out); those that docs/quality.md and
       docs/verifier.md name and that are there are used, the others are named as missing
NOTES  folder of markdown for times and memory; of tens of thousands of files to be comparable
--only some parts
--out  also write everything there

Builds the release, prints the machine, then each command with what it printed. Nothing is cached between two runs but
what `cargo` built. About an hour on two cores: sets and notes are embedded. Exits 1 when any command failed or printed nothing.
"""

import argparse
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENTS = ["scifact_train", "cpp_index", "xquad_en", "xquad_zh", "qmd"]
PASSAGES = ["chroma_chunking"]
CALIBRATION = ["examples", "scifact_train", "xquad_en", "xquad_zh"]
# The sets of everyday notes, and what their rows call the vault.
EVERYDAY = {"everyday": "blind", "strangers": "strangers", "visitors": "visitors", "neighbours": "neighbours"}
NATURAL = {"foam": "small_foam_docs", "qmd": "qmd", "cpp": "cpp_index"}
CLAIMS = ["claims_wice", "claims_fever_symmetric", "claims_scifact_claims", "claims_begin"]


class Remake:
    def __init__(self, scratch, out):
        self.scratch, self.out, self.failed = scratch, out, []
        self.program = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/local-agent"
        self.env = {**os.environ, "HOME": str(scratch / "home"), "LOCAL_AGENT_BENCH_STATE": str(scratch / "state")}
        for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "LOCAL_AGENT_WORKROOT", "LOCAL_AGENT_CONFIG"):
            self.env.pop(name, None)

    def say(self, text):
        print(text, flush=True)
        if self.out:
            with self.out.open("a", encoding="utf-8") as file:
                file.write(text + "\n")

    def run(self, *words, **env):
        command = [str(word) for word in words]
        self.say(f"\n$ {' '.join(command)}")
        done = subprocess.run(
            command, cwd=ROOT, env={**self.env, **env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.say(done.stdout.rstrip())
        if done.returncode or not done.stdout.strip():
            self.failed.append(" ".join(command))
            self.say(f"FAILED: exit {done.returncode}\n{done.stderr.rstrip()}")

    def agent(self, *words):
        self.run(self.program, *words)

    def bench(self, name, **env):
        # `cargo` finds its toolchain in the real home.
        self.run("cargo", "bench", "--", name, HOME=os.environ["HOME"], **env)


def machine():
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    load = os.getloadavg()[0]
    return f"{cpu[1] if cpu else platform.processor()}, {os.cpu_count()} threads, {platform.release()}, load {load:.1f}"


def existing(sets, names, remake):
    for name in names:
        if not (sets / name).exists():
            remake.say(f"not there, so not measured: {sets / name}")
    return [sets / name for name in names if (sets / name).exists()]


def quality(remake, sets):
    examples = remake.scratch / "examples"
    remake.run(sys.executable, "benches/example_set.py", examples)
    for one in existing(sets, DOCUMENTS, remake):
        remake.agent("eval", "retrieval", one, "--modes", "default,lexical,vector,rrf")
    for one in existing(sets, PASSAGES, remake):
        remake.agent("eval", "passages", one, "--modes", "default,lexical,vector")
    answers = sorted((ROOT / "benches/answers").glob("*.jsonl"))
    remake.run(sys.executable, "benches/answers.py", remake.program, *answers)
    calibrated = [examples] + existing(sets, CALIBRATION[1:], remake)
    remake.agent("eval", "calibrate", *calibrated, "--questions", "250", "--out", remake.scratch / "calibration.json")


def speed(remake, notes):
    state = remake.scratch / "state"
    remake.run(sys.executable, "benches/figures.py", remake.program, notes, "--runs", "3", "--fill", "--keep", state)
    remake.run(sys.executable, "benches/figures.py", remake.program, notes, "--runs", "1", "--embed", "0")
    remake.bench("query")
    remake.bench("vectors")
    remake.bench("walk", LOCAL_AGENT_BENCH_DIR=str(notes))
    remake.bench("embed", LOCAL_AGENT_BENCH_DIR=str(notes))
    remake.bench("kernels")


def verifier(remake, sets):
    claims = [one / "claims.jsonl" for one in existing(sets, CLAIMS, remake)]
    remake.agent("eval", "claims", *claims)
    remake.agent("eval", "attacks", *(word for one in claims for word in ("--claims", one)))
    remake.agent("eval", "drafts")
    vaults = [f"{name}={sets / folder / 'docs'}" for name, folder in NATURAL.items() if (sets / folder).exists()]
    if len(vaults) == len(NATURAL):
        remake.agent("eval", "natural", "benches/sets/natural.jsonl", *(w for one in vaults for w in ("--vault", one)))
    else:
        remake.say("not measured, because a vault is missing: benches/sets/natural.jsonl")
    for folder, vault in EVERYDAY.items():
        for half in ("dev", "closed"):
            notes = f"benches/sets/{folder}"
            remake.agent("eval", "natural", f"{notes}/{half}.jsonl", "--vault", f"{vault}={notes}/vault")
    remake.bench("verify")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=pathlib.Path)
    parser.add_argument("notes", type=pathlib.Path)
    parser.add_argument("--only", default="quality,speed,verifier")
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    parts = args.only.split(",")
    with tempfile.TemporaryDirectory(prefix="remake-") as scratch:
        remake = Remake(pathlib.Path(scratch), args.out)
        remake.say(machine())
        subprocess.run(["cargo", "build", "--release"], cwd=ROOT, check=True)
        if "speed" in parts:
            speed(remake, args.notes.resolve())
        if "quality" in parts:
            quality(remake, args.sets.resolve())
        if "verifier" in parts:
            verifier(remake, args.sets.resolve())
        remake.say(machine())
        if remake.failed:
            sys.exit("failed:\n" + "\n".join(remake.failed))


if __name__ == "__main__":
    main()
