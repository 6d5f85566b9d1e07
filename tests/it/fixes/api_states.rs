//! Fixes of `local-agent serve` that need a state of their own: access, links, sessions, streams.

use std::time::{Duration, Instant};

use serde_json::json;

use super::client_calls::{ClientRow, ToldFailure};
use super::place::{plain, used};
use crate::harness::World;
use crate::serve::{Answer, Served};
use crate::serve_sessions::{guest, request, send, session};
use crate::serve_subscriptions::Stream;

/// A time limit that only a hang reaches.
const CAP: Duration = Duration::from_secs(60);

/// Maximum number of open streams of one token.
const MOST_STREAMS: usize = 16;

pub(super) fn rows() -> Vec<ClientRow> {
    let world = used();
    let served = Served::start(&world, &[]);
    let mut rows = vec![
        without_token(&world, &served),
        by_another_name(&served),
        from_another_site(&served),
        with_a_used_link(&world, &served),
        without_origin(&world, &served),
        with_one_run(&served),
        with_a_long_body(&served),
    ];
    rows.extend(with_a_small_role(&world, &served));
    rows.extend(in_sessions(&served));
    rows.push(with_many_streams());
    rows
}

/// The failure of a refused request.
fn told(answer: &Answer) -> ToldFailure {
    assert!(answer.status >= 400, "{}", answer.body);
    ToldFailure::in_object(&answer.json())
}

/// The failure has this code and fix.
fn is_told(answer: &Answer, code: &str, fix: &str) -> ToldFailure {
    let told = told(answer);
    assert_eq!(told, ToldFailure::new(code, fix), "{}", answer.body);
    told
}

fn succeeds(answer: &Answer) {
    assert!(answer.status < 400, "{}{}", answer.head, answer.body);
}

fn without_token(world: &World, served: &Served) -> ClientRow {
    let host = ("Host", served.address.as_str());
    let refused = is_told(
        &served.with("GET /api/status", &[host], ""),
        "ACCESS_DENIED",
        "send `Authorization: Bearer` with what `local-agent serve token` prints; for a browser: \
         local-agent serve link",
    );
    let token = world.ok(&["serve", "token"]).stdout;
    let bearer = format!("Bearer {}", token.trim());
    let named = [host, ("Authorization", &bearer)];
    succeeds(&served.with("GET /api/status", &named, ""));
    let link = linked(world, served);
    succeeds(&served.with(&format!("GET {link}"), &[host], ""));
    let how = "`local-agent serve token` and the header, or `local-agent serve link` and its page";
    ClientRow::mended("no token is given", "GET /api/status", refused, how)
}

/// The path of a new link for one browser.
fn linked(world: &World, served: &Served) -> String {
    let printed = world.json(&["serve", "link"]);
    let link = printed["link"].as_str().unwrap();
    link.split_once(&served.address).unwrap().1.to_owned()
}

fn by_another_name(served: &Served) -> ClientRow {
    let fix = "use the address that `local-agent serve` printed";
    let refused = is_told(
        &status_by(served, "notes.example.org"),
        "ACCESS_DENIED",
        fix,
    );
    succeeds(&status_by(served, &served.address));
    let state = "the server is called by a name that it does not have";
    ClientRow::mended(state, "GET /api/status", refused, "that address")
}

fn status_by(served: &Served, name: &str) -> Answer {
    let bearer = served.bearer();
    let headers = [("Host", name), ("Authorization", &bearer)];
    served.with("GET /api/status", &headers, "")
}

fn from_another_site(served: &Served) -> ClientRow {
    let fix = "open the page at the address that `local-agent serve` printed";
    let refused = is_told(
        &page_from(served, "http://evil.example"),
        "ACCESS_DENIED",
        fix,
    );
    succeeds(&page_from(served, &format!("http://{}", served.address)));
    let state = "the page of another site asks";
    ClientRow::mended(state, "GET /", refused, "that address")
}

fn page_from(served: &Served, site: &str) -> Answer {
    let bearer = served.bearer();
    let headers = [
        ("Host", served.address.as_str()),
        ("Authorization", &bearer),
        ("Origin", site),
    ];
    served.with("GET /", &headers, "")
}

fn with_a_used_link(world: &World, served: &Served) -> ClientRow {
    let host = ("Host", served.address.as_str());
    let open = |path: &str| served.with(&format!("GET {path}"), &[host], "");
    let link = linked(world, served);
    succeeds(&open(&link));
    let fix = "local-agent serve link prints a new one";
    let refused = is_told(&open(&link), "ACCESS_DENIED", fix);
    succeeds(&open(&linked(world, served)));
    let call = "GET /enter?key=<used>";
    ClientRow::mended("a link was used", call, refused, "`local-agent serve link`")
}

/// The cookie of a browser that a new link let in.
fn cookie(world: &World, served: &Served) -> String {
    let host = ("Host", served.address.as_str());
    let link = linked(world, served);
    let entered = served.with(&format!("GET {link}"), &[host], "");
    let cookie = entered.header("set-cookie").unwrap();
    cookie.split(';').next().unwrap().to_owned()
}

/// A form without a sign of its site. The button is on the page of the run, and a browser names the
/// site of that page.
fn without_origin(world: &World, served: &Served) -> ClientRow {
    let cookie = cookie(world, served);
    let site = format!("http://{}", served.address);
    let headers = [
        ("Host", served.address.as_str()),
        ("Cookie", &cookie),
        ("Origin", &site),
    ];
    let refused = is_told(
        &served.with("POST /run/replay", &headers[..2], "id=last"),
        "ACCESS_DENIED",
        "open the page of the run and press Replay",
    );
    let page = served.with("GET /run?id=last", &headers[..2], "");
    assert!(
        page.body.contains("<button>Replay</button>"),
        "{}",
        page.body
    );
    succeeds(&served.with("POST /run/replay", &headers, "id=last"));
    let state = "a form does not say where it comes from";
    let how = "the button of `GET /run?id=last`";
    ClientRow::mended(state, "POST /run/replay id=last", refused, how)
}

/// The page of a comparison names its fix as text for a reader.
fn with_one_run(served: &Served) -> ClientRow {
    let told = ToldFailure::new(
        "INVALID_ARGS",
        "choose a first and a second one in the list of runs",
    );
    let page = served.get("/runs/compare?a=last");
    assert_eq!(page.status, 400, "{}", page.body);
    assert!(page.body.contains(&told.code) && page.body.contains(&told.fix));
    let listed = served.get("/api/runs").json();
    let [one, other] = [0_usize, 1].map(|n| listed["runs"][n]["run_id"].as_str().unwrap());
    let list = served.get("/runs");
    for id in [one, other] {
        assert!(
            list.body.contains(&format!("value=\"{id}\"")),
            "{}",
            list.body
        );
    }
    succeeds(&served.get(&format!("/runs/compare?a={one}&b={other}")));
    let how = "`GET /runs`, then `GET /runs/compare?a=<one>&b=<other>`";
    ClientRow::mended("one run is compared", "GET /runs/compare?a=last", told, how)
}

fn with_a_long_body(served: &Served) -> ClientRow {
    let fix = "send less at once";
    let refused = is_told(&search_for(served, 200_000), "REQUEST_TOO_LARGE", fix);
    succeeds(&search_for(served, 1));
    let call = "POST /api/search <more than 1 MiB>";
    ClientRow::mended("a body that is too long", call, refused, "a shorter body")
}

/// A search with this number of tags.
fn search_for(served: &Served, tags: usize) -> Answer {
    let within = json!({"tag": vec!["kitchen"; tags]});
    served.post("/api/search", &json!({"query": "oven", "within": within}))
}

/// What a token may not do, one with the role that the fix names may.
fn with_a_small_role(world: &World, served: &Served) -> Vec<ClientRow> {
    let small = token_with(world, "small", "search");
    let mut rows = Vec::new();
    for (path, role) in [("/api/runs", "ask"), ("/memory", "owner")] {
        let fix = format!("local-agent serve token add NAME --role {role}");
        let refused = is_told(&served.get_as(&small, path), "ACCESS_DENIED", &fix);
        let name = format!("new-{role}");
        succeeds(&served.get_as(&token_with(world, &name, role), path));
        let how = format!("`{}`", fix.replace("NAME", &name));
        let call = format!("GET {path}");
        let state = "a token whose role is too small";
        rows.push(ClientRow::mended(state, &call, refused, &how));
    }
    rows
}

fn token_with(world: &World, name: &str, role: &str) -> String {
    let made = world.json(&["serve", "token", "add", name, "--role", role]);
    made["token"].as_str().unwrap().to_owned()
}

/// Requests that name no session, or one that has ended.
fn in_sessions(served: &Served) -> Vec<ClientRow> {
    let token = &served.token;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let end = |id: Option<&str>| request(served, "DELETE", token, id, "");
    let own = session(served, token);
    let fix = "send the id that the answer to `initialize` names";
    let nameless = is_told(&end(None), "INVALID_ARGS", fix);
    succeeds(&end(Some(&own)));
    let fix = "send `initialize` again, without `Mcp-Session-Id`";
    let ended = is_told(&send(served, token, Some(&own), &ping), "INVALID_ARGS", fix);
    let new = session(served, token);
    succeeds(&send(served, token, Some(&new), &ping));
    let how = "the header with that id";
    vec![
        ClientRow::mended(
            "a session is ended without its id",
            "DELETE /mcp",
            nameless,
            how,
        ),
        ClientRow::mended(
            "a session has ended",
            "POST /mcp ping",
            ended,
            "`initialize`",
        ),
    ]
}

/// A client whose streams are all open closes one.
fn with_many_streams() -> ClientRow {
    let world = plain();
    let served = Served::start(&world, &[]);
    let guest = guest(&world, "one");
    let own = session(&served, &guest);
    let open = |_| Stream::of_session(&served, &guest, &own);
    let mut streams: Vec<Stream> = (0..MOST_STREAMS).map(open).collect();
    let refused = is_told(
        &request(&served, "GET", &guest, Some(&own), ""),
        "SERVER_BUSY",
        "close one of them",
    );
    streams.pop();
    // The server may notice it a moment later.
    let give_up = Instant::now() + CAP;
    while !open(0).1.starts_with("HTTP/1.1 200") {
        assert!(Instant::now() < give_up, "no stream is free");
        std::thread::sleep(Duration::from_millis(50));
    }
    let state = "a token has as many streams as it may have";
    ClientRow::mended(state, "GET /mcp", refused, "one is closed")
}
