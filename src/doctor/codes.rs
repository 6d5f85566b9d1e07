//! The table of doctor's codes. A code never changes its meaning once released.

/// Declares [`Code`] from one table: variant, stable name, meaning.
macro_rules! doctor_codes {
    ($($variant:ident $name:literal $meaning:literal)+) => {
        /// The subject of a check and its result.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(super) enum Code {
            $(#[doc = $meaning] $variant,)+
        }

        impl Code {
            /// The stable name.
            pub(super) const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }

        /// Every code with its meaning, in the order of the table.
        pub(super) const TABLE: &[(&str, &str)] = &[$(($name, $meaning),)+];
    };
}

doctor_codes! {
    CheckSkipped "DOCTOR_CHECK_SKIPPED" "Something could not be looked at, for a reason that another entry names. Never a failure by itself."

    ConfigPathMissing "DOCTOR_CONFIG_PATH_MISSING" "No configuration file was found."
    ConfigPathOk "DOCTOR_CONFIG_PATH_OK" "The configuration files that were read."
    ConfigInvalid "DOCTOR_CONFIG_INVALID" "The configuration cannot be read, holds an unknown key or a wrong value."
    ConfigUntrusted "DOCTOR_CONFIG_UNTRUSTED" "A configuration found by walking up asks for more than its own folder and has not been trusted."
    ConfigTrustOk "DOCTOR_CONFIG_TRUST_OK" "Nothing in the configuration waits for an agreement."
    ConfigWarning "DOCTOR_CONFIG_WARNING" "A value was read differently from what it says. Never a failure."

    AllowedRootsEmpty "DOCTOR_ALLOWED_ROOTS_EMPTY" "Neither sources nor allowed roots are configured, so nothing can be read."
    AllowedRootMissing "DOCTOR_ALLOWED_ROOT_MISSING" "A folder of `security.allowed_roots` is not there."
    AllowedRootOutside "DOCTOR_ALLOWED_ROOT_OUTSIDE_SECURITY_ROOT" "A folder of `security.allowed_roots` lies outside the security root, and roots must lie inside."
    SecurityPolicyOk "DOCTOR_SECURITY_POLICY_OK" "Every folder that may be read is there and can be opened."

    Confinement "DOCTOR_CONFINEMENT" "Whether the kernel confines the commands that read notes to the folders they need (Landlock). Never a failure."

    Phase2ConfigInvalid "DOCTOR_PHASE2_CONFIG_INVALID" "No source can be indexed: none is configured, or `sources` or `index` has an invalid value."
    SourceRootMissing "DOCTOR_SOURCE_ROOT_MISSING" "The folder of a source does not exist or cannot be opened."
    Phase2ConfigOk "DOCTOR_PHASE2_CONFIG_OK" "The sources are configured and their folders exist."
    Phase3ConfigInvalid "DOCTOR_PHASE3_CONFIG_INVALID" "`embed`, `retrieve` or `ask` has an invalid value."

    IndexDbMissing "DOCTOR_INDEX_DB_MISSING" "Nothing was ever indexed."
    IndexDbForeign "DOCTOR_INDEX_DB_FOREIGN" "The index database belongs to another program or to the earlier Python version; it was not touched."
    IndexDbError "DOCTOR_INDEX_DB_ERROR" "The index database is damaged or cannot be read."
    IndexSchemaVersion "DOCTOR_INDEX_SCHEMA_VERSION" "The index database has an older or newer schema than this program writes."
    IndexSchemaOk "DOCTOR_INDEX_SCHEMA_OK" "The index database is ours and of this version."
    StateOnNetwork "DOCTOR_STATE_ON_NETWORK" "A database is on a network file system: it works, more slowly, as long as one machine at a time writes. Never a failure."
    IndexIntegrityOk "DOCTOR_INDEX_INTEGRITY_OK" "SQLite finds no damage in the index database."
    IndexEmpty "DOCTOR_INDEX_EMPTY" "The index holds no chunks."
    IndexNonempty "DOCTOR_INDEX_NONEMPTY" "The index holds chunks."
    IndexSourcesMismatch "DOCTOR_INDEX_SOURCES_MISMATCH" "The index holds other sources than the configuration names."
    IndexSourcesOk "DOCTOR_INDEX_SOURCES_OK" "The index holds exactly the configured sources."
    SkippedFiles "DOCTOR_SKIPPED_FILES" "How many files are listed and not indexed, by reason. Never a failure."

    DocsWithoutChunks "DOCTOR_DOCS_WITHOUT_CHUNKS" "Documents that have text have no chunks."
    DocsWithoutChunksOk "DOCTOR_DOCS_WITHOUT_CHUNKS_OK" "Every document that has text has chunks."
    ChunksWithoutDocs "DOCTOR_CHUNKS_WITHOUT_DOCS" "Chunks belong to no indexed document."
    ChunksWithoutDocsOk "DOCTOR_CHUNKS_WITHOUT_DOCS_OK" "Every chunk belongs to an indexed document."
    ChunkKeyMissing "DOCTOR_CHUNK_KEY_MISSING" "Chunks have no key, or one that two of them share."
    ChunkKeyOk "DOCTOR_CHUNK_KEY_OK" "Every chunk has a key of its own."
    ChunkSchemeMismatch "DOCTOR_CHUNK_SCHEME_MISMATCH" "Documents were cut in another way than the configuration asks for."
    ChunkSchemeOk "DOCTOR_CHUNK_SCHEME_OK" "Every document was cut in the way the configuration asks for."
    ChunkerSigMissing "DOCTOR_CHUNKER_SIG_MISSING" "The index does not say how it was cut: no run has finished yet."
    ChunkerSigOk "DOCTOR_CHUNKER_SIG_OK" "The index says how it was cut."
    ChunkerSigMismatch "DOCTOR_CHUNKER_SIG_MISMATCH" "The index as a whole was cut in another way than the configuration asks for."
    ChunkerSigMatch "DOCTOR_CHUNKER_SIG_MATCH" "The index as a whole was cut in the way the configuration asks for."

    FilesStale "DOCTOR_FILES_STALE" "Files are new, changed or gone since they were indexed."
    SourceEmptied "DOCTOR_SOURCE_EMPTY" "A source that had documents shows none now, or less than half of them and from another disk; or the disk of one of its folders is missing. What is indexed of it is kept."
    FilesFreshOk "DOCTOR_FILES_FRESH_OK" "The index is up to date with every file."
    FileHashMismatch "DOCTOR_FILE_HASH_MISMATCH" "A file has other bytes than were indexed, although its time stamp did not move."
    FileHashOk "DOCTOR_FILE_HASH_OK" "A sample of files has the bytes that were indexed."
    ChunkTextMismatch "DOCTOR_CHUNK_TEXT_MISMATCH" "A chunk is not a verbatim slice of its file."
    ChunkTextOk "DOCTOR_CHUNK_TEXT_OK" "The chunks of a sample of files are verbatim slices of them."

    LexicalMissing "DOCTOR_LEXICAL_MISSING" "There is no lexical projection, so words are not searched."
    LexicalDamaged "DOCTOR_LEXICAL_DAMAGED" "Files of the lexical projection are damaged."
    LexicalStale "DOCTOR_LEXICAL_STALE" "The lexical projection was made from another state of the index."
    LexicalKeysMismatch "DOCTOR_LEXICAL_KEYS_MISMATCH" "The lexical projection does not hold exactly the chunks of the index."
    LexicalOk "DOCTOR_LEXICAL_OK" "The lexical projection is complete and holds exactly the chunks of the index."

    OllamaUnreachable "DOCTOR_OLLAMA_UNREACHABLE" "The configured Ollama server did not answer in time."
    OllamaUrlInvalid "DOCTOR_OLLAMA_URL_INVALID" "The address of the model server cannot be used."
    OllamaModelMissing "DOCTOR_OLLAMA_MODEL_MISSING" "The Ollama server does not have a configured model."
    OllamaOk "DOCTOR_OLLAMA_OK" "The Ollama server answers and has the configured models."
    OllamaNotNeeded "DOCTOR_OLLAMA_NOT_NEEDED" "Nothing in the configuration needs an Ollama server."
    OllamaSkipped "DOCTOR_OLLAMA_SKIPPED" "The server was not contacted, because of `--offline`."

    AskProviderNotReady "DOCTOR_ASK_PROVIDER_NOT_READY" "The chat model that `ask.provider` or `verify.judge` names cannot be used, so `ask` fails."
    AskProviderOk "DOCTOR_ASK_PROVIDER_OK" "The server of the chat model answers and has the model that `ask` uses."

    ModelNotReady "DOCTOR_EMBED_MODEL_NOT_READY" "The files of the embedding model are missing or cannot be used, or this machine lacks the instructions of `embed.instructions`."
    ModelChecksumMismatch "DOCTOR_EMBED_MODEL_CHECKSUM_MISMATCH" "The weights or the tokenizer do not have the recorded SHA-256."
    ModelOk "DOCTOR_EMBED_MODEL_OK" "The files of the embedding model are there and have the recorded SHA-256."
    RerankerNotReady "DOCTOR_RERANKER_NOT_READY" "The files of `retrieve.reranker` are missing or cannot be used."
    RerankerChecksumMismatch "DOCTOR_RERANKER_CHECKSUM_MISMATCH" "The weights or the tokenizer of the reranker do not have the recorded SHA-256."
    RerankerOk "DOCTOR_RERANKER_OK" "The files of the reranker are there, have the recorded SHA-256, and load."

    EmbedDbMissing "DOCTOR_PHASE3_EMBEDDINGS_DB_MISSING" "Nothing was ever embedded, and `--require-phase3` asks for it."
    EmbedDbMissingWarn "DOCTOR_PHASE3_EMBEDDINGS_DB_MISSING_WARN" "Nothing was ever embedded; searches use words alone. Never a failure."
    EmbedDbForeign "DOCTOR_EMBED_DB_FOREIGN" "The embeddings database belongs to another program or to the earlier Python version; it was not touched."
    EmbedDbError "DOCTOR_EMBED_DB_ERROR" "The embeddings database is damaged or cannot be read."
    EmbedSchemaVersion "DOCTOR_EMBED_SCHEMA_VERSION" "The embeddings database has an older or newer schema than this program writes."
    EmbedSchemaOk "DOCTOR_EMBED_SCHEMA_OK" "The embeddings database is ours and of this version."
    EmbedIntegrityOk "DOCTOR_EMBED_INTEGRITY_OK" "SQLite finds no damage in the embeddings database."
    EmbedMetaMissing "DOCTOR_EMBED_META_MISSING" "The embeddings database has rows but does not say which commit published them."
    EmbedModelMismatch "DOCTOR_EMBED_MODEL_MISMATCH" "All vectors were made by another model than the configured one."
    EmbedFingerprintError "DOCTOR_EMBED_RUNTIME_FINGERPRINT_ERROR" "There are vectors, but the model they are to be compared with cannot be described."
    EmbedFingerprintMismatch "DOCTOR_EMBED_RUNTIME_FINGERPRINT_MISMATCH" "All vectors were made by other weights or in another way than queries would be."
    EmbedFingerprintOk "DOCTOR_EMBED_RUNTIME_FINGERPRINT_OK" "Vectors were made the way queries are."
    EmbedMissingRequired "DOCTOR_EMBED_MISSING_REQUIRE_PHASE3" "Chunks have no vector, and `--require-phase3` asks for all."
    EmbedMissingWarn "DOCTOR_EMBED_MISSING_WARN" "Chunks have no vector; they are found by words alone. Never a failure."
    EmbedMissingOk "DOCTOR_EMBED_MISSING_OK" "Every chunk has a vector."
    EmbedOutdatedRequired "DOCTOR_EMBED_OUTDATED_REQUIRE_PHASE3" "Vectors of another fingerprint are left, and `--require-phase3` asks for none."
    EmbedOutdatedWarn "DOCTOR_EMBED_OUTDATED_WARN" "Vectors of another fingerprint are left; they are never searched. Never a failure."
    EmbedOutdatedOk "DOCTOR_EMBED_OUTDATED_OK" "No vector has another fingerprint."
    EmbedDimMismatchRequired "DOCTOR_EMBED_DIM_MISMATCH_REQUIRE_PHASE3" "Vectors have another length than the model's, and `--require-phase3` asks for none."
    EmbedDimMismatchWarn "DOCTOR_EMBED_DIM_MISMATCH_WARN" "Vectors have another length than the model's. Never a failure."
    EmbedDimMismatchOk "DOCTOR_EMBED_DIM_MISMATCH_OK" "Every vector has the model's length."
    EmbedOrphansRequired "DOCTOR_EMBED_ORPHANS_REQUIRE_PHASE3" "Vectors belong to no chunk, and `--require-phase3` asks for none."
    EmbedOrphansWarn "DOCTOR_EMBED_ORPHANS_WARN" "Vectors belong to no chunk; they are never searched. Never a failure."
    EmbedOrphansOk "DOCTOR_EMBED_ORPHANS_OK" "Every vector belongs to a chunk."

    VectorsMissing "DOCTOR_VECTORS_MISSING" "There are embeddings but no matrix to search them in."
    VectorsDamaged "DOCTOR_VECTORS_DAMAGED" "Files of the vector projection are damaged."
    VectorsNewer "DOCTOR_VECTORS_NEWER" "The vector projection was written by a newer version; it was not touched."
    VectorsFingerprintMismatch "DOCTOR_VECTORS_FINGERPRINT_MISMATCH" "The matrix was made by another model or in another way, so it is not searched."
    VectorsStale "DOCTOR_VECTORS_STALE_REQUIRE_PHASE3" "The matrix was made from another state of the index or the embeddings, and `--require-phase3` asks for the current one."
    VectorsStaleWarn "DOCTOR_VECTORS_STALE_WARN" "The matrix was made from another state of the index or the embeddings; dead rows are dropped when read. Never a failure."
    VectorsKeysMismatch "DOCTOR_VECTORS_KEYS_MISMATCH" "The matrix contains rows that are not chunks of the index it was made from."
    VectorsOk "DOCTOR_VECTORS_OK" "The matrix is complete and made from the current state."
    VectorsProfileOk "DOCTOR_VECTORS_PROFILE_OK" "The usual cosines of unrelated texts are known for this model, so vectors and words can be weighed."
    VectorsProfileWarn "DOCTOR_VECTORS_PROFILE_WARN" "The cosines of this model have not been measured on this index yet; they are estimated. Never a failure."
    VectorsWithoutSayWarn "DOCTOR_VECTORS_WITHOUT_SAY_WARN" "The model cannot read the notes or cannot tell them apart, so searches use words alone. Never a failure."

    RetrievalNotReady "DOCTOR_PHASE3_RETRIEVAL_NOT_READY" "A real hybrid search did not work."
    RetrievalReadyOk "DOCTOR_PHASE3_RETRIEVAL_READY_OK" "A real hybrid search worked on both sides."
    RetrievalSmokeSkipped "DOCTOR_PHASE3_RETRIEVAL_SMOKE_SKIPPED" "No search was tried, because an earlier entry already says why it cannot work. Never a failure."
    RetrievalSmokeSkippedNoOllama "DOCTOR_PHASE3_RETRIEVAL_SMOKE_SKIPPED_NO_OLLAMA" "No search was tried, because its vectors come from a server and `--offline` was given. Never a failure."

    MemoryDisabledWarn "DOCTOR_MEMORY_DISABLED_WARN" "Durable memory is switched off. Never a failure."
    MemoryDbMissingWarn "DOCTOR_MEMORY_DB_MISSING_WARN" "There is no durable memory yet. Never a failure."
    DurableMissing "DOCTOR_DURABLE_MISSING" "The database of memory and of the ledger's head existed before and is missing or empty."
    MemoryDbFound "DOCTOR_MEMORY_DB_FOUND" "A database of the Python version, whose memory is not imported yet, or of another program is where durable memory is kept; it was not touched."
    MemoryDbError "DOCTOR_MEMORY_DB_ERROR" "Durable memory is damaged or cannot be read."
    MemorySchemaVersion "DOCTOR_MEMORY_SCHEMA_VERSION" "Durable memory has an older or newer schema than this program writes."
    MemoryDbOk "DOCTOR_MEMORY_DB_OK" "SQLite finds no damage in durable memory."
    MemoryDangling "DOCTOR_MEMORY_DANGLING_EVIDENCE" "Memories refer to chunks whose text is elsewhere now."
    MemoryDanglingWarn "DOCTOR_MEMORY_DANGLING_EVIDENCE_WARN" "Memories refer to chunks that changed, are gone, or cannot be checked; the links stay as they are. Never a failure."
    MemoryDanglingOk "DOCTOR_MEMORY_DANGLING_EVIDENCE_OK" "Every chunk that supports a memory has the text it had."

    RunsDisabledWarn "DOCTOR_RUNS_DISABLED_WARN" "`ask` keeps no records. Never a failure."
    RunsNoneYet "DOCTOR_RUNS_NONE_YET" "No run is recorded yet. Never a failure."
    LedgerBroken "DOCTOR_LEDGER_BROKEN" "The ledger of runs was changed, cut or removed, or cannot be read."
    LedgerHeadUnknownWarn "DOCTOR_LEDGER_HEAD_UNKNOWN_WARN" "The ledger's stored head is missing, so a cut end would not be noticed. Never a failure."
    LedgerOk "DOCTOR_LEDGER_OK" "The ledger's hash chain is intact and reaches its stored head."
    RunRecordsDamaged "DOCTOR_RUN_RECORDS_DAMAGED" "Records of runs are changed, missing, or not entered in the ledger."
    RunRecordsOk "DOCTOR_RUN_RECORDS_OK" "Every record is as it was entered in the ledger."
    RunsInterruptedWarn "DOCTOR_RUNS_INTERRUPTED_WARN" "Runs were begun and never ended. Never a failure."
    RunsOpenToOthers "DOCTOR_RUNS_OPEN_TO_OTHERS" "Users other than the owner may read or change records of runs."

    JobRunning "DOCTOR_JOB_RUNNING" "A job is writing right now, so other entries may change. Never a failure."
    StateWritableOk "DOCTOR_STATE_WRITABLE_OK" "The folders for the program's own files can be written, by their permissions."
    StateReadOnlyWarn "DOCTOR_STATE_READ_ONLY_WARN" "A folder for the program's own files cannot be written, so jobs would fail. Never a failure."
}

/// Codes of the Python version, each with the current code for the same problem. A fingerprint
/// combines text preparation and normalisation, so one comparison replaces three checks; another
/// provider has its own names of models.
pub(super) const RETIRED: &[(&str, &str)] = &[
    (
        "DOCTOR_EMBED_PROVIDER_MISMATCH",
        "DOCTOR_EMBED_MODEL_MISMATCH",
    ),
    (
        "DOCTOR_EMBED_PROVIDER_UNSUPPORTED",
        "DOCTOR_PHASE3_CONFIG_INVALID",
    ),
    (
        "DOCTOR_EMBED_CHUNK_PREPROCESS_SIG_MISMATCH",
        "DOCTOR_EMBED_RUNTIME_FINGERPRINT_MISMATCH",
    ),
    (
        "DOCTOR_EMBED_QUERY_PREPROCESS_SIG_MISMATCH",
        "DOCTOR_EMBED_RUNTIME_FINGERPRINT_MISMATCH",
    ),
    (
        "DOCTOR_EMBED_VECTORS_NORMALIZED_INVALID",
        "DOCTOR_EMBED_RUNTIME_FINGERPRINT_MISMATCH",
    ),
];
