use super::*;
use crate::models::{ModelFiles, TOKENIZER};
use local_agent_testing::server::{Seen, Server, Step, serve};
use local_agent_text::types::Sha256;
use std::sync::atomic::{AtomicUsize, Ordering};

const REVISION: &str = "0123456789abcdef0123456789abcdef01234567";
const WEIGHT_BYTES: &[u8] = &[7; 300_000];

fn content(file: &str) -> Option<Vec<u8>> {
    Some(match file {
        "config.json" => br#"{"model_type":"bert","hidden_size":8,"num_attention_heads":2,"num_hidden_layers":1,
            "intermediate_size":16,"vocab_size":10,"max_position_embeddings":64,"layer_norm_eps":1e-12,
            "hidden_act":"gelu"}"#
            .to_vec(),
        "1_Pooling/config.json" => br#"{"pooling_mode_cls_token":true}"#.to_vec(),
        TOKENIZER => b"{}".to_vec(),
        WEIGHTS => WEIGHT_BYTES.to_vec(),
        _ => return None,
    })
}

/// The reply of a hub's server for the requested part of `bytes`.
fn part(seen: &Seen, bytes: &[u8], commit: &str, etag: &str) -> Vec<u8> {
    let (from, to) = range(seen, bytes.len());
    let body = &bytes[from..to];
    let mut reply = format!(
        "HTTP/1.1 206 Partial\r\nx-repo-commit: {commit}\r\netag: \"{etag}\"\r\naccept-ranges: bytes\r\n\
         content-range: bytes {from}-{}/{}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        to.saturating_sub(1),
        bytes.len(),
        body.len()
    )
    .into_bytes();
    reply.extend_from_slice(body);
    reply
}

fn range(seen: &Seen, len: usize) -> (usize, usize) {
    let range = seen
        .header("range")
        .and_then(|r| r.strip_prefix("bytes="))
        .unwrap_or("0-");
    let (from, to) = range.split_once('-').unwrap();
    (
        from.parse::<usize>().unwrap().min(len),
        to.parse::<usize>().map_or(len, |to| (to + 1).min(len)),
    )
}

fn file_of(seen: &Seen) -> Option<String> {
    Some(
        seen.path
            .split_once(&format!("/resolve/{REVISION}/"))?
            .1
            .to_owned(),
    )
}

fn not_found() -> Vec<Step> {
    vec![Step::Bytes(
        b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec(),
    )]
}

/// A hub that works correctly, except that `twist` can change the reply for one file.
fn hub(twist: impl Fn(&Seen, &str, &[u8]) -> Option<Vec<Step>> + Send + Sync + 'static) -> Server {
    serve(move |seen| {
        let Some((file, bytes)) =
            file_of(seen).and_then(|file| content(&file).map(|bytes| (file, bytes)))
        else {
            return not_found();
        };
        twist(seen, &file, &bytes).unwrap_or_else(|| {
            vec![Step::Bytes(part(
                seen,
                &bytes,
                REVISION,
                &Sha256::of(&bytes).to_string(),
            ))]
        })
    })
}

fn options(server: &Server) -> PullOptions {
    PullOptions {
        endpoint: server.url(""),
        repo: Some("owner/m".into()),
        revision: Some(REVISION.into()),
        max_bytes: 1 << 20,
        idle: Duration::from_secs(20),
    }
}

fn pull_from(server: &Server, dir: &Path) -> Result<Pulled> {
    pull("m", dir, &options(server), &mut |_| ())
}

fn nothing_published(dir: &Path) {
    assert!(!dir.join("m").exists());
}

#[test]
fn a_pull_brings_a_whole_model_and_the_next_one_nothing() {
    let (server, dir) = (hub(|_, _, _| None), tempfile::tempdir().unwrap());
    let mut last = None;
    let pulled = pull("m", dir.path(), &options(&server), &mut |p| {
        if p.file == WEIGHTS {
            last = Some((p.bytes, p.total));
        }
    })
    .unwrap();
    assert_eq!(last, Some((300_000, 300_000)));
    assert_eq!(
        (pulled.manifest.trust, pulled.already_here),
        (Trust::FirstUse, false)
    );
    let files = ModelFiles::find("m", dir.path()).unwrap();
    assert_eq!(files.weights().as_slice(), WEIGHT_BYTES);
    assert_eq!(*files.weights_sha256(), Sha256::of(WEIGHT_BYTES));
    // Only the model remains: no staging folder, no lock.
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    let hits = server.hits();
    assert!(pull_from(&server, dir.path()).unwrap().already_here);
    assert_eq!(server.hits(), hits);
}

#[test]
fn a_damaged_model_is_pulled_again() {
    let (server, dir) = (hub(|_, _, _| None), tempfile::tempdir().unwrap());
    let folder = pull_from(&server, dir.path()).unwrap().folder;
    fs::write(folder.join(WEIGHTS), "damaged").unwrap();
    assert!(!pull_from(&server, dir.path()).unwrap().already_here);
    assert_eq!(fs::read(folder.join(WEIGHTS)).unwrap(), WEIGHT_BYTES);
}

#[test]
fn bytes_that_are_not_what_was_announced_are_refused() {
    let server = hub(|seen, file, bytes| {
        let mut other = bytes.to_vec();
        other[0] ^= 1;
        (file == WEIGHTS).then(|| {
            vec![Step::Bytes(part(
                seen,
                &other,
                REVISION,
                &Sha256::of(bytes).to_string(),
            ))]
        })
    });
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(
        pull_from(&server, dir.path()).unwrap_err().code,
        ErrorCode::ModelChecksum
    );
    nothing_published(dir.path());
}

#[test]
fn pinned_weights_are_compared_with_our_own_hash() {
    let known = known("bge-small-en-v1.5").unwrap();
    let server = serve(move |seen| {
        let file = seen
            .path
            .split_once("/resolve/")
            .and_then(|(_, rest)| rest.split_once('/'))
            .map(|(_, f)| f);
        let Some(bytes) = file.and_then(content) else {
            return not_found();
        };
        let etag = Sha256::of(&bytes).to_string();
        vec![Step::Bytes(part(
            seen,
            &bytes,
            known.revision.unwrap(),
            &etag,
        ))]
    });
    let dir = tempfile::tempdir().unwrap();
    let options = PullOptions {
        endpoint: server.url(""),
        ..PullOptions::default()
    };
    let failure = pull(known.id, dir.path(), &options, &mut |_| ()).unwrap_err();
    assert_eq!(failure.code, ErrorCode::ModelChecksum);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_connection_that_breaks_off_is_taken_up_where_it_stopped() {
    let asked = std::sync::Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    let server = hub(move |seen, file, bytes| {
        let whole = part(seen, bytes, REVISION, &Sha256::of(bytes).to_string());
        let (from, to) = range(seen, bytes.len());
        // The request for the size asks for one byte.
        if file != WEIGHTS || to - from <= 1 {
            return None;
        }
        match counter.fetch_add(1, Ordering::SeqCst) {
            0 => Some(vec![Step::Bytes(whole[..100_000].to_vec())]),
            _ => {
                assert!(from > 50_000, "asked again from {from}");
                None
            }
        }
    });
    let dir = tempfile::tempdir().unwrap();
    pull_from(&server, dir.path()).unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[test]
fn an_interrupted_pull_goes_on_in_the_next_process() {
    let broken = hub(|seen, file, bytes| {
        let (from, to) = range(seen, bytes.len());
        let cut = from + (to - from) / 3;
        (file == WEIGHTS && to - from > 1).then(|| {
            let whole = part(seen, bytes, REVISION, &Sha256::of(bytes).to_string());
            vec![Step::Bytes(whole[..whole.len() - (to - cut)].to_vec())]
        })
    });
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(
        pull_from(&broken, dir.path()).unwrap_err().code,
        ErrorCode::ModelPull
    );
    nothing_published(dir.path());
    let least = std::sync::Arc::new(AtomicUsize::new(0));
    let from = least.clone();
    let whole = hub(move |seen, file, bytes| {
        assert_eq!(file, WEIGHTS, "{file} was there already");
        from.fetch_max(range(seen, bytes.len()).0, Ordering::SeqCst);
        None
    });
    pull_from(&whole, dir.path()).unwrap();
    assert!(least.load(Ordering::SeqCst) > 100_000);
}

#[test]
fn a_file_above_the_limit_is_not_downloaded() {
    let (server, dir) = (hub(|_, _, _| None), tempfile::tempdir().unwrap());
    let small = PullOptions {
        max_bytes: 1000,
        ..options(&server)
    };
    let failure = pull("m", dir.path(), &small, &mut |p| {
        assert_ne!(p.file, WEIGHTS);
    })
    .unwrap_err();
    assert_eq!(failure.code, ErrorCode::ModelPull);
    assert!(failure.message.contains("300000 bytes"), "{failure}");
}

#[test]
fn s41_more_bytes_than_announced_end_the_download() {
    let server = hub(|seen, file, bytes| {
        let (from, to) = range(seen, bytes.len());
        (file == WEIGHTS && to - from > 1).then(|| {
            // No length: the reply never ends.
            let head = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec();
            std::iter::once(Step::Bytes(head))
                .chain((0..1000).map(|_| Step::Bytes(vec![7; 100_000])))
                .collect()
        })
    });
    let dir = tempfile::tempdir().unwrap();
    let failure = pull_from(&server, dir.path()).unwrap_err();
    assert_eq!(failure.code, ErrorCode::ModelPull);
    assert!(
        failure.message.contains("more than it announced"),
        "{failure}"
    );
    nothing_published(dir.path());
}

#[test]
fn s41_a_silent_server_ends_the_wait() {
    let server = hub(|_, _, _| Some(vec![Step::Wait(Duration::from_secs(60))]));
    let dir = tempfile::tempdir().unwrap();
    let impatient = PullOptions {
        idle: Duration::from_millis(300),
        ..options(&server)
    };
    let failure = pull("m", dir.path(), &impatient, &mut |_| ()).unwrap_err();
    assert!(failure.message.contains("silent"), "{failure}");
}

#[test]
fn s41_bytes_from_another_host_count_only_with_the_right_hash() {
    // Hubs redirect large files to a store on another host.
    for (flip, expected) in [(0, None), (1, Some(ErrorCode::ModelChecksum))] {
        let store = serve(move |seen| {
            let mut bytes = WEIGHT_BYTES.to_vec();
            bytes[0] ^= flip;
            vec![Step::Bytes(part(seen, &bytes, REVISION, "store"))]
        });
        let to = store.url("/blob");
        let server = hub(move |_, file, bytes| {
            (file == WEIGHTS).then(|| {
                let head = format!(
                    "HTTP/1.1 302 Found\r\nlocation: {to}\r\nx-repo-commit: {REVISION}\r\nx-linked-etag: \"{}\"\r\n\
                     content-length: 0\r\nconnection: close\r\n\r\n",
                    Sha256::of(bytes)
                );
                vec![Step::Bytes(head.into_bytes())]
            })
        });
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(
            pull_from(&server, dir.path()).err().map(|f| f.code),
            expected
        );
        assert!(store.hits() > 0);
    }
}

#[test]
fn names_that_the_server_chooses_cannot_leave_the_staging_folder() {
    for (commit, etag) in [
        ("../../../evil", "abc"),
        (REVISION, "../../evil"),
        (REVISION, "a.b"),
        (REVISION, ""),
    ] {
        let server =
            hub(move |seen, _, bytes| Some(vec![Step::Bytes(part(seen, bytes, commit, etag))]));
        let dir = tempfile::tempdir().unwrap();
        let failure = pull_from(&server, dir.path()).unwrap_err();
        assert_eq!(failure.code, ErrorCode::ModelPull);
        assert!(!failure.message.contains(".."), "{failure}");
        nothing_published(dir.path());
    }
}

#[test]
fn a_repository_without_safetensors_is_refused() {
    let server = hub(|_, file, _| (file == WEIGHTS).then(not_found));
    let dir = tempfile::tempdir().unwrap();
    let failure = pull_from(&server, dir.path()).unwrap_err();
    assert_eq!(failure.code, ErrorCode::ModelInvalid);
    assert!(failure.message.contains("pickled"), "{failure}");
    nothing_is_left(dir.path());
}

/// What was downloaded of a model that cannot run is removed.
fn nothing_is_left(models_dir: &Path) {
    assert_eq!(fs::read_dir(models_dir).unwrap().count(), 0);
}

#[test]
fn a_server_that_is_down_or_angry_is_a_pull_error() {
    let server = serve(|_| {
        vec![Step::Bytes(
            b"HTTP/1.1 500 X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec(),
        )]
    });
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(
        pull_from(&server, dir.path()).unwrap_err().code,
        ErrorCode::ModelPull
    );
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let nobody = PullOptions {
        endpoint: format!("http://{free}"),
        ..options(&server)
    };
    assert_eq!(
        pull("m", dir.path(), &nobody, &mut |_| ())
            .unwrap_err()
            .code,
        ErrorCode::ModelPull
    );
}

#[test]
fn a_commit_is_never_guessed() {
    let (server, dir) = (hub(|_, _, _| None), tempfile::tempdir().unwrap());
    for revision in [
        None,
        Some("../main".to_owned()),
        Some("a branch".to_owned()),
    ] {
        let bad = PullOptions {
            revision,
            ..options(&server)
        };
        assert_eq!(
            pull("m", dir.path(), &bad, &mut |_| ()).unwrap_err().code,
            ErrorCode::InvalidArgs
        );
    }
    for repo in [
        None,
        Some("m".to_owned()),
        Some("a/b/c".to_owned()),
        Some("../m".to_owned()),
        Some("a/b?c".to_owned()),
    ] {
        let bad = PullOptions {
            repo,
            ..options(&server)
        };
        assert_eq!(
            pull("m", dir.path(), &bad, &mut |_| ()).unwrap_err().code,
            ErrorCode::InvalidArgs
        );
    }
    assert_eq!(server.hits(), 0);
}

#[test]
fn a_branch_is_looked_up_once_and_its_commit_is_pulled() {
    let server = serve(move |seen| {
        // The branch is asked for its commit alone.
        if let Some((_, file)) = seen.path.split_once("/resolve/main/") {
            assert_eq!(file, "config.json");
            let bytes = content(file).unwrap();
            return vec![Step::Bytes(part(seen, &bytes, REVISION, "abc"))];
        }
        let of_commit = file_of(seen).and_then(|file| content(&file));
        of_commit.map_or_else(not_found, |bytes| {
            let hash = Sha256::of(&bytes).to_string();
            vec![Step::Bytes(part(seen, &bytes, REVISION, &hash))]
        })
    });
    let dir = tempfile::tempdir().unwrap();
    let at = |revision: &str| PullOptions {
        revision: Some(revision.to_owned()),
        ..options(&server)
    };
    let pulled = pull("m", dir.path(), &at("main"), &mut |_| ()).unwrap();
    assert_eq!(pulled.manifest.revision.as_deref(), Some(REVISION));
    let again = pull("m", dir.path(), &at("main"), &mut |_| ()).unwrap();
    assert!(again.already_here);
    let failure = pull("m", dir.path(), &at("nosuch"), &mut |_| ()).unwrap_err();
    assert_eq!(failure.code, ErrorCode::InvalidArgs);
    assert!(failure.message.contains("no branch or tag"), "{failure}");
}

/// A hub with the files of a tiny model.
fn hub_of(name: &'static str) -> Server {
    let all = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/encoders");
    let folder = Path::new(all).join(name);
    serve(move |seen| {
        let bytes = file_of(seen).and_then(|file| fs::read(folder.join(file)).ok());
        bytes.map_or_else(not_found, |bytes| {
            let hash = Sha256::of(&bytes).to_string();
            vec![Step::Bytes(part(seen, &bytes, REVISION, &hash))]
        })
    })
}

#[test]
fn dense_layers_are_pulled_recorded_and_verified() {
    let (server, dir) = (hub_of("gemma3"), tempfile::tempdir().unwrap());
    let pulled = pull_from(&server, dir.path()).unwrap();
    let recorded = |path: &str| pulled.manifest.sha256(path).is_some();
    assert!(recorded("2_Dense/model.safetensors") && recorded("3_Dense/config.json"));
    let layer = dir.path().join("m/3_Dense/model.safetensors");
    let mut bytes = fs::read(&layer).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&layer, bytes).unwrap();
    let damage = crate::models::verify("m", dir.path()).unwrap_err();
    assert_eq!(damage.code, ErrorCode::ModelChecksum);
    assert!(damage.message.contains("3_Dense"), "{}", damage.message);
}

#[test]
fn a_table_is_pulled_without_a_description_of_its_pooling() {
    let (server, dir) = (hub_of("table"), tempfile::tempdir().unwrap());
    pull_from(&server, dir.path()).unwrap();
    let files = ModelFiles::find("m", dir.path()).unwrap();
    assert_eq!(files.dimensions(), 16);
}

/// The description of a reranker with a network of this kind.
fn reranker_config(kind: &str) -> Vec<u8> {
    let config = String::from_utf8(content("config.json").unwrap()).unwrap();
    let described =
        format!(r#"{{"architectures":["AForSequenceClassification"],"model_type":"{kind}""#);
    config
        .replace(r#"{"model_type":"bert""#, &described)
        .into_bytes()
}

#[test]
fn a_reranker_needs_no_pooling_and_one_that_cannot_run_is_refused_before_its_weights() {
    for (kind, weights) in [("bert", 1), ("deberta-v2", 0)] {
        let asked = std::sync::Arc::new(AtomicUsize::new(0));
        let seen_weights = std::sync::Arc::clone(&asked);
        let server = hub(move |seen, file, _| match file {
            "config.json" => {
                let config = reranker_config(kind);
                let etag = Sha256::of(&config).to_string();
                Some(vec![Step::Bytes(part(seen, &config, REVISION, &etag))])
            }
            "1_Pooling/config.json" => Some(not_found()),
            WEIGHTS => {
                seen_weights.store(1, Ordering::Relaxed);
                None
            }
            _ => None,
        });
        let dir = tempfile::tempdir().unwrap();
        let pulled = pull_from(&server, dir.path());
        assert_eq!(asked.load(Ordering::Relaxed), weights, "{kind}");
        if weights == 0 {
            let failure = pulled.unwrap_err();
            assert_eq!(failure.code, ErrorCode::ModelInvalid);
            assert!(failure.message.contains(crate::models::RERANKERS));
            nothing_published(dir.path());
            nothing_is_left(dir.path());
        } else {
            let found = crate::models::RerankerFiles::find("m", dir.path()).unwrap();
            assert_eq!(found.network_files().weights().as_slice(), WEIGHT_BYTES);
            assert!(pull_from(&server, dir.path()).unwrap().already_here);
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let options = PullOptions::default();
    let failure = pull("mxbai-rerank-base-v1", dir.path(), &options, &mut |_| ()).unwrap_err();
    assert_eq!(failure.code, ErrorCode::ModelInvalid);
}
