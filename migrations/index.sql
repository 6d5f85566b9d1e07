-- What the files say. Rebuilt, never migrated, when user_version differs.

-- Small facts about the whole index: commit_id (16 bytes, hex), chunker_sig.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row a publishing transaction, so that a projection that knows its commit can catch up by difference.
CREATE TABLE commits (
    gen       INTEGER PRIMARY KEY,
    commit_id BLOB NOT NULL UNIQUE CHECK (length(commit_id) = 16)
) STRICT;

CREATE TABLE sources (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT NOT NULL UNIQUE,
    root       TEXT NOT NULL,
    kind       TEXT NOT NULL,
    -- Start of the last scan that saw the whole source, nanoseconds since 1970; 0 = never.
    scanned_ns INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE documents (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    source_id    INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    rel_path     TEXT NOT NULL,
    -- 'indexed', or the reason why the file is listed and not indexed.
    status       TEXT NOT NULL,
    size         INTEGER NOT NULL,
    mtime_ns     INTEGER NOT NULL,
    ctime_ns     INTEGER NOT NULL,
    inode        INTEGER NOT NULL,
    sha256       BLOB CHECK (length(sha256) = 32),
    -- Which way of cutting made its chunks.
    chunker_sig  TEXT NOT NULL DEFAULT '',
    title        TEXT NOT NULL DEFAULT '',
    -- Lower-case file name without extension: what a wikilink says.
    stem_key     TEXT NOT NULL DEFAULT '',
    yaml_present INTEGER NOT NULL DEFAULT 0,
    yaml_parse_ok INTEGER,
    yaml_error   TEXT,
    required_keys_present INTEGER,
    frontmatter_json TEXT NOT NULL DEFAULT '{}',
    aliases_json TEXT NOT NULL DEFAULT '[]',
    -- ISO date of the note: frontmatter `date`/`created`, else NULL; `after:` and `before:` fall back to mtime.
    note_date    TEXT,
    -- Generation in which anything that lexical search shows of it last changed.
    lexical_gen  INTEGER NOT NULL,
    UNIQUE (source_id, rel_path)
) STRICT;
CREATE INDEX documents_lexical_gen ON documents (lexical_gen);
CREATE INDEX documents_stem_key ON documents (stem_key);

CREATE TABLE chunks (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    ordinal     INTEGER NOT NULL,
    key         BLOB NOT NULL UNIQUE CHECK (length(key) = 16),
    start_byte  INTEGER NOT NULL,
    end_byte    INTEGER NOT NULL,
    first_line  INTEGER NOT NULL,
    last_line   INTEGER NOT NULL,
    -- Canonical heading path; empty above all headings.
    heading     TEXT NOT NULL,
    kinds       INTEGER NOT NULL,
    tokens      INTEGER NOT NULL,
    text        TEXT NOT NULL,
    text_sha256 BLOB NOT NULL CHECK (length(text_sha256) = 32),
    -- SHA-256 of what is embedded for it.
    input_sha256 BLOB NOT NULL CHECK (length(input_sha256) = 32),
    added_gen   INTEGER NOT NULL
) STRICT;
CREATE INDEX chunks_document ON chunks (document_id, ordinal);

-- Documents that lexical search must forget, by the generation in which they went.
CREATE TABLE removed (
    gen         INTEGER NOT NULL,
    document_id INTEGER NOT NULL
) STRICT;
CREATE INDEX removed_gen ON removed (gen);

CREATE TABLE links (
    document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    kind        TEXT NOT NULL,
    target      TEXT NOT NULL,
    -- Lower-case last segment of the target without extension: joins documents.stem_key.
    target_key  TEXT NOT NULL,
    anchor      TEXT,
    text        TEXT NOT NULL
) STRICT;
CREATE INDEX links_document ON links (document_id);
CREATE INDEX links_target_key ON links (target_key);

CREATE TABLE tags (
    document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    tag         TEXT NOT NULL
) STRICT;
CREATE INDEX tags_document ON tags (document_id);
CREATE INDEX tags_tag ON tags (tag);
