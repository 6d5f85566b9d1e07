//! Documents whose bytes are not their text: canvases, HTML, DOCX, PDF. The extracted text is
//! indexed, shown, cited and compared.

use std::fs;
use std::io::{Cursor, Write as _};

use local_agent_text::types::Sha256;
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::harness::World;

const SOURCES: &str =
    "sources:\n  - name: notes\n    root: .\n    extensions: [.canvas, .html, .htm, .docx, .pdf]\n";

const BOARD: &str = r##"{
	"nodes":[
		{"id":"a","type":"text","text":"# Carp\n\nThe pond holds \"forty\" carp in April.","x":20,"y":20,"width":90,"height":50},
		{"id":"b","type":"file","file":"bread.md","x":900,"y":0,"width":10,"height":10},
		{"id":"g","type":"group","x":0,"y":0,"width":400,"height":400,"label":"Water"}
	],
	"edges":[
		{"id":"e","fromNode":"b","toNode":"a","label":"crumbs feed"}
	]
}
"##;

const PAGE: &str = "<html><head><title>Kiln</title><style>h1 { color: red }</style></head><body>\
    <h1>Kiln log</h1><p>The celadon glaze is fired at <b>1240&nbsp;degrees</b>.</p><script>secret()</script></body></html>";

fn docx(paragraphs: &str) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("word/document.xml", SimpleFileOptions::default())
        .unwrap();
    write!(
        zip,
        "<w:document><w:body>{paragraphs}</w:body></w:document>"
    )
    .unwrap();
    zip.finish().unwrap().into_inner()
}

fn paragraph(words: &str) -> String {
    format!("<w:p><w:r><w:t>{words}</w:t></w:r></w:p>")
}

/// A vault with one document of each kind that every build reads, indexed.
fn world() -> World {
    let world = World::with(&[
        ("bread.md", "# Bread\n\nThe bread rests for nine hours.\n"),
        ("board.canvas", BOARD),
        ("kiln.html", PAGE),
    ]);
    world.write("local-agent.yaml", SOURCES);
    let lease = [
        paragraph("The lease of the mill ends in October &amp; renews yearly."),
        paragraph("The deposit is 2,400 crowns."),
    ];
    put(&world, "lease.docx", &docx(&lease.concat()));
    world.ok(&["index"]);
    world
}

fn put(world: &World, path: &str, bytes: &[u8]) {
    fs::write(world.vault().join(path), bytes).unwrap();
}

fn first(world: &World, query: &str) -> serde_json::Value {
    world.json(&["query", query, "--min-score", "0"])["hits"][0].clone()
}

#[test]
fn each_kind_is_found_read_asked_and_cited() {
    let world = world();
    assert_eq!(world.json(&["status"])["documents"], 4);
    let carp = first(&world, "forty carp");
    assert_eq!(carp["rel_path"], "board.canvas");
    let shown = world
        .ok(&["query", "forty carp", "--min-score", "0"])
        .stdout;
    assert!(
        shown.contains("board › Water › line 3 of the file › Carp"),
        "{shown}"
    );
    assert_eq!(first(&world, "celadon glaze")["rel_path"], "kiln.html");
    assert_eq!(first(&world, "celadon glaze")["title"], "Kiln log");
    assert_eq!(first(&world, "deposit crowns")["rel_path"], "lease.docx");
    let lease = world.ok(&["get", "lease.docx"]).stdout;
    assert!(
        lease.contains("ends in October & renews yearly."),
        "{lease}"
    );
    assert!(!world.ok(&["get", "kiln.html"]).stdout.contains("secret"));
    let key = format!("#{}", carp["chunk_key"].as_str().unwrap());
    assert!(
        world
            .ok(&["get", &key])
            .stdout
            .contains("The pond holds \"forty\" carp")
    );
    let answer = world
        .ok(&["ask", "How many carp does the pond hold in April?"])
        .stdout;
    assert!(
        answer.contains("The pond holds \"forty\" carp in April."),
        "{answer}"
    );
    assert!(
        answer.contains("board.canvas:11 › Water › line 3 of the file"),
        "{answer}"
    );
    assert!(answer.contains(" of its text\n"), "{answer}");
    assert!(
        answer.contains("1 statement, word for word from your notes"),
        "{answer}"
    );
    let links = world.json(&["backlinks", "bread.md"]);
    assert_eq!(links["backlinks"][0]["note"], "notes:board.canvas");
    world.ok(&["doctor", "--no-ollama"]);
}

/// The bytes of an evidence item are bytes of the text that `get` shows for its file.
#[test]
fn evidence_is_a_slice_of_the_text_that_is_read() {
    let world = world();
    for (question, path) in [
        ("How many carp does the pond hold in April?", "board.canvas"),
        (
            "At how many degrees is the celadon glaze fired?",
            "kiln.html",
        ),
        ("What is the deposit of the mill?", "lease.docx"),
    ] {
        let body = world.json(&["ask", question]);
        let item = &body["evidence"][0];
        assert_eq!(item["rel_path"], path, "{body}");
        let read = world.json(&["get", path]);
        let text = read["text"].as_str().unwrap();
        let at = |key: &str| usize::try_from(item[key].as_u64().unwrap()).unwrap();
        let slice = &text[at("start_byte")..at("end_byte")];
        let hash = Sha256::of(slice.as_bytes()).to_string();
        assert_eq!(item["text_sha256"], hash, "{body}");
        let run = world.ok(&["runs", "replay", "last"]).stdout;
        assert!(run.contains("the same report"), "{run}");
    }
}

#[test]
fn a_document_that_changed_is_stale_until_it_is_indexed_again() {
    let world = world();
    let moved = BOARD.replace("\"x\":20,", "\"x\":21,");
    world.write("board.canvas", &moved);
    let run = world.json(&["index"]);
    assert_eq!(
        (&run["docs_changed"], &run["chunks_written"]),
        (&0.into(), &0.into()),
        "{run}"
    );
    world.write("board.canvas", &moved.replace("forty", "fifty"));
    let lease = paragraph("The lease of the mill ends in March.");
    put(&world, "lease.docx", &docx(&lease));
    let stale = world.json(&["status"])["stale"].to_string();
    assert!(
        stale.contains("2 changed") || stale.contains("board.canvas"),
        "{stale}"
    );
    let answer = world.ok(&["ask", "How many carp does the pond hold in April?"]);
    assert!(
        !answer.stdout.contains("\"forty\" carp"),
        "{}",
        answer.stdout
    );
    let run = world.json(&["index"]);
    assert_eq!(run["docs_changed"], 2, "{run}");
    let answer = world.ok(&["ask", "How many carp does the pond hold in April?"]);
    assert!(
        answer.stdout.contains("\"fifty\" carp"),
        "{}",
        answer.stdout
    );
    assert_eq!(first(&world, "lease March")["rel_path"], "lease.docx");
    assert!(
        world.json(&["status"])["stale"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| { !one["fix"].as_str().unwrap().ends_with(" index") })
    );
}

#[test]
fn hostile_documents_are_left_out_and_said() {
    let world = world();
    let bomb = docx(&format!("<w:p>{}</w:p>", " ".repeat(70 << 20)));
    put(&world, "bomb.docx", &bomb);
    let whole = docx(&paragraph("whole"));
    put(&world, "cut.docx", &whole[..whole.len() - 30]);
    world.write("page.docx", PAGE);
    world.write("broken.canvas", "{\"nodes\":[");
    world.write(
        "deep.canvas",
        &format!("{{\"nodes\":[{}]}}", "[".repeat(100_000)),
    );
    put(&world, "latin.html", b"<p>caf\xe9</p>");
    world.write("deep.html", &"<div>".repeat(200_000));
    for run in 0..2 {
        let said = world.ok(&["index"]).stdout;
        for name in [
            "bomb.docx",
            "cut.docx",
            "page.docx",
            "broken.canvas",
            "deep.canvas",
            "latin.html",
        ] {
            let line = format!("skipped: notes:{name} (not_extracted)\n");
            assert!(said.contains(&line), "run {run}, {name}: {said}");
        }
    }
    let status = world.json(&["status"]);
    assert_eq!(
        (&status["documents"], &status["skipped_files"]),
        (&5.into(), &6.into())
    );
    assert_eq!(status["skipped_kinds"][0]["extension"], ".docx");
    assert_eq!(status["skipped_kinds"][0]["files"], 3);
    assert!(
        world
            .ok(&["status"])
            .stdout
            .contains("skipped: 3 .docx (not_extracted)\n")
    );
    let refused = world.run(&["get", "bomb.docx"]);
    assert!(
        refused.stderr.contains("it unpacks to more than 64 MiB"),
        "{}",
        refused.stderr
    );
    assert_eq!(world.code(&["get", "cut.docx"]), "FILE_READ_ERROR");
    assert_eq!(first(&world, "celadon glaze")["rel_path"], "kiln.html");
}

#[cfg(not(feature = "pdf"))]
#[test]
fn a_build_that_cannot_read_a_kind_counts_and_names_it() {
    let world = world();
    put(&world, "a.pdf", b"%PDF-1.7");
    put(&world, "b.PDF", b"%PDF-1.7");
    let said = world.ok(&["index"]).stdout;
    let line = "skipped: 2 .pdf (not_built: this program was built without support for PDF)\n";
    assert!(said.contains(line), "{said}");
    assert!(world.ok(&["status"]).stdout.contains(line));
    let refused = world.run(&["get", "a.pdf"]);
    assert!(
        refused.stderr.contains("--features pdf"),
        "{}",
        refused.stderr
    );
    world.write("local-agent.yaml", "sources:\n  - {name: notes, root: .}\n");
    let said = world.ok(&["index"]).stdout;
    assert!(
        said.contains("left out: 5 files, not notes (2 .pdf, "),
        "{said}"
    );
    assert!(
        said.contains("  .canvas become documents by `extensions: [.canvas]` of their source\n")
    );
    assert!(said.contains(
        "  .pdf become documents by another build: this program was built without support for PDF\n"
    ));
}

#[cfg(feature = "pdf")]
#[test]
fn pages_of_a_pdf_are_places() {
    let world = world();
    let content = "BT /F1 12 Tf 72 700 Td (The boiler is serviced every ninth month.) Tj ET";
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [4 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_owned(),
        "<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>"
            .to_owned(),
        format!(
            "<< /Length {} >>\nstream\n{content}\nendstream",
            content.len()
        ),
    ];
    let mut pdf = "%PDF-1.4\n".to_owned();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (n, object) in objects.iter().enumerate() {
        table.push_str(&format!("{:010} 00000 n \n", pdf.len()));
        pdf.push_str(&format!("{} 0 obj\n{object}\nendobj\n", n + 1));
    }
    let start = pdf.len();
    pdf.push_str(&format!(
        "{table}trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1
    ));
    world.write("boiler.pdf", &pdf);
    world.write("broken.pdf", "%PDF-1.4 no more");
    let said = world.ok(&["index"]).stdout;
    assert!(
        said.contains("skipped: notes:broken.pdf (not_extracted)\n"),
        "{said}"
    );
    let answer = world
        .ok(&["ask", "How often is the boiler serviced?"])
        .stdout;
    assert!(answer.contains("every ninth month"), "{answer}");
    assert!(answer.contains("boiler.pdf › page 1, "), "{answer}");
}
