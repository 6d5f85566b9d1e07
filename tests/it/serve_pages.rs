//! The pages of `serve` other than search and answer: runs, memory, problems, a note with related
//! notes, and an answer in steps.

use serde_json::{Value, json};

use crate::chat_server::{ChatServer, Say};
use crate::harness::World;
use crate::serve::Served;

fn world() -> World {
    let world = World::with(&[
        (
            "zebra.md",
            "# Zebra\n\nThe zebra eats 14 apples a day. See [[lion]].\n\n## Stable\n\n#animals It sleeps at 9.\n",
        ),
        (
            "lion.md",
            "# Lion\n\nThe lion eats meat. It knows the [[zebra]].\n",
        ),
    ]);
    world.ok(&["index"]);
    world
}

const QUESTION: &str = "How many apples does the zebra eat a day?";

#[test]
fn a_note_has_its_outline_the_notes_around_it_and_a_way_into_an_editor() {
    let world = world();
    let served = Served::start(&world, &[]);
    let note = served.get("/note?address=zebra.md").body;
    for part in [
        "<a href=\"#L5\">Stable</a>",
        "<h2>Links to it</h2>",
        "/note?address=notes:lion.md",
        "See <a href=\"/note?address=notes:lion.md\">lion</a>.",
        "<h2 id=\"L5\">Stable</h2>",
        "<h2>Links in it</h2><ul><li><bdi><a href=\"/note?address=notes:lion.md\">notes:lion.md</a></bdi>",
        "href=\"vscode://file/",
        "href=\"obsidian://open?path=",
    ] {
        assert!(note.contains(part), "{part} in {note}");
    }
    let source = served.get("/note?address=zebra.md&view=source").body;
    for part in [
        "<tr id=\"L5\"><th scope=\"row\">5</th><td>## Stable</td></tr>",
        "See <a href=\"/note?address=notes:lion.md\">[[lion]]</a>.",
    ] {
        assert!(source.contains(part), "{part} in {source}");
    }
    let guest = world.json(&["serve", "token", "add", "guest", "--role", "search"]);
    let note = served.get_as(guest["token"].as_str().unwrap(), "/note?address=zebra.md");
    assert!(!note.body.contains("vscode://"), "{}", note.body);
    assert!(
        !note.body.contains(world.root().to_str().unwrap()),
        "{}",
        note.body
    );
}

#[test]
fn a_browser_gets_a_page_for_every_refusal_and_a_program_an_object() {
    let world = world();
    let served = Served::start(&world, &[]);
    let guest = world.json(&["serve", "token", "add", "guest", "--role", "search"]);
    let guest = format!("Bearer {}", guest["token"].as_str().unwrap());
    let owner = served.bearer();
    let host = ("Host", served.address.as_str());
    let accept = ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    for (path, token, status) in [
        ("/", None, 401),
        ("/enter?key=none", None, 403),
        ("/runs", Some(&guest), 403),
        ("/nowhere", Some(&owner), 404),
        ("/run/replay", Some(&owner), 405),
    ] {
        let token = token.map(|token| ("Authorization", token.as_str()));
        let headers: Vec<_> = [host].into_iter().chain(token).collect();
        let line = format!("GET {path}");
        let object = served.with(&line, &headers, "");
        let page = served.with(&line, &[&headers[..], &[accept]].concat(), "");
        assert_eq!((object.status, page.status), (status, status), "{path}");
        let code = object.json()["error_code"].as_str().unwrap().to_owned();
        assert_eq!(
            page.header("content-type"),
            Some("text/html; charset=utf-8")
        );
        assert!(page.header("content-security-policy").is_some());
        assert!(page.body.contains("<!DOCTYPE html>"), "{}", page.body);
        assert!(page.body.contains(&code), "{}", page.body);
    }
    // The interface for programs stays one, whoever asks.
    let api = served.with("GET /api/status", &[host, accept], "");
    api.is_refused(401, "ACCESS_DENIED");
}

#[test]
fn the_page_of_a_note_that_does_not_exist_leads_to_those_with_similar_names() {
    let world = world();
    let served = Served::start(&world, &[]);
    let page = served.get("/note?address=zebar.md");
    assert_eq!(page.status, 404, "{}", page.body);
    let link = "<a href=\"/note?address=notes:zebra.md\">notes:zebra.md</a>";
    assert!(page.body.contains(link), "{}", page.body);
    assert!(!page.body.contains("local-agent get"), "{}", page.body);
    let none = served.get("/note?address=qqqqqqqq.md").body;
    assert!(!none.contains("/note?address="), "{none}");
}

#[test]
fn a_browser_is_told_of_fields_and_pages_and_not_of_commands_and_endpoints() {
    let world = world();
    let served = Served::start(&world, &[]);
    let bearer = served.bearer();
    let host = ("Host", served.address.as_str());
    let token = ("Authorization", bearer.as_str());
    let accept = ("Accept", "text/html");
    let page = |path: &str, token: &[(&str, &str)]| {
        let headers = [&[host, accept], token].concat();
        served.with(&format!("GET {path}"), &headers, "").body
    };
    let stale = page("/", &[("Cookie", "local_agent_session=x")]);
    assert!(
        stale.contains("this browser has no access") && !stale.contains("Bearer"),
        "{stale}"
    );
    let day = page("/?q=zebra&after=2026-13-45", &[token]);
    assert!(
        day.contains("in the field “after”") && !day.contains("--after"),
        "{day}"
    );
    let nowhere = page("/nosuch", &[token]);
    assert!(!nowhere.contains("/api/"), "{nowhere}");
    let missing = page("/note?address=qqqqqq.md", &[token]);
    assert!(!missing.contains("local-agent ls"), "{missing}");
}

#[test]
fn an_empty_memory_names_the_command_that_adds_to_it() {
    let world = world();
    let served = Served::start(&world, &[]);
    let empty = served.get("/memory").body;
    let command = r#"local-agent memory add "…""#;
    assert!(empty.replace("&quot;", "\"").contains(command), "{empty}");
    world.ok(&["memory", "add", "The lion sleeps in the barn"]);
    let page = served.get("/memory").body;
    assert!(page.contains("The lion sleeps in the barn"), "{page}");
}

#[test]
fn a_page_offers_nothing_that_its_visitor_may_not_do() {
    let world = world();
    let served = Served::start(&world, &[]);
    let guest = world.json(&["serve", "token", "add", "guest", "--role", "search"]);
    let start = served.get_as(guest["token"].as_str().unwrap(), "/").body;
    for part in ["href=\"/runs\"", "formaction=\"/ask\""] {
        assert!(served.get("/").body.contains(part), "{part}");
        assert!(!start.contains(part), "{part} in {start}");
    }
    let none = served.get("/runs/compare?a=&b=").body;
    assert!(none.contains("two runs are compared"), "{none}");
}

#[test]
fn a_character_that_moves_others_is_shown_on_every_page_and_moves_nothing() {
    let world = World::with(&[
        (
            "kiln\u{202e}gnp.md",
            "# Kiln \u{202e}gnp\n\nThe kiln \u{2066}fires\u{2069} at 1280 degrees for 9\u{200b} hours.\r\nIt cools.\r\n",
        ),
        (
            "other\u{202e}gnp.md",
            "# Other \u{202e}gnp\n\nSee [[kiln\u{202e}gnp]].\n",
        ),
    ]);
    world.ok(&["index"]);
    world.ok(&["memory", "add", "The \u{202e}kiln is hot."]);
    world.ok(&["ask", "At how many degrees \u{202e}does the kiln fire?"]);
    let served = Served::start(&world, &[]);
    let ask = "q=At+how+many+degrees+%E2%80%AEdoes+the+kiln+fire";
    for (path, part) in [
        ("/?q=kiln".to_owned(), "notes:kiln\\u{202e}gnp.md, line"),
        (
            "/note?address=notes:kiln%E2%80%AEgnp.md".to_owned(),
            "<bdi>notes:kiln\\u{202e}gnp.md</bdi>",
        ),
        (
            "/note?address=notes:kiln%E2%80%AEgnp.md".to_owned(),
            "<h1 id=\"L1\" dir=\"auto\">Kiln \\u{202e}gnp</h1>",
        ),
        (
            "/note?address=gone%E2%80%AE.md".to_owned(),
            "`gone\\u{202e}.md`",
        ),
        (format!("/ask?{ask}"), "degrees \\u{202e}does the kiln"),
        (
            format!("/ask/stream?{ask}"),
            "degrees \\\\u{202e}does the kiln",
        ),
        ("/runs".to_owned(), "degrees \\u{202e}does the kiln"),
        (
            "/run?id=last".to_owned(),
            "\\u{2066}fires\\u{2069} at 1280 degrees for 9\\u{200b} hours",
        ),
        (
            "/runs/compare?a=last&b=last".to_owned(),
            "degrees \\u{202e}does the kiln",
        ),
        ("/memory".to_owned(), "The \\u{202e}kiln is hot."),
    ] {
        let page = served.get(&path).body;
        assert!(page.contains(part), "{part} in {path}: {page}");
        let hidden = ['\u{202e}', '\u{2066}', '\u{2069}', '\u{200b}'];
        assert!(!page.contains(hidden), "{path}: {page}");
        // The end of a line is none of these characters.
        assert!(!page.contains("\\u{d}"), "{path}: {page}");
    }
    // Links still lead to the note, and a field holds what was typed.
    let found = served.get("/?q=a%E2%80%AEkiln").body;
    let link = "href=\"/note?address=notes:kiln%E2%80%AEgnp.md#L";
    assert!(found.contains(link), "{found}");
    assert!(found.contains("value=\"a&#8238;kiln\""), "{found}");
}

#[test]
fn the_page_of_a_run_says_that_its_record_keeps_only_a_part_of_a_text() {
    let long = "The hay is dry and smells of summer, and the owl sleeps above it. ".repeat(8);
    let barn = format!("# Barn\n\nThe barn holds 40 bales of hay. {long}\n");
    let world = World::with(&[
        ("barn.md", barn.as_str()),
        ("zebra.md", "# Zebra\n\nThe zebra eats 14 apples a day.\n"),
    ]);
    world.ok(&["index"]);
    let served = Served::start(&world, &[]);
    let cut = "The record keeps no more of this text.";
    let answer = served.get("/ask?q=How+many+bales+of+hay+does+the+barn+hold");
    assert!(answer.body.contains("40 bales"), "{}", answer.body);
    assert!(!answer.body.contains(cut), "{}", answer.body);
    let record = served.get("/run?id=last").body;
    assert!(
        record.contains("40 bales") && record.contains(cut),
        "{record}"
    );
    // The file still has the bytes that were judged, so it gives the rest.
    assert!(record.contains("still has the same bytes"), "{record}");
    world.write("barn.md", &barn.replace("hay is dry", "hay is wet"));
    let record = served.get("/run?id=last").body;
    assert!(
        record.contains(cut) && !record.contains("hay is wet"),
        "{record}"
    );
    let whole = World::with(&[("zebra.md", "# Zebra\n\nThe zebra eats 14 apples a day.\n")]);
    whole.ok(&["index"]);
    whole.ok(&["ask", QUESTION]);
    let served = Served::start(&whole, &[]);
    let record = served.get("/run?id=last").body;
    assert!(
        record.contains("14 apples") && !record.contains(cut),
        "{record}"
    );
}

#[test]
fn the_navigation_names_the_page_that_is_shown() {
    let world = world();
    world.ok(&["ask", QUESTION]);
    let served = Served::start(&world, &[]);
    for (path, part) in [
        ("/", "<a href=\"/\" aria-current=\"page\">Notes</a>"),
        ("/?q=zebra", "<a href=\"/\" aria-current=\"page\">Notes</a>"),
        (
            "/note?address=zebra.md",
            "<a href=\"/\" aria-current=\"true\">Notes</a>",
        ),
        ("/runs", "<a href=\"/runs\" aria-current=\"page\">Runs</a>"),
        (
            "/run?id=last",
            "<a href=\"/runs\" aria-current=\"true\">Runs</a>",
        ),
        (
            "/status",
            "<a href=\"/status\" aria-current=\"page\">Status</a>",
        ),
    ] {
        let page = served.get(path).body;
        assert!(page.contains(part), "{part} in {page}");
        assert_eq!(page.matches("aria-current").count(), 1, "{path}: {page}");
    }
}

#[test]
fn two_runs_are_chosen_as_first_and_second_and_what_differs_is_said_in_words() {
    let world = world();
    let served = Served::start(&world, &[]);
    let run = |question: &str| {
        let asked = served.post("/api/ask", &json!({"question": question}));
        asked.json()["run_id"].as_str().unwrap().to_owned()
    };
    let one = run(QUESTION);
    assert!(!served.get("/runs").body.contains(">First</th>"));
    let (again, other) = (run(QUESTION), run("What does the lion eat?"));
    let list = served.get("/runs").body;
    assert!(
        list.contains(">First</th>") && list.contains(">Second</th>"),
        "{list}"
    );
    let differs = "<strong class=\"differs\">differs</strong>";
    let same = served.get(&format!("/runs/compare?a={one}&b={again}")).body;
    assert!(!same.contains(differs), "{same}");
    assert_eq!(same.matches("<td>the same</td>").count(), 5, "{same}");
    let two = served.get(&format!("/runs/compare?a={one}&b={other}")).body;
    for part in ["Question", "Answer"] {
        let row = format!("<th scope=\"row\">{part}</th><td>{differs}</td>");
        assert!(two.contains(&row), "{row} in {two}");
    }
    let heading = format!("<h3>Answer {differs}</h3>");
    assert_eq!(two.matches(&heading).count(), 2, "{two}");
}

#[test]
fn the_style_the_icon_and_nothing_else_of_the_pages_needs_no_token() {
    let world = world();
    let served = Served::start(&world, &[]);
    let host = ("Host", served.address.as_str());
    let style = served.with("GET /style.css", &[host], "");
    assert_eq!(style.status, 200, "{}", style.head);
    assert_eq!(
        style.header("content-type"),
        Some("text/css; charset=utf-8")
    );
    assert!(style.header("content-security-policy").is_some());
    assert_eq!(served.with("POST /style.css", &[host], "").status, 405);
    let icon = served.with("GET /icon.svg", &[host], "");
    assert_eq!(icon.header("content-type"), Some("image/svg+xml"));
    assert!(icon.header("content-security-policy").is_some());
    for path in ["/script.js", "/", "/status"] {
        served
            .with(&format!("GET {path}"), &[host], "")
            .is_refused(401, "ACCESS_DENIED");
    }
}

#[test]
fn an_answer_shows_its_proof_line_by_line() {
    let world = world();
    let served = Served::start(&world, &[]);
    let path = "/ask?q=How+many+apples+does+the+zebra+eat+a+day";
    let answer = served.get(path).body;
    world.ok(&["ask", QUESTION]);
    for page in [&answer, &served.get("/run?id=last").body] {
        for part in [
            "<a class=\"cite\" href=\"#E1\">E1</a>",
            "<th scope=\"row\">3</th><td><mark>The zebra eats 14 apples a day",
            "<article id=\"E1\">",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
        // Nothing is wrong with a citation.
        assert!(!page.contains("missing=0"), "{page}");
    }
}

#[test]
fn a_sentence_that_was_left_out_stands_beside_that_of_its_source() {
    let world = world();
    let draft = "The zebra eats 15 apples a day [E1].";
    let again = "The zebra eats 15 apples a day [E1]. The zebra eats 14 apples a day [E1].";
    let model = ChatServer::ollama(vec![
        Say::Text(draft.to_owned()),
        Say::Text(again.to_owned()),
    ]);
    let config = world.root().join("llm.yaml");
    std::fs::write(&config, "ask: {provider: ollama}\nllm: {model: m}\n").unwrap();
    let served = Served::start(
        &world,
        &[
            "--config",
            config.to_str().unwrap(),
            "--ollama-base-url",
            &model.url(),
        ],
    );
    let answer = served
        .get("/ask?q=How+many+apples+does+the+zebra+eat+a+day")
        .body;
    assert!(answer.contains("Left out: “"), "{answer}");
    let left_out = answer.split("Left out: “").nth(1).unwrap();
    assert!(
        left_out.contains("zebra.md") && left_out.contains("14 apples"),
        "{left_out}"
    );
}

#[test]
fn a_search_page_takes_limits() {
    let world = world();
    let served = Served::start(&world, &[]);
    let count = |query: &str| {
        let page = served.get(&format!("/?q=eats{query}")).body;
        page.matches("<blockquote").count()
    };
    assert_eq!(count(""), 2);
    assert_eq!(count("&tag=animals"), 1);
    assert_eq!(count("&tag=%23animals&source=notes"), 1);
    assert_eq!(count("&before=2000-01-01"), 0);
    let wrong = served.get("/?q=eats&source=nowhere").body;
    assert!(wrong.contains("INVALID_ARGS"), "{wrong}");
    let kept = served.get("/?q=eats&tag=animals").body;
    assert!(kept.contains("name=\"tag\" value=\"animals\""), "{kept}");
    assert!(
        kept.contains("<option value=\"notes\">notes</option>"),
        "{kept}"
    );
}

#[test]
fn runs_are_listed_shown_compared_and_replayed() {
    let world = world();
    let served = Served::start(&world, &[]);
    assert!(served.get("/runs").body.contains("No run is recorded yet."));
    let run = |question: &str| {
        let asked = served.post("/api/ask", &json!({"question": question}));
        asked.json()["run_id"].as_str().unwrap().to_owned()
    };
    let (one, two) = (run(QUESTION), run("What does the lion eat?"));
    let list = served.get("/runs").body;
    for id in [&one, &two] {
        assert!(list.contains(&format!("/run?id={id}")), "{list}");
    }
    let older = served.get("/runs?skip=1").body;
    assert!(
        older.contains(&format!("/run?id={one}")) && !older.contains(&format!("/run?id={two}")),
        "{older}"
    );
    assert!(older.contains("2 to 2 of 2"), "{older}");
    assert!(older.contains("href=\"/runs?skip=0\">Newer</a>"), "{older}");
    assert!(
        !older.contains(">Older<") && !list.contains("More runs"),
        "{older}"
    );
    for wrong in ["99", "-1", "x", "99999999999999999999"] {
        let page = served.get(&format!("/runs?skip={wrong}"));
        assert_eq!(page.status, 200, "{wrong}");
    }
    let shown = served.get(&format!("/run?id={one}")).body;
    assert!(
        shown.contains("<li class=\"verified\"") && shown.contains("zebra.md, line"),
        "{shown}"
    );
    let compared = served.get(&format!("/runs/compare?a={one}&b={two}")).body;
    assert!(
        compared.contains("14 apples") && compared.contains("meat"),
        "{compared}"
    );
    let form = |headers: &[(&str, &str)]| {
        let bearer = served.bearer();
        let mut all = vec![("Host", served.address.as_str())];
        all.extend(headers);
        if !headers.iter().any(|(name, _)| *name == "Cookie") {
            all.push(("Authorization", &bearer));
        }
        served.with("POST /run/replay", &all, &format!("id={one}"))
    };
    let done = form(&[]);
    assert!(done.body.contains("The same report:"), "{}", done.body);
    form(&[("Origin", "http://evil.example")]).is_refused(403, "ACCESS_DENIED");
    form(&[("Sec-Fetch-Site", "cross-site")]).is_refused(403, "ACCESS_DENIED");
    assert_eq!(served.get("/run/replay").status, 405);
    let gone = served.get("/run?id=none").body;
    assert!(gone.contains("RUN_NOT_FOUND"), "{gone}");
}

#[test]
fn a_form_that_does_not_say_where_it_comes_from_does_nothing() {
    let world = world();
    world.ok(&["ask", QUESTION]);
    let served = Served::start(&world, &["--open"]);
    let host = ("Host", served.address.as_str());
    let link = served.link.clone().unwrap();
    let path = link.split_once(&served.address).unwrap().1;
    let entered = served.with(&format!("GET {path}"), &[host], "");
    let cookie = entered.header("set-cookie").unwrap();
    let cookie = ("Cookie", cookie.split(';').next().unwrap());
    let replay = |more: &[(&str, &str)]| {
        let headers = [&[host, cookie][..], more].concat();
        served.with("POST /run/replay", &headers, "id=last")
    };
    replay(&[]).is_refused(403, "ACCESS_DENIED");
    let own = format!("http://{}", served.address);
    let done = replay(&[("Origin", &own)]);
    assert!(done.body.contains("The same report:"), "{}", done.body);
}

#[test]
fn memory_and_problems_have_pages() {
    let world = world();
    let remember = [
        "memory",
        "add",
        "--source",
        "manual",
        "--type",
        "user_fact",
        "--content",
    ];
    world.ok(&[&remember[..], &["Leyla feeds the <b>zebra</b>."]].concat());
    world.ok(&[&remember[..], &["The gate closes at 8."]].concat());
    let served = Served::start(&world, &[]);
    let all = served.get("/memory").body;
    assert!(
        all.contains("Leyla feeds the &lt;b&gt;zebra") && all.contains("gate"),
        "{all}"
    );
    let found = served.get("/memory?words=zebra").body;
    assert!(
        found.contains("Leyla") && !found.contains("gate"),
        "{found}"
    );
    let problems = served.get("/doctor").body;
    assert!(problems.contains("checks, "), "{problems}");
    // The page shows the same as the command.
    let report = world.run(&["doctor", "--offline", "--json"]).json();
    for check in report["checks"].as_array().unwrap() {
        if let Some(fix) = check["suggested_fix"].as_str() {
            let fix = fix
                .replace('&', "&amp;")
                .replace('"', "&quot;")
                .replace('<', "&lt;");
            let code = check["error_code"].as_str().unwrap();
            assert!(problems.contains(code), "{code} in {problems}");
            assert!(
                problems.contains(&fix.replace('>', "&gt;")),
                "{fix} in {problems}"
            );
        }
    }
}

/// The events of a stream: name and data.
fn events(body: &str) -> Vec<(String, Value)> {
    let blocks = body.split("\n\n").filter_map(|block| {
        let at = block.find("event: ")?;
        let (name, data) = block[at + 7..].split_once("\ndata: ")?;
        let data = data.lines().next()?;
        Some((name.to_owned(), serde_json::from_str(data).ok()?))
    });
    blocks.collect()
}

#[test]
fn an_answer_comes_in_steps() {
    let world = world();
    let served = Served::start(&world, &[]);
    let answer = served.get("/ask/stream?q=How+many+apples+does+the+zebra+eat+a+day");
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert!(answer.header("content-security-policy").is_some());
    let events = events(&answer.body);
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        (names.first(), names.last()),
        (Some(&"step"), Some(&"page"))
    );
    let (_, sentence) = events.iter().find(|(name, _)| name == "sentence").unwrap();
    assert_eq!(sentence["verdict"], "verified");
    assert!(
        sentence["text"].as_str().unwrap().contains("14 apples"),
        "{sentence}"
    );
    let (_, page) = events.last().unwrap();
    let html = page["html"].as_str().unwrap();
    assert!(
        page["ok"] == true && html.contains("<li class=\"verified\""),
        "{html}"
    );
    let blank = served.get("/ask/stream?q=+");
    assert!(blank.body.contains("INVALID_QUERY"), "{}", blank.body);
    assert_eq!(world.json(&["runs", "list"])["total"], 1);
}

#[test]
fn a_sentence_comes_as_soon_as_it_passed_and_the_answer_replaces_it() {
    let world = world();
    let first =
        "The zebra eats 14 apples a day [E1]. The zebra eats 15 apples a day [E1]. It is so.";
    let repair = "The zebra eats 14 apples a day [E1].";
    let pause = std::time::Duration::from_millis(10);
    let model = ChatServer::ollama(vec![
        Say::Slowly(first.to_owned(), pause),
        Say::Text(repair.to_owned()),
    ]);
    let config = world.root().join("llm.yaml");
    std::fs::write(&config, "ask: {provider: ollama}\nllm: {model: m}\n").unwrap();
    let config = config.to_str().unwrap();
    let url = model.url();
    let served = Served::start(&world, &["--config", config, "--ollama-base-url", &url]);
    let answer = served.get("/ask/stream?q=How+many+apples+does+the+zebra+eat+a+day");
    let events = events(&answer.body);
    assert_eq!(model.prompts().len(), 2, "{events:?}");
    let place = |wanted: &dyn Fn(&str, &Value) -> bool| {
        let found = events.iter().position(|(name, data)| wanted(name, data));
        found.unwrap_or_else(|| panic!("{events:?}"))
    };
    let of_draft =
        |number: Value| place(&move |name, data| name == "sentence" && data["draft"] == number);
    // The sentence came while the rest of the draft was still being written.
    let early = of_draft(json!(1));
    assert_eq!(events[early].1["text"], "The zebra eats 14 apples a day.");
    assert_eq!(events[early].1["verdict"], "verified");
    let whole = first.chars().count();
    let half = place(&|_, data| data["characters"].as_u64() == Some(whole as u64));
    assert!(early < half, "{events:?}");
    // The repair is another draft, and the answer comes after both.
    let repaired = of_draft(json!(2));
    let last = of_draft(Value::Null);
    assert!(half < repaired && repaired < last, "{events:?}");
    // Nothing was shown that did not pass.
    let sentences = events.iter().filter(|(name, _)| name == "sentence");
    for (_, sentence) in sentences {
        assert!(
            !sentence["text"].as_str().unwrap().contains("15"),
            "{sentence}"
        );
    }
    let sizes: Vec<u64> = events
        .iter()
        .filter_map(|(_, data)| data["characters"].as_u64())
        .collect();
    assert!(sizes.windows(2).all(|two| two[0] != two[1]), "{sizes:?}");
}

#[test]
fn a_connection_that_is_closed_cancels_the_answer() {
    use std::io::{Read as _, Write as _};
    let world = world();
    let long = "The zebra eats 14 apples a day [E1]. ".repeat(30);
    let pause = std::time::Duration::from_millis(200);
    let slow = ChatServer::ollama(vec![Say::Slowly(long, pause)]);
    let config = world.root().join("llm.yaml");
    std::fs::write(
        &config,
        "ask: {provider: ollama}\nllm: {model: m, timeout_s: 60}\n",
    )
    .unwrap();
    let served = Served::start(
        &world,
        &[
            "--config",
            config.to_str().unwrap(),
            "--ollama-base-url",
            &slow.url(),
        ],
    );
    let mut stream = std::net::TcpStream::connect(&served.address).unwrap();
    let head = format!(
        "GET /ask/stream?q=How+many+apples HTTP/1.1\r\nHost: {}\r\nAuthorization: {}\r\n\r\n",
        served.address,
        served.bearer()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut seen = String::new();
    while !seen.contains("\"step\":\"asking\"") {
        let mut bytes = [0; 1024];
        let n = stream.read(&mut bytes).unwrap();
        assert_ne!(n, 0, "{seen}");
        seen.push_str(&String::from_utf8_lossy(&bytes[..n]));
    }
    drop(stream);
    let mut record = Value::Null;
    for _ in 0..600 {
        record = served.get("/api/run?id=last").json()["record"].clone();
        if record["status"] == "failed" {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(record["error_code"], "CANCELLED", "{record}");
}

/// The script of the pages, if Node.js is installed.
#[test]
fn one_answer_at_a_time_and_a_link_into_the_page_asks_nothing_again() {
    use std::io::Write as _;
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let done = std::process::Command::new("node")
        .arg(folder.join("tests/peers/pages.mjs"))
        .arg(folder.join("src/serve/script.js"))
        .output();
    let Ok(done) = done else {
        let why = "NOT RUN: serve_pages::one_answer_at_a_time_and_a_link_into_the_page_asks_nothing_again: there is no `node`\n";
        std::io::stderr().write_all(why.as_bytes()).unwrap();
        return;
    };
    assert!(done.status.success(), "{done:?}");
}

/// A page that was opened again once asked again, and a model could give another answer.
#[test]
fn an_answer_has_an_address_that_asks_nothing() {
    let world = world();
    let served = Served::start(&world, &[]);
    let bearer = served.bearer();
    let browser = [
        ("Host", served.address.as_str()),
        ("Authorization", bearer.as_str()),
        ("Accept", "text/html"),
    ];
    let path = "/ask?q=How+many+apples+does+the+zebra+eat+a+day";
    let asked = served.with(&format!("GET {path}"), &browser, "");
    assert_eq!(asked.status, 303, "{}", asked.body);
    let address = asked.header("location").unwrap();
    assert!(address.starts_with("/ask?run="), "{address}");
    for _ in 0..2 {
        let answer = served.get(address);
        assert_eq!(answer.status, 200);
        for part in [
            "<h1 dir=\"auto\">How many apples does the zebra eat a day</h1>",
            "<li class=\"verified\">",
            "<td><mark>The zebra eats 14 apples a day</mark>.",
            "The record of this answer",
        ] {
            assert!(answer.body.contains(part), "{part} in {}", answer.body);
        }
    }
    let stream = served.get("/ask/stream?q=How+many+apples+does+the+zebra+eat");
    let (_, last) = events(&stream.body).pop().unwrap();
    let run = last["address"].as_str().unwrap();
    assert!(run.starts_with("/ask?run="), "{last}");
    assert_eq!(world.json(&["runs", "list"])["total"], 2);
    let none = served.get("/ask?run=none");
    assert_eq!(none.status, 404, "{}", none.body);
}

#[test]
fn the_first_page_shows_what_is_here_and_what_was_asked_last() {
    let world = world();
    world.ok(&["ask", QUESTION]);
    let served = Served::start(&world, &[]);
    let start = served.get("/").body;
    for part in ["2 notes in 1 source", "Asked last", QUESTION, "/ask?run="] {
        assert!(start.contains(part), "{part} in {start}");
    }
    let guest = world.json(&["serve", "token", "add", "guest", "--role", "search"]);
    let start = served.get_as(guest["token"].as_str().unwrap(), "/").body;
    assert!(!start.contains(QUESTION), "{start}");
}

#[test]
fn more_passages_are_a_step_away_and_each_has_its_day() {
    let notes: Vec<(String, String)> = (0..24)
        .map(|n| {
            let name = format!("2026-05-{:02} zebra {n}.md", n % 28 + 1);
            (name, format!("# Zebra {n}\n\nThe zebra eats {n} apples.\n"))
        })
        .collect();
    let notes: Vec<(&str, &str)> = notes
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let world = World::with(&notes);
    world.ok(&["index"]);
    let served = Served::start(&world, &[]);
    let first = served.get("/?q=zebra").body;
    assert!(first.contains("<h1>20 passages or more</h1>"), "{first}");
    assert!(
        first.contains("href=\"/?q=zebra&amp;show=40#hit21\""),
        "{first}"
    );
    assert!(first.contains("<time datetime=\"2026-05-"), "{first}");
    let all = served.get("/?q=zebra&show=40").body;
    assert!(all.contains("<h1>24 passages</h1>"), "{all}");
    assert!(!all.contains("More passages"), "{all}");
    for wrong in ["0", "-1", "x", "99999999999"] {
        assert_eq!(
            served.get(&format!("/?q=zebra&show={wrong}")).status,
            200,
            "{wrong}"
        );
    }
}

#[test]
fn a_note_that_is_gone_is_not_called_changed() {
    let world = world();
    std::fs::remove_file(world.vault().join("lion.md")).unwrap();
    world.write("zebra.md", "# Zebra\n\nThe zebra eats 15 apples a day.\n");
    let served = Served::start(&world, &[]);
    let found = served.get("/?q=lion+zebra").body;
    assert!(found.contains("no longer there"), "{found}");
    assert!(found.contains("changed since it was indexed"), "{found}");
}

#[test]
fn runs_say_who_asked_and_are_filtered() {
    let world = world();
    world.ok(&["ask", QUESTION]);
    let served = Served::start(&world, &[]);
    served.post("/api/ask", &json!({"question": "What does the lion eat?"}));
    let all = served.get("/runs").body;
    assert!(
        all.contains("<bdi>cli</bdi>") && all.contains("<bdi>serve</bdi>"),
        "{all}"
    );
    let lion = served.get("/runs?words=LION").body;
    assert!(
        lion.contains("What does the lion eat?") && !lion.contains(QUESTION),
        "{lion}"
    );
    let none = served.get("/runs?words=lion&outcome=abstained").body;
    assert!(none.contains("No run fits."), "{none}");
}

#[test]
fn a_browser_is_told_in_words_and_links_what_is_wrong() {
    let world = world();
    let served = Served::start(&world, &[]);
    let bearer = served.bearer();
    let host = ("Host", served.address.as_str());
    let accept = ("Accept", "text/html");
    let known = ("Authorization", bearer.as_str());
    let nowhere = served.with("GET /nowhere", &[host, accept, known], "").body;
    assert!(nowhere.contains("There is no such page"), "{nowhere}");
    assert!(
        nowhere.contains("href=\"/runs\"") && !nowhere.contains("POST"),
        "{nowhere}"
    );
    let unknown = served.with("GET /", &[host, accept], "").body;
    assert!(unknown.contains("local-agent serve link"), "{unknown}");
    assert!(unknown.contains("It works once"), "{unknown}");
    let date = served.get("/?q=zebra&after=2026-13-45").body;
    assert!(
        date.contains("in the filters") && !date.contains("--after"),
        "{date}"
    );
    let none = served.get("/note?address=qqqqqqqq.md").body;
    assert!(!none.contains("local-agent ls"), "{none}");
}
