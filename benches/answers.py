#!/usr/bin/env python3
"""How well `ask` answers without a chat model: how much of what was wanted it shows, and when it keeps to what it knows.

    cargo build --release
    python3 benches/answers.py target/release/local-agent SET... [--now DAY] [--show] [--kind KIND] [--limit N]

A SET is one of two:
- a file of lines: notes ({"note": path, "text": …}) and questions ({"id", "question", "kind", "answer"}; null: the notes do
  not say). An answer is right when it holds `answer` word for word.
- a folder with `vault/` and `questions.jsonl`: {"id", "kind", "question", "must": [[…], …], "ordered", "never"}. Of each
  group of `must` one string has to occur (without markup, white space folded, in any case); `ordered`: in this order;
  a string of `never` makes an answer wrong; `must` null: the notes do not say.

Of a folder it prints by kind: complete, partial (at least half of the groups), wrong (an answer that is neither, or that
shows a `never`), closest (passages, and no claim that they answer), nothing; and of the questions that the notes do not
answer, how many were answered (false). The ceiling is how often the first chunk that was found, and the first three,
hold everything that was wanted. `--show` prints every question that went wrong. Exits 1 when a command fails or a set asks nothing.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


CITATION = re.compile(r"\[source: .*? \| [0-9a-f]{32}\]")
MARKS = re.compile(r"(\*+|__|==|~~|`)")
LINK = re.compile(r"!?\[\[(?:[^\]|]*\|)?([^\]]*)\]\]|!?\[([^\]]*)\]\([^)]*\)")
COLUMNS = ["complete", "partial", "wrong", "closest", "nothing"]


def rows_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def plain(text):
    text = CITATION.sub(" ", text or "")
    text = LINK.sub(lambda m: m[1] or m[2] or "", text)
    text = MARKS.sub("", text).replace("\\", "")
    text = re.sub(r"^\s*(>|#+)\s?", " ", text, flags=re.M)
    return " ".join(text.split()).casefold()


class Program:
    """The program over one vault, in a home of its own."""

    def __init__(self, program, scratch):
        self.program, self.vault = program, scratch / "vault"
        self.env = dict(os.environ, HOME=str(scratch / "home"), XDG_CACHE_HOME=str(scratch / "cache"))

    def run(self, *args):
        done = subprocess.run([self.program, *args], cwd=self.vault, env=self.env, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{args}: {done.stdout}{done.stderr}")
        return done.stdout

    def prepare(self, model):
        """Indexes and embeds; `model`: an id, or None for the program's choice. Gives what made the vectors."""
        self.run("init", "--here")
        if model:
            with open(self.vault / "local-agent.yaml", "a", encoding="utf-8") as configuration:
                configuration.write(f"\nembed: {{model: {model}}}\n")
        self.run("index")
        self.run("embed")
        return json.loads(self.run("status", "--json"))["model"]

    def ask(self, question, now=None):
        day = ["--now", now] if now else []
        return json.loads(self.run("ask", question, "--json", *day))

    def chunks(self, question, count):
        found = json.loads(self.run("query", question, "--json", "--limit", str(count), "--min-score", "0"))
        out = []
        for hit in found["hits"]:
            lines = hit["lines"]
            first, last = lines if isinstance(lines, list) else map(int, (str(lines).split("-") * 2)[:2])
            text = (self.vault / hit["rel_path"]).read_text(encoding="utf-8").splitlines()
            out.append("\n".join(text[first - 1 : last]))
        return out


def said(body):
    """What a person is shown: the value that was computed, then the passages."""
    computed = body.get("computed") or {}
    return " ".join([computed.get("value", ""), computed.get("arithmetic", ""), body["answer"] or ""])


# One text an expected answer.


def outcome(row, body):
    answer = body["answer"] if body["outcome"] != "closest" else None
    if row["answer"] is None:
        return "kept silent" if answer is None else "false answer"
    if answer is None:
        return "refused"
    shown = " ".join(CITATION.sub(" ", answer).split())
    wanted = re.escape(" ".join(row["answer"].split()))
    return "right" if re.search(rf"(?<!\w){wanted}(?!\w)", shown) else "other answer"


def measure_file(program, path, args):
    rows = rows_of(path)
    questions = [row for row in rows if "question" in row][: args.limit]
    if not questions:
        sys.exit(f"{path} asks nothing")
    with tempfile.TemporaryDirectory() as scratch:
        agent = Program(program, pathlib.Path(scratch))
        for row in rows:
            if "note" in row:
                note = agent.vault / row["note"]
                note.parent.mkdir(parents=True, exist_ok=True)
                note.write_text(row["text"], encoding="utf-8")
        agent.prepare(args.model)
        counts = collections.defaultdict(collections.Counter)
        for row in questions:
            body = agent.ask(row["question"], args.now)
            what = outcome(row, body)
            group = "answerable" if row["answer"] is not None else row["kind"]
            counts[group][what] += 1
            if args.show and what not in ("right", "kept silent"):
                print(f"  {row['id']} {row['kind']}, {what}: {row['question']} (wanted: {row['answer']})")
                print("    " + " ".join((body["answer"] or "").split())[:200])
    print(path.name)
    for group, counted in counts.items():
        shares = ", ".join(f"{count} {what}" for what, count in sorted(counted.items()))
        print(f"  {group} ({sum(counted.values())}): {shares}")


# Groups of strings an answer must hold.


def held(groups, text, ordered):
    """How many groups occur in `text`; `ordered`: each behind the one before."""
    count, at = 0, 0
    for group in groups:
        places = [text.find(plain(one), at if ordered else 0) for one in group]
        places = [place for place in places if place >= 0]
        if places:
            count += 1
            at = min(places) + 1 if ordered else at
    return count


def judge(row, body):
    if row["must"] is None:
        return "false" if body["outcome"] == "answered" else "kept back"
    if body["outcome"] in ("abstained", "closest"):
        return "nothing" if body["outcome"] == "abstained" else "closest"
    text = plain(said(body))
    if any(plain(one) in text for one in row.get("never") or []):
        return "wrong"
    count = held(row["must"], text, row.get("ordered", False))
    if count == len(row["must"]):
        return "complete"
    return "partial" if 2 * count >= len(row["must"]) else "wrong"


def ceilings(row, chunks):
    needed = row["must"]
    one, three = plain(chunks[0]) if chunks else "", plain("\n".join(chunks))
    return held(needed, one, False) == len(needed), held(needed, three, False) == len(needed)


def measure_folder(program, folder, args):
    rows = [row for row in rows_of(folder / "questions.jsonl") if not args.kind or row["kind"] == args.kind]
    rows = rows[: args.limit]
    if not rows:
        sys.exit(f"{folder} asks nothing")
    with tempfile.TemporaryDirectory() as scratch:
        agent = Program(program, pathlib.Path(scratch))
        shutil.copytree(folder / "vault", agent.vault)
        model = agent.prepare(args.model)

        def one(row):
            body = agent.ask(row["question"], args.now)
            ceiling = None if row["must"] is None or args.no_ceiling else ceilings(row, agent.chunks(row["question"], 3))
            return row, body, judge(row, body), ceiling

        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            done = list(pool.map(one, rows))
    print(f"embedding model: {model}")
    report(folder, done, args)


def report(folder, done, args):
    groups = collections.defaultdict(list)
    for row, body, what, ceiling in done:
        name = "unanswerable" if row["must"] is None else row["kind"]
        groups[name].append((what, ceiling))
        if row["must"] is not None:
            groups["all but unanswerable"].append((what, ceiling))
            if row.get("of"):
                groups["rewordings"].append((what, ceiling))
        if args.show and what not in ("complete", "kept back"):
            print(f"  {row['id']} {row['kind']}, {what}: {row['question']}")
            print(f"    wanted: {row['must']} never: {row.get('never')}")
            print("    shown: " + " ".join(said(body).split())[:400])
    print(folder.name)
    print(f"  {'':22}" + "".join(f"{name:>10}" for name in ["asked", *COLUMNS, "chunk 1", "chunks 3"]))
    last = ["all but unanswerable", "rewordings", "unanswerable"]
    for name in [*sorted(set(groups) - set(last)), *last]:
        rows = groups.get(name)
        if not rows:
            continue
        counts = collections.Counter(what for what, _ in rows)
        if name == "unanswerable":
            print(f"  {name:22}{len(rows):>10}   false: {counts['false']}, kept back: {counts['kept back']}")
            continue
        firsts = [sum(bool(c and c[i]) for _, c in rows) for i in (0, 1)]
        print(f"  {name:22}{len(rows):>10}" + "".join(f"{counts[c]:>10}" for c in COLUMNS) + "".join(f"{f:>10}" for f in firsts))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("sets", nargs="+", type=pathlib.Path)
    parser.add_argument("--show", action="store_true", help="print every question that went wrong")
    parser.add_argument("--now", metavar="DAY", help="the day on which is asked")
    parser.add_argument("--model", metavar="ID", help="the embedding model, instead of the program's choice")
    parser.add_argument("--kind", help="only questions of this kind")
    parser.add_argument("--limit", type=int, help="only the first questions")
    parser.add_argument("--no-ceiling", action="store_true", help="do not look at what the chunks hold")
    parser.add_argument("--jobs", type=int, default=1, help="questions that are asked at the same time")
    args = parser.parse_args()
    for path in args.sets:
        if path.is_dir():
            measure_folder(args.program, path, args)
        else:
            measure_file(args.program, path, args)


if __name__ == "__main__":
    main()
