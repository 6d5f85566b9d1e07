#!/usr/bin/env python3
"""Judges single sentences about small notes with `local-agent verify`, and counts the verdicts.

    python3 benches/pairs.py target/release/local-agent [pairs|states|lists] [dev|closed] [--show]

Each set, benches/sets/pairs (tables, lists, values), benches/sets/states (contests, permissions, plans, tasks, who was before whom)
and benches/sets/lists (values of lists of labels), was written by an author who did not see the verifier: 240 sentences, half
of them true. Odd numbers were read while rules were written, even ones were not.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SETS = pathlib.Path(__file__).parent / "sets"


def half(row):
    number = int(re.search(r"(\d+)-", row["id"]).group(1))
    return "dev" if number % 2 else "closed"


def judge(program, row, folder):
    """The worst verdict on the sentence: rejected, doubtful, or passed; and the reasons."""
    vault = folder / "vault"
    vault.mkdir(exist_ok=True)
    (vault / "note.md").write_text(row["note"] + "\n", encoding="utf-8")
    lines = row["note"].count("\n") + 1
    answer = folder / "answer.md"
    answer.write_text(f"{row['sentence'].rstrip()} [note.md:1-{lines}]\n", encoding="utf-8")
    command = [program, "verify", str(answer), "--vault", str(vault), "--json"]
    home = dict(os.environ, HOME=str(folder))
    claims = json.loads(subprocess.run(command, env=home, capture_output=True, text=True).stdout)["claims"]
    verdicts = {claim["verdict"] for claim in claims}
    worst = next((v for v in ("rejected", "doubtful") if v in verdicts), "passed")
    return worst, "; ".join(claim["why"] for claim in claims if claim["verdict"] == worst)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    wanted = [word for word in sys.argv[2:] if word in ("dev", "closed")] or ["dev", "closed"]
    name = next((word for word in sys.argv[2:] if word in ("states", "lists")), "pairs")
    lines = (SETS / name / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            if half(row) not in wanted:
                continue
            worst, why = judge(program, row, pathlib.Path(folder))
            counts[half(row), row["true"], worst] += 1
            if "--show" in sys.argv and row["true"] != (worst == "passed"):
                print(row["id"], row["kind"], row["true"], worst, "|", row["sentence"], "|", why)
    for part in wanted:
        for truth in (True, False):
            found = {worst: counts[part, truth, worst] for worst in ("passed", "doubtful", "rejected")}
            print(part, "true sentences" if truth else "false sentences", found)


if __name__ == "__main__":
    main()
