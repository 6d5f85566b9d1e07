#!/usr/bin/env python3
"""Searches through `serve` by many clients at once, with a writer beside: times, searches per second, memory, losses.

    cargo build --release
    python3 benches/serve_load.py target/release/local-agent CONFIG [--clients 1,8,64] [--seconds 60] [--floor ADDRESS]

CONFIG   configuration of an index that is embedded (`benches/scale.py --keep FOLDER` leaves `FOLDER/config.yaml`)
--floor  host and port of a server that answers POST /api/search at once: what the client itself takes

Each client keeps one connection and asks the next question when it has its answer. Questions are words of the chunks.
The answers that count as right were got before, one after the other: an answer without the best hit of the first is
wrong, and one that is no whole object is lost. A server that is full says so (429, 503); the client asks again after
20 ms, and such a refusal is neither. Meanwhile a note below the first source is written and indexed anew, again and
again; it is removed in the end. The same questions over stdin (`mcp`) are measured first. Exits 1 when an answer is
wrong or lost. `--alone` leaves the writer out.
"""

import argparse
import asyncio
import json
import os
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time

QUESTIONS = 400


def agent(args, *words):
    done = subprocess.run([args.program, *words, "--config", args.config, "--json"], stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"{words}: exit {done.returncode}\n{done.stdout.decode()}")
    return json.loads(done.stdout)


def questions_of(index_db):
    """Three to five words that stand together in a chunk."""
    index = sqlite3.connect(f"file:{index_db}?mode=ro", uri=True)
    most = index.execute("SELECT max(id) FROM chunks").fetchone()[0]
    chosen, questions = random.Random(7), []
    while len(questions) < QUESTIONS:
        row = index.execute("SELECT text FROM chunks WHERE id >= ? LIMIT 1", [chosen.randrange(most)]).fetchone()
        words = re.findall(r"[A-Za-z]{4,}", row[0]) if row else []
        if len(words) > 8:
            at = chosen.randrange(len(words) - 5)
            questions.append(" ".join(words[at : at + chosen.randint(3, 5)]))
    return questions


class Server:
    def __init__(self, args, state):
        command = [args.program, "serve", "--listen", "127.0.0.1:0", "--requests-per-minute", "10000000", "--json"]
        self.process = subprocess.Popen([*command, "--config", args.config], stdout=subprocess.PIPE)
        self.address = json.loads(self.process.stdout.readline())["listening"]
        self.token = (state / "serve.token").read_text().strip()

    def memory(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return {name: int(size) / 1024 for name, size in re.findall(r"(VmRSS|RssAnon):\s+(\d+) kB", status)}

    def processor(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait():
            sys.exit(f"the server ended with {self.process.returncode}")


async def post(reader, writer, address, token, question):
    """Status and body of one search on an open connection."""
    body = json.dumps({"query": question, "limit": 10}).encode()
    head = f"POST /api/search HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n"
    writer.write(f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    length = int(re.search(rb"(?i)content-length: (\d+)", answer)[1])
    return int(answer.split(b" ", 2)[1]), await reader.readexactly(length)


def best_of(body):
    hits = json.loads(body)["hits"]
    return [hit["chunk_key"] for hit in hits]


class Count:
    """What the clients of one run saw."""

    def __init__(self):
        self.times, self.refused, self.wrong, self.lost = [], 0, 0, 0


async def client(address, token, questions, right, until, count, start_at):
    reader, writer = await asyncio.open_connection(*address.rsplit(":", 1))
    at = start_at
    while time.perf_counter() < until:
        question = questions[at % len(questions)]
        start = time.perf_counter()
        try:
            status, body = await post(reader, writer, address, token, question)
        except (OSError, asyncio.IncompleteReadError):
            count.lost += 1
            reader, writer = await asyncio.open_connection(*address.rsplit(":", 1))
            continue
        took = time.perf_counter() - start
        if status in (429, 503):
            count.refused += 1
            await asyncio.sleep(0.02)
            continue
        at += 1
        if status != 200:
            count.lost += 1
            continue
        count.times.append(took * 1000)
        if right is not None and right[question] and right[question][0] not in best_of(body):
            count.wrong += 1
    writer.close()


async def run(address, token, questions, right, clients, seconds):
    count = Count()
    until = time.perf_counter() + seconds
    each = [client(address, token, questions, right, until, count, 37 * number) for number in range(clients)]
    await asyncio.gather(*each)
    return count


async def answers(address, token, questions):
    """Question → keys of the hits, best first, got one after the other."""
    reader, writer = await asyncio.open_connection(*address.rsplit(":", 1))
    right = {}
    for question in questions:
        status, body = await post(reader, writer, address, token, question)
        if status != 200:
            sys.exit(f"{question}: {status} {body.decode()}")
        right[question] = best_of(body)
    writer.close()
    return right


class Beside(threading.Thread):
    """Writes one note and indexes it, again and again, until it is told to stop."""

    def __init__(self, args, note):
        super().__init__()
        self.args, self.note, self.stop, self.codes = args, note, threading.Event(), []
        self.start()

    def run(self):
        command = [self.args.program, "index", "--config", self.args.config, "--json"]
        while not self.stop.wait(1):
            self.note.write_text(f"# Written beside\n\nZwaluw {len(self.codes)} flew over.\n")
            self.codes.append(subprocess.run(command, stdout=subprocess.DEVNULL).returncode)

    def end(self):
        """How often the index was written; every time without a failure."""
        self.stop.set()
        self.join()
        if not self.codes or any(self.codes):
            sys.exit(f"the writer failed: {self.codes}")
        return len(self.codes)


def line(name, count, seconds, extra=""):
    times = sorted(count.times)
    if not times:
        sys.exit(f"{name}: no answer")
    print(
        f"{name:<26}{times[len(times) // 2]:>9.2f}{times[int(len(times) * 0.99)]:>9.2f}{len(times) / seconds:>10.0f}"
        f"{count.refused:>9}{count.wrong:>7}{count.lost:>6}  {extra}",
        flush=True,
    )


def over_stdin(args, questions, seconds):
    """The same searches through `mcp`, one after the other."""
    command = [args.program, "mcp", "--config", args.config]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def call(number, method, params):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
        return json.loads(server.stdout.readline())

    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}}
    call(0, "initialize", about)
    server.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    count, until, number = Count(), time.perf_counter() + seconds, 0
    while time.perf_counter() < until:
        number += 1
        start = time.perf_counter()
        asked = {"query": questions[number % len(questions)], "limit": 10}
        answer = call(number, "tools/call", {"name": "search", "arguments": asked})
        count.times.append((time.perf_counter() - start) * 1000)
        if answer.get("id") != number or answer.get("result", {}).get("isError", True):
            sys.exit(f"{asked}: {answer}")
    server.stdin.close()
    server.wait()
    return count


def measure(args):
    status = agent(args, "status")
    state = pathlib.Path(status["index_db"]).parent
    questions = questions_of(status["index_db"])
    load = os.getloadavg()[0]
    covered = status["coverage"]["embedded"]
    print(f"{status['chunks']} chunks, {covered} with a vector, {os.cpu_count()} cores, load {load:.1f}")
    print(f"{'':<26}{'p50 ms':>9}{'p99 ms':>9}{'per s':>10}{'refused':>9}{'wrong':>7}{'lost':>6}")
    clients = [int(number) for number in args.clients.split(",")]
    for number in clients if args.floor else []:
        count = asyncio.run(run(args.floor, "none", questions, None, number, min(args.seconds, 10)))
        line(f"floor, {number} clients", count, min(args.seconds, 10))
    line("mcp over stdin", over_stdin(args, questions, min(args.seconds, 20)), min(args.seconds, 20))
    server = Server(args, state)
    note = pathlib.Path(status["sources"][0]["root"]) / "written-beside.md"
    bad = 0
    try:
        right = asyncio.run(answers(server.address, server.token, questions))
        for number in clients:
            writer, before = None if args.alone else Beside(args, note), server.processor()
            count = asyncio.run(run(server.address, server.token, questions, right, number, args.seconds))
            used, written = server.processor() - before, writer.end() if writer else 0
            each = used / max(len(count.times), 1) * 1000
            extra = f"{each:.1f} ms of the server's processors each, index written {written} times"
            line(f"serve, {number} clients", count, args.seconds, extra)
            bad += count.wrong + count.lost
        print("    " + ", ".join(f"{name} {size:.0f} MiB" for name, size in server.memory().items()))
    finally:
        server.end()
        note.unlink(missing_ok=True)
        agent(args, "index")
    print(f"load {os.getloadavg()[0]:.1f}")
    if bad:
        sys.exit(f"{bad} answers are wrong or lost")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("config", type=pathlib.Path)
    parser.add_argument("--clients", default="1,8,64")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--floor")
    parser.add_argument("--alone", action="store_true")
    args = parser.parse_args()
    args.program = args.program.resolve()
    measure(args)


if __name__ == "__main__":
    main()
