#!/usr/bin/env python3
"""How often `ask` without a chat model answers, answers wrongly, and answers what the notes do not say.

    cargo build --release
    python3 benches/answers.py target/release/local-agent SET... [--show]

A SET is a file of lines: notes ({"note": path, "text": …}) and questions ({"id", "question", "kind", "answer"}; null: the
notes do not say). An answer is right when it holds `answer` word for word. `--show` prints every question that went wrong.
Exits 1 when a command fails or a set asks nothing.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile


CITATION = re.compile(r"\[source: .*? \| [0-9a-f]{32}\]")


def rows_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def outcome(row, answer):
    if row["answer"] is None:
        return "kept silent" if answer is None else "false answer"
    if answer is None:
        return "refused"
    said = " ".join(CITATION.sub(" ", answer).split())
    wanted = re.escape(" ".join(row["answer"].split()))
    return "right" if re.search(rf"(?<!\w){wanted}(?!\w)", said) else "other answer"


def measure(program, path, show):
    rows = rows_of(path)
    questions = [row for row in rows if "question" in row]
    if not questions:
        sys.exit(f"{path} asks nothing")
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        vault = scratch / "vault"
        for row in rows:
            if "note" in row:
                note = vault / row["note"]
                note.parent.mkdir(parents=True, exist_ok=True)
                note.write_text(row["text"], encoding="utf-8")
        home = dict(os.environ, HOME=str(scratch / "home"), XDG_CACHE_HOME=str(scratch / "cache"))

        def agent(*args):
            done = subprocess.run([program, *args], cwd=vault, env=home, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{args}: {done.stdout}{done.stderr}")
            return done.stdout

        agent("init", "--here")
        agent("index")
        agent("embed")
        counts = collections.defaultdict(collections.Counter)
        for row in questions:
            answer = json.loads(agent("ask", row["question"], "--json"))["answer"]
            what = outcome(row, answer)
            group = "answerable" if row["answer"] is not None else row["kind"]
            counts[group][what] += 1
            if show and what not in ("right", "kept silent"):
                print(f"  {row['id']} {row['kind']}, {what}: {row['question']} (wanted: {row['answer']})")
                print("    " + " ".join((answer or "").split())[:200])
    print(path.name)
    for group, counted in counts.items():
        said = ", ".join(f"{count} {what}" for what, count in sorted(counted.items()))
        print(f"  {group} ({sum(counted.values())}): {said}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("sets", nargs="+", type=pathlib.Path)
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    for path in args.sets:
        measure(args.program, path, args.show)


main()
