//! `models list`, `models verify`.

use insta::assert_snapshot;

use crate::harness::World;
use local_agent_embed::embedding::fingerprint;
use local_agent_embed::models::{ModelFiles, Precision, built_in_ids};
use local_agent_index::profile::Profile;

#[test]
fn known_models_are_listed() {
    let world = World::empty();
    assert_snapshot!(world.ok(&["models", "list"]).stdout, @r"
      Qwen3-Embedding-0.6B                   absent    1192 MB  32768 tokens  a hundred languages
      all-MiniLM-L12-v2                      absent    133 MB  128 tokens  English
    * all-MiniLM-L6-v2                       embedded  256 tokens  English  cosines of unrelated texts: 0.08 ± 0.09
      all-mpnet-base-v2                      absent    438 MB  384 tokens  English
      bge-base-en-v1.5                       absent    438 MB  512 tokens  English
      bge-reranker-base                      absent    reranker  1112 MB  512 tokens  English, Chinese
      bge-reranker-v2-m3                     absent    reranker  2271 MB  8192 tokens  a hundred languages
      bge-small-en-v1.5                      absent    133 MB  512 tokens  English
      e5-small-v2                            absent    133 MB  512 tokens  English
      gte-multilingual-base                  absent    611 MB  8192 tokens  seventy languages
      gte-small                              absent    67 MB  512 tokens  English
      modernbert-embed-base                  absent    596 MB  8192 tokens  English
      ms-marco-MiniLM-L-6-v2                 absent    reranker  91 MB  512 tokens  English
      multilingual-e5-base                   absent    1112 MB  512 tokens  a hundred languages
      multilingual-e5-small                  embedded  512 tokens  a hundred languages  cosines of unrelated texts: 0.77 ± 0.02
      nomic-embed-text-v1.5                  absent    547 MB  2048 tokens  English
      paraphrase-multilingual-MiniLM-L12-v2  absent    471 MB  128 tokens  fifty languages
      potion-base-8M                         absent    30 MB  English
      potion-multilingual-128M               absent    512 MB  a hundred languages
      snowflake-arctic-embed-m-v2.0          absent    1221 MB  8192 tokens  seventy languages
      snowflake-arctic-embed-s               absent    133 MB  512 tokens  English
      snowflake-arctic-embed-xs              absent    90 MB  512 tokens  English
    * is in use here
    ");
    let body = world.json(&["models", "list"]);
    let state = |id: &str| {
        let models = body["models"].as_array().unwrap();
        let model = models.iter().find(|model| model["id"] == id).unwrap();
        model["state"].clone()
    };
    assert_eq!(state("all-MiniLM-L6-v2"), "embedded");
    assert_eq!(state("bge-small-en-v1.5"), "absent");
}

#[test]
fn the_embedded_model_is_what_it_was_made_of() {
    let world = World::empty();
    // The last digits differ on a processor without bf16.
    let stdout = world.ok(&["models", "verify"]).stdout;
    let (before, digits) = stdout.split_at(stdout.find("0.99").unwrap() + 4);
    assert!(digits.starts_with(|c: char| c.is_ascii_digit()));
    assert_snapshot!(
        before,
        @"all-MiniLM-L6-v2  matches its recorded hashes; its vectors are those of a second implementation (10 texts, cosine at least 0.99"
    );
    let body = world.json(&["models", "verify", "all-MiniLM-L6-v2"]);
    assert_eq!(
        (
            &body["verified"][0]["compared"],
            &body["verified"][0]["texts_embedded"]
        ),
        (&true.into(), &10.into())
    );
    assert!(body["verified"][0]["least_cosine"].as_f64().unwrap() > 0.997);
    assert!(
        body["verified"][0]["files"]
            .as_array()
            .unwrap()
            .iter()
            .all(|f| f["sha256"].as_str().unwrap().len() == 64)
    );
}

#[test]
fn the_model_for_many_languages_is_what_a_second_implementation_computes() {
    let world = World::empty();
    let body = world.json(&["models", "verify", "multilingual-e5-small"]);
    assert!(body["verified"][0]["least_cosine"].as_f64().unwrap() > 0.997);
}

#[test]
fn what_is_verified_is_computed_as_the_configuration_says() {
    let world = World::empty();
    world.write("local-agent.yaml", "embed:\n  precision: f32\n");
    let body = world.json(&["models", "verify", "all-MiniLM-L6-v2"]);
    assert!(body["verified"][0]["least_cosine"].as_f64().unwrap() > 0.999_99);
    world.write("local-agent.yaml", "embed:\n  precision: f23\n");
    assert_eq!(
        world.fails(&["models", "verify", "--json"])["error_code"],
        "CONFIG_ERROR"
    );
}

#[test]
fn a_model_that_is_not_here_is_named() {
    let world = World::empty();
    let failure = world.fails(&["models", "verify", "bge-small-en-v1.5", "--json"]);
    assert_eq!(failure["error_code"], "MODEL_NOT_FOUND");
    assert_eq!(failure["hint"], "local-agent models pull bge-small-en-v1.5");
}

#[test]
fn every_built_in_model_has_a_shipped_profile_in_every_precision() {
    let mut without = Vec::new();
    for id in built_in_ids() {
        for precision in [
            Precision::F32,
            Precision::Bf16,
            Precision::Mixed,
            Precision::Int8,
        ] {
            let files = ModelFiles::built_in(id).unwrap().with_precision(precision);
            let fingerprint = fingerprint(&files);
            if Profile::shipped(&fingerprint).is_none() {
                without.push(format!("{id} {precision:?} {fingerprint}"));
            }
        }
    }
    assert_eq!(without, Vec::<String>::new());
}

#[test]
fn a_model_that_is_compiled_in_is_not_pulled() {
    let world = World::with(&[]);
    let args = [
        "models",
        "pull",
        "all-MiniLM-L6-v2",
        "--endpoint",
        "http://127.0.0.1:9",
    ];
    let said = world.ok(&args).stdout;
    assert_eq!(
        said,
        "all-MiniLM-L6-v2  is compiled into this program\nnext: local-agent embed --model all-MiniLM-L6-v2\n"
    );
    assert_eq!(world.json(&args)["trust"], "compiled_in");
}
