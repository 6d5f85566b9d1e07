-- What cannot be made again: what a person told the program, and the head of each ledger of runs. Never rebuilt.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE memory (
    memory_id  TEXT PRIMARY KEY,
    type       TEXT NOT NULL
        CHECK (type IN ('constraint', 'preference', 'project_state', 'user_fact', 'workflow_rule')),
    content    TEXT NOT NULL CHECK (trim(content) <> ''),
    source     TEXT NOT NULL CHECK (source IN ('manual', 'derived_from_evidence')),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_evidence (
    memory_id   TEXT NOT NULL REFERENCES memory (memory_id) ON DELETE CASCADE,
    chunk_key   TEXT NOT NULL,
    -- What the chunk was when it was linked. NULL: the link was imported and nobody knows.
    text_sha256 BLOB CHECK (length(text_sha256) = 32),
    source      TEXT,
    rel_path    TEXT,
    heading     TEXT,
    PRIMARY KEY (memory_id, chunk_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_evidence_chunk_key ON memory_evidence (chunk_key);

-- How far each ledger had grown when it was last written to, so that a tail that was cut off is seen.
CREATE TABLE ledger_heads (
    -- SHA-256 of the ledger's first line: its name for ever.
    ledger   BLOB PRIMARY KEY CHECK (length(ledger) = 32),
    runs_dir TEXT NOT NULL,
    lines    INTEGER NOT NULL,
    -- Length of the file.
    bytes    INTEGER NOT NULL,
    -- SHA-256 of the last line.
    sha256   BLOB NOT NULL CHECK (length(sha256) = 32)
) STRICT, WITHOUT ROWID;
