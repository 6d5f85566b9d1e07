use super::*;

#[cfg(feature = "embedded-model")]
#[test]
fn the_compiled_in_model_is_what_its_manifest_says() {
    let files = ModelFiles::embedded().unwrap();
    assert_eq!(
        *files.weights_sha256(),
        Sha256::of(files.weights().as_slice())
    );
    assert_eq!(*files.tokenizer_sha256(), Sha256::of(files.tokenizer()));
    assert_eq!((files.window(), files.pooling()), (256, Pooling::Mean));
    assert!(
        verify(EMBEDDED_ID, Path::new("/nonexistent"))
            .unwrap()
            .compared
    );
}

/// A folder that describes a model; its weights are never read here.
fn folder(config: &str, pooling: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("1_Pooling")).unwrap();
    for (path, text) in [
        ("config.json", config),
        ("1_Pooling/config.json", pooling),
        (TOKENIZER, "{}"),
        (WEIGHTS, "weights"),
    ] {
        std::fs::write(dir.path().join(path), text).unwrap();
    }
    dir
}

const BERT: &str = r#"{"model_type":"bert","hidden_size":8,"num_attention_heads":2,"num_hidden_layers":1,
    "intermediate_size":16,"vocab_size":10,"max_position_embeddings":64,"layer_norm_eps":1e-12,"hidden_act":"gelu"}"#;
const MEAN: &str = r#"{"pooling_mode_mean_tokens":true,"pooling_mode_cls_token":false,"word_embedding_dimension":8}"#;

fn refused(dir: &tempfile::TempDir) -> Failure {
    ModelFiles::from_folder("m", dir.path()).unwrap_err()
}

#[test]
fn a_folder_is_read_without_a_manifest_and_the_window_is_the_networks() {
    let dir = folder(BERT, MEAN);
    let files = ModelFiles::from_folder("m", dir.path()).unwrap();
    assert_eq!(*files.weights_sha256(), Sha256::of(b"weights"));
    assert_eq!(files.window(), 64);
    assert_eq!(files.clone().with_window(Some(512)).window(), 64);
    assert_eq!(files.with_window(Some(32)).window(), 32);
}

#[test]
fn what_would_be_computed_wrongly_is_refused() {
    let bad = [
        BERT.replace("\"bert\"", "\"deberta-v2\""),
        BERT.replace("gelu", "gelu_new"),
        BERT.replace("\"num_attention_heads\":2", "\"num_attention_heads\":3"),
        BERT.replace("\"num_attention_heads\":2", "\"num_attention_heads\":0"),
        "{".into(),
    ];
    for config in bad {
        assert_eq!(
            refused(&folder(&config, MEAN)).code,
            ErrorCode::ModelInvalid
        );
    }
    for pooling in [
        r#"{"pooling_mode_max_tokens":true}"#,
        r#"{"pooling_mode_mean_tokens":true,"pooling_mode_cls_token":true}"#,
    ] {
        assert_eq!(
            refused(&folder(BERT, pooling)).code,
            ErrorCode::ModelInvalid
        );
    }
    let before_pooling = r#"[{"type":"sentence_transformers.models.Dense","path":"1_Dense"}]"#;
    let unknown = r#"[{"type":"sentence_transformers.models.CNN"}]"#;
    let outside = r#"[{"type":"a.Pooling"},{"type":"a.Dense","path":"../x"}]"#;
    let after_normalize =
        r#"[{"type":"a.Pooling"},{"type":"a.Normalize"},{"type":"a.Dense","path":"2_Dense"}]"#;
    for (modules, word) in [
        (before_pooling, "`Dense`"),
        (after_normalize, "after `Normalize`"),
        (unknown, "`CNN`"),
        (outside, "../x"),
    ] {
        let dir = folder(BERT, MEAN);
        std::fs::write(dir.path().join("modules.json"), modules).unwrap();
        assert!(refused(&dir).message.contains(word), "{word}");
    }
}

#[test]
fn sharded_and_pickled_weights_are_refused_with_the_reason() {
    for (other, word) in [
        ("model.safetensors.index.json", "split"),
        ("pytorch_model.bin", "pickle"),
    ] {
        let dir = folder(BERT, MEAN);
        std::fs::rename(dir.path().join(WEIGHTS), dir.path().join(other)).unwrap();
        assert!(refused(&dir).message.contains(word));
    }
}

#[test]
fn verify_records_hashes_once_and_sees_damage_afterwards() {
    let models = tempfile::tempdir().unwrap();
    std::fs::rename(folder(BERT, MEAN).keep(), models.path().join("m")).unwrap();
    assert!(!verify("m", models.path()).unwrap().compared);
    assert!(verify("m", models.path()).unwrap().compared);
    std::fs::write(models.path().join("m").join(WEIGHTS), "WEIGHTS").unwrap();
    assert_eq!(
        verify("m", models.path()).unwrap_err().code,
        ErrorCode::ModelChecksum
    );
}

#[test]
fn a_size_that_changed_makes_the_recorded_hash_void() {
    let models = tempfile::tempdir().unwrap();
    std::fs::rename(folder(BERT, MEAN).keep(), models.path().join("m")).unwrap();
    verify("m", models.path()).unwrap();
    std::fs::write(models.path().join("m").join(WEIGHTS), "other weights").unwrap();
    let files = ModelFiles::find("m", models.path()).unwrap();
    assert_eq!(*files.weights_sha256(), Sha256::of(b"other weights"));
}

#[test]
fn an_id_cannot_name_a_path() {
    for id in ["../m", "a/b", "", ".m", "a\\b", "/etc"] {
        assert_eq!(
            ModelFiles::find(id, Path::new("models")).unwrap_err().code,
            ErrorCode::ModelNotFound,
            "{id:?}"
        );
    }
}

#[test]
fn prompts_in_the_files_win_over_the_registry() {
    let dir = folder(BERT, MEAN);
    let e5 = ModelFiles::from_folder("e5-small-v2", dir.path()).unwrap();
    assert_eq!(
        (e5.prefixes().query.as_str(), e5.prefixes().passage.as_str()),
        ("query: ", "passage: ")
    );
    std::fs::write(
        dir.path().join("config_sentence_transformers.json"),
        r#"{"prompts":{"query":"q: "}}"#,
    )
    .unwrap();
    let own = ModelFiles::from_folder("e5-small-v2", dir.path()).unwrap();
    assert_eq!(
        (
            own.prefixes().query.as_str(),
            own.prefixes().passage.as_str()
        ),
        ("q: ", "")
    );
}

#[test]
fn every_pin_of_the_registry_is_well_formed() {
    for known in KNOWN {
        assert!(
            known
                .revision
                .is_none_or(|r| r.len() == 40 && r.bytes().all(|b| b.is_ascii_hexdigit()))
        );
        assert!(
            known
                .weights_sha256
                .is_none_or(|s| s.parse::<Sha256>().is_ok())
        );
    }
}

#[test]
fn the_list_names_what_is_here_and_what_could_be() {
    let models = tempfile::tempdir().unwrap();
    std::fs::create_dir(models.path().join("mine")).unwrap();
    let listed = list(models.path()).unwrap();
    let state = |id: &str| listed.iter().find(|l| l.id == id).unwrap().state;
    assert_eq!(state("mine"), ModelState::Present);
    assert_eq!(state("e5-small-v2"), ModelState::Absent);
    if cfg!(feature = "embedded-model") {
        assert_eq!(state(EMBEDDED_ID), ModelState::Embedded);
    }
}

#[test]
fn a_model_can_be_named_by_its_repository() {
    assert_eq!(id_of("BAAI/bge-small-en-v1.5"), "bge-small-en-v1.5");
    assert_eq!(id_of("bge-small-en-v1.5"), "bge-small-en-v1.5");
    assert_eq!(id_of("someone/else"), "someone--else");
    let models = tempfile::tempdir().unwrap();
    std::fs::rename(
        folder(BERT, MEAN).keep(),
        models.path().join("someone--else"),
    )
    .unwrap();
    let files = ModelFiles::find("someone/else", models.path()).unwrap();
    assert_eq!(files.id(), "someone--else");
}

#[test]
fn every_known_model_is_of_a_kind_that_can_be_computed() {
    for known in KNOWN {
        let kinds = RUNNABLE.split([',', ' ']);
        assert!(
            kinds.clone().any(|kind| kind == known.network),
            "{}",
            known.id
        );
    }
}
