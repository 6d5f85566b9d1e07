//! `status`.

use insta::assert_snapshot;

use crate::harness::World;

#[test]
fn in_a_fresh_folder_the_way_out_begins_with_a_source() {
    let world = World::empty();
    let run = world.run(&["status"]);
    assert_eq!(
        run.stdout, "Nothing is indexed yet (fix: local-agent init --here)\n",
        "{}",
        run.stderr
    );
}

#[test]
fn nothing_something_everything() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n"), ("b.md", "# B\n\nTwo.\n")]);
    assert_snapshot!(world.ok(&["status"]).stdout, @"Nothing is indexed yet (fix: local-agent index)");
    assert_eq!(world.json(&["status"])["indexed"], false);
    world.ok(&["index"]);
    assert_snapshot!(world.stable(&world.ok(&["status"]).stdout), @r"
    index: 2 documents, 2 chunks
    meaning: 0 of 2 chunks (all-MiniLM-L6-v2)
    model: chosen because no passage of the index is in another language than English
    source: notes (<vault>), 2 documents
    stale: nothing was embedded yet, so meaning is not searched (fix: local-agent embed)
    ");
    world.ok(&["embed"]);
    let run = world.ok(&["status"]);
    assert_eq!(run.stderr, "");
    assert_snapshot!(world.stable(&run.stdout), @r"
    index: 2 documents, 2 chunks
    meaning: 2 of 2 chunks (all-MiniLM-L6-v2)
    model: chosen because no passage of the index is in another language than English
    source: notes (<vault>), 2 documents
    ");
    assert_snapshot!(world.pretty(world.json(&["status"])), @r#"
    {
      "chunks": 2,
      "coverage": {
        "chunks": 2,
        "embedded": 2
      },
      "documents": 2,
      "embed_job": null,
      "embeddings_db": "<vault>/.local-agent/embeddings.sqlite",
      "fingerprint": "<sha256>",
      "index_db": "<vault>/.local-agent/index.sqlite",
      "index_job": null,
      "indexed": true,
      "left_out": [],
      "model": "all-MiniLM-L6-v2",
      "model_reason": "no passage of the index is in another language than English",
      "ok": true,
      "skipped_files": 0,
      "skipped_kinds": [],
      "sources": [
        {
          "documents": 2,
          "kind": "notes",
          "last_scan_unix": <time>,
          "name": "notes",
          "root": "<vault>"
        }
      ],
      "stale": [],
      "vectors_without_say": null
    }
    "#);
}

#[test]
fn without_a_source_the_fix_is_to_name_one() {
    let world = World::empty();
    let said = world.ok(&["status"]).stdout;
    assert_eq!(
        said,
        "Nothing is indexed yet (fix: local-agent init --here)\n"
    );
}
