#!/usr/bin/env python3
"""What an index of very many chunks costs: bytes a chunk in each file, seconds, memory, and times of search.

    cargo build --release
    python3 benches/scale.py target/release/local-agent DIR --copies 9 [--also DIR] [--keep FOLDER] [--queries 500]

The markdown below DIR is copied so many times; each copy names its number in its top headings, so that no chunk is
embedded as another one is. Words are repeated: the dictionary of the lexical index does not grow as it would with as
many different notes, and every list of places does. Vectors are made up (`benches/figures.py --fill`).

Printed are the first index, a run without changes, a run with one changed file, publishing the vectors; the size of
each file; cold searches, and searches through `serve`, one after the other on one connection. `--also` names a second
source, read where it is. FOLDER keeps notes and state: notes that are there are not copied again, and of an index that is there
only searches are measured. Exits 1 when a command fails or nothing is found.
"""

import argparse
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import figures


def processor(process):
    """Processor seconds of a process."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Scale:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.program = args.program.resolve()
        self.notes, self.state, self.config = folder / "notes", folder / "state", folder / "config.yaml"
        self.env = {"HOME": str(folder / "home"), "PATH": os.environ["PATH"]}

    def agent(self, *words):
        return figures.run([self.program, *words, "--config", self.config, "--json"], self.env)

    def configure(self):
        sources = f"  - name: notes\n    root: {self.notes}\n"
        if self.args.also:
            sources += f"  - name: also\n    root: {self.args.also.resolve()}\n"
        self.config.write_text(f"workroot: /\nstate_dir: {self.state}\nsources:\n{sources}")

    def files(self):
        also = sorted(self.args.also.rglob("*.md")) if self.args.also else []
        return sorted(self.notes.rglob("*.md")) + also

    def copy(self):
        """The notes, so many times; old enough not to be hashed again."""
        files = sorted(self.args.dir.rglob("*.md"))
        if not files:
            sys.exit(f"{self.args.dir} holds no .md file: nothing to measure")
        for file in files:
            text = file.read_bytes()
            for number in range(self.args.copies):
                to = self.notes / f"copy{number}" / file.relative_to(self.args.dir)
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(re.sub(rb"(?m)^# (.*\S)", rb"# \1 copy%d" % number, text))
                os.utime(to, (1_700_000_000, 1_700_000_000))

    def build(self):
        figures.line("index, cold", self.agent("index")[:3])
        figures.line("index, nothing changed", self.agent("index")[:3])
        changed = next(self.notes.rglob("*.md"))
        with changed.open("a") as out:
            out.write("\nfigure0 line\n")
        figures.line("index, one file changed", self.agent("index")[:3])
        fingerprint = json.loads(self.agent("embed", "--limit", "1")[3])["embed_runtime_fingerprint"]
        start = time.perf_counter()
        figures.fill(self.state, fingerprint)
        print(f"made-up vectors written in {time.perf_counter() - start:.0f} s")
        figures.line("embed, vectors published", self.agent("embed")[:3])
        figures.line("embed, nothing wanted", self.agent("embed")[:3])

    def sizes(self):
        status = json.loads(self.agent("status")[3])
        chunks, covered = status["chunks"], status["coverage"]["embedded"]
        print(f"{status['documents']} documents, {chunks} chunks, {covered} with a vector")
        text = sum(file.stat().st_size for file in self.files())
        print(f"{'the notes themselves':<38}{text / chunks:>9.0f} bytes a chunk {text / 1e6:>9.0f} MB")
        for file in sorted(self.state.iterdir()):
            parts = file.rglob("*") if file.is_dir() else [file]
            size = sum(part.stat().st_size for part in parts if part.is_file())
            if size > chunks:
                print(f"{file.name:<38}{size / chunks:>9.0f} bytes a chunk {size / 1e6:>9.0f} MB")

    def searches(self):
        queries = figures.words_of(self.files(), self.args.queries)
        for mode in ("lexical", "hybrid"):
            cold = [self.agent("query", text, "--mode", mode, "--min-score", "0") for text in queries[:20]]
            if not any(json.loads(one[3])["count"] for one in cold):
                sys.exit(f"no {mode} query found anything")
            figures.line(f"query, {mode}, one process", figures.median(cold))
        self.served(queries)

    def served(self, queries):
        """Times of searches through `serve`, and its memory afterwards."""
        command = [self.program, "serve", "--listen", "127.0.0.1:0", "--requests-per-minute", "1000000", "--json"]
        server = subprocess.Popen([*command, "--config", self.config], stdout=subprocess.PIPE, env=self.env)
        try:
            address = json.loads(server.stdout.readline())["listening"]
            token = (self.state / "serve.token").read_text().strip()
            connection = http.client.HTTPConnection(address)
            times, found, before = [], 0, 0.0
            for number, text in enumerate(queries):
                before = processor(server.pid) if number == 1 else before
                start = time.perf_counter()
                headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
                connection.request("POST", "/api/search", json.dumps({"query": text, "limit": 10}), headers)
                answer = connection.getresponse()
                result = json.loads(answer.read())
                times.append((time.perf_counter() - start) * 1000)
                if answer.status != 200:
                    sys.exit(f"{text}: {answer.status} {result}")
                found += result["count"] > 0
            used = (processor(server.pid) - before) / (len(queries) - 1) * 1000
            memory = pathlib.Path(f"/proc/{server.pid}/status").read_text()
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()
        if not found:
            sys.exit("no served search found anything")
        first, times = times[0], sorted(times[1:])
        print(
            f"search through serve, {len(times)} queries, {found} found something: first {first:.0f} ms,"
            f" p50 {times[len(times) // 2]:.1f} ms, p99 {times[int(len(times) * 0.99)]:.1f} ms,"
            f" {used:.1f} ms of processor time each"
        )
        for name, size in re.findall(r"(VmRSS|RssAnon|RssFile):\s+(\d+) kB", memory):
            print(f"    {name} {int(size) / 1024:.0f} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("--copies", type=int, default=9)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--also", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    args = parser.parse_args()
    folder = args.keep or pathlib.Path(tempfile.mkdtemp(prefix="scale-"))
    scale = Scale(args, folder.resolve())
    try:
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        if not scale.state.exists():
            folder.mkdir(parents=True, exist_ok=True)
            scale.configure()
            if not scale.notes.exists():
                scale.copy()
            scale.build()
        scale.sizes()
        scale.searches()
        print(f"load {os.getloadavg()[0]:.1f}")
    finally:
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
