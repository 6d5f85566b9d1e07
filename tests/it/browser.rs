//! The pages in a real browser: Chromium without a window. If it is not installed or does not start,
//! the tests are skipped with one printed line.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::harness::World;
use crate::serve::Served;
use local_agent_testing::server::{Seen, Server, Step, serve};

/// Names of notes, and texts of notes and questions, that would run code or change the style of a
/// page without escaping.
const HOSTILE: [&str; 7] = [
    "<script>document.title='RUN'</script>",
    "<img src=x onerror=\"document.title='RUN'\">",
    "<style>body{display:none}</style>",
    "<a href=\"javascript:document.title='RUN'\">zebra</a>",
    "\" autofocus onfocus=\"document.title='RUN'\" x=\"",
    "</textarea></title><svg onload=\"document.title='RUN'\">",
    "\u{202e}abc\u{202c} \u{200f}مرحبا 食パン 🦓",
];

/// Options of a browser that shows no window and asks nobody else for anything.
pub(crate) const WITHOUT_WINDOW: [&str; 8] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-sync",
];

pub(crate) fn chromium() -> Option<PathBuf> {
    [
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
    ]
    .into_iter()
    .map(PathBuf::from)
    .find(|path| path.exists())
}

/// A browser with its own profile, admitted by a link.
struct Browser {
    program: PathBuf,
    profile: tempfile::TempDir,
}

impl Browser {
    fn open() -> Option<Self> {
        let Some(program) = chromium() else {
            println!("skipped: there is no Chromium on this machine");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        let browser = Self { program, profile };
        let started = browser.dom("data:text/html,<title>started</title>");
        if title(&started) != "started" {
            println!("skipped: Chromium does not start on this machine");
            return None;
        }
        Some(browser)
    }

    /// Opens a page; returns what was printed.
    fn run(&self, address: &str, options: &[&str]) -> String {
        let done = Command::new(&self.program)
            .args(WITHOUT_WINDOW)
            .args(["--hide-scrollbars", "--virtual-time-budget=8000"])
            .arg(format!("--user-data-dir={}", self.profile.path().display()))
            .args(options)
            .arg(address)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    fn dom(&self, address: &str) -> String {
        self.run(address, &["--dump-dom"])
    }

    fn picture(&self, address: &str, file: &Path, width: u32, more: &[&str]) -> Vec<u8> {
        let shot = format!("--screenshot={}", file.display());
        let size = format!("--window-size={width},900");
        self.run(address, &[&[shot.as_str(), size.as_str()], more].concat());
        std::fs::read(file).unwrap_or_default()
    }
}

/// A server in front of the real one that adds the token, because a browser without a window
/// forgets its cookie between two pages. `script` is added to the script of the pages and acts like
/// a person on the real page.
fn in_front_of(served: &Served, script: &'static str) -> Server {
    let (address, token) = (served.address.clone(), served.token.clone());
    serve(move |seen| {
        let mut stream = TcpStream::connect(&address).unwrap();
        let request = format!(
            "{} {} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
             {}Content-Length: {}\r\n\r\n{}",
            seen.method,
            seen.path,
            passed_on(seen, &address),
            seen.body.len(),
            seen.body
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply);
        if seen.path == "/script.js" {
            let text = String::from_utf8(reply).unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            let head: Vec<&str> = head
                .lines()
                .filter(|line| !line.to_lowercase().starts_with("content-length"))
                .collect();
            reply = format!("{}\r\n\r\n{body}\n{script}", head.join("\r\n")).into_bytes();
        }
        vec![Step::Bytes(reply)]
    })
}

/// What the browser says about a request, as it would say it to the real server.
fn passed_on(seen: &Seen, address: &str) -> String {
    let host = seen.header("host").unwrap_or_default();
    let lines = ["origin", "sec-fetch-site", "accept"].map(|name| {
        let value = seen.header(name)?.replace(host, address);
        Some(format!("{name}: {value}\r\n"))
    });
    lines.into_iter().flatten().collect()
}

/// Reports in the title whether foreign code ran, whether the page fits and is shown, and whether
/// an element of a note became an element of the page.
const MEASURE: &str = "addEventListener('load', () => setTimeout(() => {
  const wide = document.documentElement.scrollWidth > innerWidth ? 'TOO-WIDE' : 'FITS';
  const shown = getComputedStyle(document.body).display;
  const foreign = document.querySelectorAll('main :is(script, style, img, svg, iframe, textarea), [onerror], [onfocus], [onload]');
  const links = [...document.links].filter((link) => link.protocol === 'javascript:');
  const clean = foreign.length + links.length === 0 ? 'CLEAN' : 'FOREIGN';
  document.title = [document.title.startsWith('RUN') ? 'RUN' : 'QUIET', wide, shown, clean].join(' ');
}, 300));";

fn title(dom: &str) -> &str {
    let rest = dom.split_once("<title>").map_or("", |(_, rest)| rest);
    rest.split("</title>").next().unwrap_or_default()
}

/// A word that fits in no narrow window.
fn long_word() -> String {
    "W".repeat(200)
}

fn hostile_world() -> World {
    let world = World::empty();
    for (n, text) in HOSTILE.iter().enumerate() {
        let body = format!("# {text}\n\nzebra {text}\n\n[link](javascript:alert) [[{n}]]\n");
        world.write(&format!("{n}.md"), &body);
    }
    let named = "<img src=x onerror=document.title='RUN'>.md";
    world.write(named, "# Zebra\n\nThe zebra eats apples.\n");
    let long = long_word();
    let body = format!("# {long}\n\nThe zebra {long} eats apples. [[{long}]]\n");
    world.write(&format!("{long}.md"), &body);
    world.ok(&["init", "--here", "--source", "notes=."]);
    world.ok(&["index"]);
    world
}

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[test]
fn nothing_hostile_runs_or_restyles_in_a_browser() {
    let Some(browser) = Browser::open() else {
        return;
    };
    let world = hostile_world();
    let served = Served::start(&world, &["--requests-per-minute", "100000"]);
    let front = in_front_of(&served, MEASURE);
    let mut paths = vec![
        "/?q=zebra".to_owned(),
        "/status".to_owned(),
        "/runs".to_owned(),
    ];
    for (n, text) in HOSTILE.iter().enumerate() {
        paths.push(format!("/note?address=notes:{n}.md"));
        paths.push(format!("/note?address=notes:{n}.md&view=source"));
        paths.push(format!("/ask?q={}", encoded(&format!("zebra {text}"))));
    }
    for path in paths {
        let dom = browser.dom(&front.url(&path));
        assert_eq!(title(&dom), "QUIET FITS block CLEAN", "{path}: {dom}");
    }
}

#[test]
fn pages_fit_a_narrow_window_and_are_light_or_dark() {
    let Some(browser) = Browser::open() else {
        return;
    };
    let world = hostile_world();
    let served = Served::start(&world, &["--requests-per-minute", "100000"]);
    let front = in_front_of(&served, MEASURE);
    world.ok(&["ask", "What does the zebra eat?"]);
    let long = long_word();
    let long_note = format!("/note?address=notes:{long}.md");
    let no_note = format!("/note?address=notes:{long}{long}.md");
    for path in [
        "/runs",
        "/run?id=last",
        "/runs/compare?a=last&b=last",
        "/?q=zebra",
        "/note?address=notes:0.md",
        "/ask?q=What+does+the+zebra+eat",
        long_note.as_str(),
        no_note.as_str(),
    ] {
        for width in [360, 1280, 3840] {
            let address = front.url(path);
            let size = format!("--window-size={width},900");
            let dom = browser.run(&address, &["--dump-dom", &size]);
            assert_eq!(title(&dom), "QUIET FITS block CLEAN", "{path} at {width}");
        }
        // The colours do not depend on the width.
        let address = front.url(path);
        let file = world.root().join("page.png");
        let scheme = |value| format!("--blink-settings=preferredColorScheme={value}");
        let light = browser.picture(&address, &file, 360, &[&scheme(1)]);
        let dark = browser.picture(&address, &file, 360, &[&scheme(0)]);
        assert!(
            light.starts_with(b"\x89PNG") && dark.starts_with(b"\x89PNG"),
            "{path}"
        );
        assert_ne!(light, dark, "{path}");
    }
}

/// Reports in the title the height of the head, and the names of what a thumb cannot hit.
const MEASURE_HEAD: &str = "addEventListener('load', () => setTimeout(() => {
  const small = [...document.querySelectorAll('.brand, #pages a, #q, #ask, .filters > summary')]
    .filter((one) => one.getBoundingClientRect().height < (innerWidth <= 640 ? 40 : 24));
  const height = Math.ceil(document.querySelector('header').getBoundingClientRect().height);
  document.title = `${height <= 64 ? 'LOW' : height} ${small.map((one) => one.textContent).join()}`.trim();
}, 300));";

#[test]
fn the_head_is_one_row_that_a_thumb_can_hit_in_a_browser() {
    let Some(browser) = Browser::open() else {
        return;
    };
    let world = World::with(&[("zebra.md", "# Zebra\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let served = Served::start(&world, &[]);
    let front = in_front_of(&served, MEASURE_HEAD);
    for path in ["/", "/?q=zebra", "/runs", "/note?address=zebra.md"] {
        for width in [360, 1280, 3840] {
            let size = format!("--window-size={width},900");
            let dom = browser.run(&front.url(path), &["--dump-dom", &size]);
            assert_eq!(title(&dom), "LOW", "{path} at {width}");
        }
    }
}

#[test]
fn an_answer_comes_sentence_by_sentence_in_a_browser() {
    let Some(browser) = Browser::open() else {
        return;
    };
    let world = World::with(&[("zebra.md", "# Zebra\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let served = Served::start(&world, &[]);
    let press = "addEventListener('load', () => {
      field.value = 'How many apples does the zebra eat a day?';
      form.requestSubmit(document.getElementById('ask'));
    });";
    let front = in_front_of(&served, press);
    let dom = browser.dom(&front.url("/"));
    assert!(
        dom.contains("<li class=\"verified\"") && dom.contains("zebra.md, line 3"),
        "{dom}"
    );
    assert!(!dom.contains(">Cancel<"), "{dom}");
    let typed = "addEventListener('load', () => {
      field.value = 'apples';
      field.dispatchEvent(new Event('input'));
    });";
    let front = in_front_of(&served, typed);
    let dom = browser.dom(&front.url("/"));
    assert!(dom.contains("<mark>apples</mark>"), "{dom}");
}

#[test]
fn the_button_of_a_run_replays_it_in_a_browser() {
    let Some(browser) = Browser::open() else {
        return;
    };
    let world = World::with(&[("zebra.md", "# Zebra\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    world.ok(&["ask", "How many apples does the zebra eat a day?"]);
    let served = Served::start(&world, &[]);
    let press = "addEventListener('load', () => {
      document.querySelector('form[action=\"/run/replay\"] button')?.click();
    });";
    let front = in_front_of(&served, press);
    let dom = browser.dom(&front.url("/run?id=last"));
    assert!(dom.contains("The same report:"), "{dom}");
}

#[test]
fn a_search_while_typing_keeps_its_address_in_a_browser() {
    let Some(browser) = Browser::open() else {
        return;
    };
    let world = World::with(&[("meeting.md", "# 会議\n\n次の会議は水曜日です。\n")]);
    world.ok(&["index"]);
    let served = Served::start(&world, &[]);
    let typed = "addEventListener('load', () => {
      field.value = '会議';
      field.dispatchEvent(new Event('input'));
      setTimeout(() => { document.title = location.search + ' ' + told.textContent; }, 4000);
    });";
    let front = in_front_of(&served, typed);
    let dom = browser.dom(&front.url("/"));
    assert!(dom.contains("<mark>会議</mark>"), "{dom}");
    let shown = title(&dom);
    assert!(
        shown.contains("q=%E4%BC%9A%E8%AD%B0") && shown.ends_with("1 passage"),
        "{shown}"
    );
}

#[test]
fn a_refused_search_says_why_in_place_of_older_results_in_a_browser() {
    let Some(browser) = Browser::open() else {
        return;
    };
    let world = World::with(&[("zebra.md", "# Zebra\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let served = Served::start(&world, &["--requests-per-minute", "6"]);
    let typed = "addEventListener('load', () => {
      let times = 0;
      const typing = setInterval(() => {
        if (main.querySelector('.failed')) {
          clearInterval(typing);
          document.title = `${main.textContent}, ${main.querySelectorAll('.hits').length} lists`;
          return;
        }
        field.value = `apples ${++times}`;
        field.dispatchEvent(new Event('input'));
      }, 700);
    });";
    let front = in_front_of(&served, typed);
    let dom = browser.dom(&front.url("/"));
    let shown = title(&dom);
    assert!(
        shown.starts_with("SERVER_BUSY") && shown.contains("ask again in"),
        "{dom}"
    );
    assert!(shown.ends_with(", 0 lists"), "{dom}");
}

#[test]
fn a_refused_question_says_why_in_a_browser() {
    let Some(browser) = Browser::open() else {
        return;
    };
    let world = World::with(&[("zebra.md", "# Zebra\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let served = Served::start(&world, &["--requests-per-minute", "6"]);
    let press = "addEventListener('load', async () => {
      while ((await fetch('/status')).ok);
      field.value = 'How many apples does the zebra eat a day?';
      form.requestSubmit(document.getElementById('ask'));
      setTimeout(() => { document.title = main.textContent; }, 4000);
    });";
    let front = in_front_of(&served, press);
    let dom = browser.dom(&front.url("/"));
    let shown = title(&dom);
    assert!(
        shown.starts_with("SERVER_BUSY") && shown.contains("ask again in"),
        "{dom}"
    );
}

#[test]
fn an_answer_stays_until_the_field_is_cleared_in_a_browser() {
    let Some(browser) = Browser::open() else {
        return;
    };
    let world = World::with(&[("zebra.md", "# Zebra\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let served = Served::start(&world, &[]);
    let typed = "addEventListener('load', () => {
      const type = (words) => {
        field.value = words;
        field.dispatchEvent(new Event('input'));
      };
      type('apples and more');
      setTimeout(() => {
        const stayed = main.querySelector('.claims') !== null;
        type('');
        const cleared = main.textContent === '' && location.pathname === '/';
        document.title = `stayed ${stayed}, cleared ${cleared}`;
      }, 2000);
    });";
    let front = in_front_of(&served, typed);
    let dom = browser.dom(&front.url("/ask?q=How+many+apples+does+the+zebra+eat+a+day"));
    assert_eq!(title(&dom), "stayed true, cleared true", "{dom}");
}
