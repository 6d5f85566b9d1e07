-- Expensive and content-addressed: what vector a text gets under one fingerprint. Nothing here names a file.

-- commit_id (16 bytes, hex).
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE embeddings (
    input_sha256 BLOB NOT NULL CHECK (length(input_sha256) = 32),
    fingerprint  BLOB NOT NULL CHECK (length(fingerprint) = 32),
    -- f32, little-endian, L2-normalised.
    vector       BLOB NOT NULL CHECK (length(vector) % 4 = 0),
    tokens       INTEGER NOT NULL,
    -- How many windows of the model the text took; more than 1 means a mean of windows.
    windows      INTEGER NOT NULL,
    model_id     TEXT NOT NULL,
    embedded_at  TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX embeddings_identity ON embeddings (fingerprint, input_sha256);
