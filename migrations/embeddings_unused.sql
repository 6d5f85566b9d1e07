-- Since when no chunk uses a vector. Such a vector is kept for a while, because notes come back. Added in version 2.
CREATE TABLE unused (
    fingerprint  BLOB NOT NULL CHECK (length(fingerprint) = 32),
    input_sha256 BLOB NOT NULL CHECK (length(input_sha256) = 32),
    -- Seconds since 1970.
    since        INTEGER NOT NULL,
    PRIMARY KEY (fingerprint, input_sha256)
) STRICT, WITHOUT ROWID;
