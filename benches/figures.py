#!/usr/bin/env python3
"""Whole-process figures of local-agent on a folder of markdown: wall time, processor time, peak memory.

    cargo build --release
    python3 benches/figures.py target/release/local-agent DIR [--runs 5] [--embed 60] [--queries FILE]

DIR is copied to a scratch folder first (one file is edited, and nothing is written beside your notes). Every line is
the median over the runs; beside it stands the ratio to a floor that was measured in the same minute: `find` with size
and time of every file for runs that look for changes, `cat` of every file for a first index. Page cache warm. Exits 1
when a command fails or answers nothing, so that nothing is ever measured of nothing.

--embed SECS   embed for so long (0: all) and print tokens a processor second; without it hybrid figures are left out
               unless --state names a folder that is embedded already
--fill         give every text a made-up vector instead: for the speed of search, which does not depend on what they say
--state DIR    keep index and vectors there and use what is there
--keep DIR     make index and vectors there, anew, and leave them
--queries FILE one query a line; default: words taken from the notes
"""

import argparse
import array
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time


# A process inherits the peak memory of the one that starts it, so a small one does.
STARTER = """
import json, os, subprocess, sys, time
with open(sys.argv[1], "wb") as out:
    start = time.perf_counter()
    child = subprocess.Popen(sys.argv[2:], stdout=out)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
print(json.dumps([wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)]))
"""


def run(command, env=None):
    """One process: (wall s, CPU s, peak MiB, stdout)."""
    with tempfile.NamedTemporaryFile() as out:
        starter = [sys.executable, "-I", "-S", "-c", STARTER, out.name, *map(str, command)]
        done = subprocess.run(starter, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, check=True)
        wall, cpu, peak, code = json.loads(done.stdout)
        if code:
            sys.exit(f"{' '.join(map(str, command))}: exit {code}\n{done.stderr.decode()}")
        return wall, cpu, peak, out.read()


def median(runs):
    return tuple(statistics.median(column) for column in list(zip(*runs))[:3])


def line(name, figures, floor=None):
    wall, cpu, peak = figures
    ratio = f"  {wall / floor[0]:6.1f} x {floor[1]}" if floor else ""
    print(f"{name:<38}{wall * 1000:>9.0f} ms{cpu * 1000:>9.0f} CPU ms{peak:>7.0f} MiB{ratio}", flush=True)


def words_of(files, count):
    """Queries of two to four words that stand together in some note."""
    chosen = random.Random(7)
    queries = []
    while len(queries) < count:
        words = re.findall(r"[A-Za-z][A-Za-z-]{3,}", chosen.choice(files).read_text(errors="replace"))
        if len(words) > 8:
            at = chosen.randrange(len(words) - 4)
            queries.append(" ".join(words[at : at + chosen.randint(2, 4)]))
    return queries


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--embed", type=float)
    parser.add_argument("--fill", action="store_true")
    parser.add_argument("--state", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--queries", type=pathlib.Path)
    args = parser.parse_args()

    scratch = pathlib.Path(tempfile.mkdtemp(prefix="figures-"))
    try:
        measure(args, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def fill(state, fingerprint):
    """A unit vector for every text that has none: a few random ones, rotated."""
    index = sqlite3.connect(f"file:{state}/index.sqlite?mode=ro", uri=True)
    inputs = [row[0] for row in index.execute("SELECT DISTINCT input_sha256 FROM chunks")]
    index.close()
    chosen = random.Random(7)
    pool = []
    for _ in range(512):
        vector = [chosen.gauss(0, 1) for _ in range(384)]
        length = sum(x * x for x in vector) ** 0.5
        pool.append(array.array("f", [x / length for x in vector]).tobytes())
    with sqlite3.connect(f"{state}/embeddings.sqlite") as store:
        for number, text in enumerate(inputs):
            vector, turn = pool[number % 512], number // 512 % 384 * 4
            row = (text, bytes.fromhex(fingerprint), vector[turn:] + vector[:turn])
            store.execute("INSERT OR IGNORE INTO embeddings VALUES (?, ?, ?, 1, 1, 'made up', '2000-01-01T00:00:00Z')", row)
        store.execute("UPDATE meta SET value = ? WHERE key = 'commit_id'", [os.urandom(16).hex()])


def measure(args, scratch):
    notes = scratch / "notes"
    shutil.copytree(args.dir, notes, copy_function=shutil.copy2)
    files = sorted(notes.rglob("*.md"))
    if not files:
        sys.exit(f"{args.dir} holds no .md file: nothing to measure")
    # A file written a moment ago is hashed again whatever its stamp says; these are meant to be old.
    for file in files:
        os.utime(file, (1_700_000_000, 1_700_000_000))
    size = sum(file.stat().st_size for file in files)
    print(f"{len(files)} files, {size / 1e6:.1f} MB, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")

    state = args.state or args.keep or scratch / "state"
    config = scratch / "config.yaml"
    config.write_text(
        f"workroot: {scratch}\nstate_dir: {state}\nsources:\n  - name: notes\n    root: {notes}\n"
    )
    env = {"HOME": str(scratch / "home"), "PATH": os.environ["PATH"]}

    def agent(*words):
        return run([args.program, *words, "--config", config, "--json"], env)

    find = median([run(["find", notes, "-name", "*.md", "-printf", "%s %T@\n"]) for _ in range(args.runs)])
    line("find, size and time of every file", find)
    cat = median([run(["find", notes, "-name", "*.md", "-exec", "cat", "{}", "+"]) for _ in range(args.runs)])
    line("cat of every file", cat)

    def cold():
        for name in ("index.sqlite", "index.sqlite-wal", "index.sqlite-shm"):
            (state / name).unlink(missing_ok=True)
        shutil.rmtree(state / "lexical", ignore_errors=True)
        return agent("index")

    if not args.state:
        runs = [cold() for _ in range(min(args.runs, 3))]
        line("index, cold", median(runs), (cat[0], "cat"))
    else:
        agent("index")
    body = json.loads(agent("index")[3])
    print(f"    {body['total_docs']} documents in {body['total_chunks']} chunks")
    runs = [agent("index") for _ in range(args.runs)]
    if json.loads(runs[-1][3])["docs_read"]:
        sys.exit("a run without changes opened files")
    line("index, nothing changed", median(runs), (find[0], "find"))
    runs = []
    for number in range(args.runs):
        changed = files[len(files) * (number + 1) // (args.runs + 1)]
        with changed.open("a") as out:
            out.write(f"\nfigure{number} line\n")
        runs.append(agent("index"))
        if json.loads(runs[-1][3])["docs_changed"] != 1:
            sys.exit("the changed file was not seen")
        if json.loads(agent("query", f"figure{number} line", "--mode", "lexical")[3])["count"] == 0:
            sys.exit("the changed file is not found")
    # The first change after a first index was once the slow one.
    line("index, one file changed, slowest", max(runs)[:3], (find[0], "find"))

    queries = args.queries.read_text().splitlines() if args.queries else words_of(files, 4 * args.runs)

    def query(mode):
        # Made-up vectors are like nothing: without a least chance whatever is nearest is shown.
        runs = [agent("query", text, "--mode", mode, "--min-score", "0") for text in queries]
        if not any(json.loads(one[3])["count"] for one in runs):
            sys.exit(f"no {mode} query found anything")
        line(f"query, {mode}, one process", median(runs), (find[0], "find"))

    query("lexical")
    if args.embed is not None:
        command = ["embed"] + (["--limit", str(int(args.embed * 30))] if args.embed else [])
        one = agent(*command)
        body = json.loads(one[3])
        if body["tokens"]:
            line(f"embed, {body['embedded_written']} texts", one[:3])
            print(f"    {body['tokens'] / one[1]:.0f} tokens a CPU s, {body['tokens'] / one[0]:.0f} tokens a s")
    if args.fill:
        fingerprint = json.loads(agent("embed", "--limit", "1")[3])["embed_runtime_fingerprint"]
        fill(state, fingerprint)
        line("embed, matrix of made-up vectors", agent("embed")[:3])
    if args.embed is not None or args.state or args.fill:
        runs = [agent("embed", "--limit", "0") for _ in range(args.runs)]
        print(f"    {json.loads(runs[-1][3])['covered_chunks']} chunks have a vector")
        line("embed, nothing wanted", median(runs), (find[0], "find"))
        query("vector")
        query("hybrid")


if __name__ == "__main__":
    main()
