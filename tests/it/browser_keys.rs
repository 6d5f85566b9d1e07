//! The pages in a real browser, used with the keyboard alone: the keys go through Chromium's own
//! input, over the protocol of its developer tools. Skipped as the tests in `browser.rs`.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::browser::{WITHOUT_WINDOW, chromium};
use crate::harness::World;
use crate::serve::Served;

/// How long a page may take to do something. Only a hang reaches it.
const CAP: Duration = Duration::from_secs(60);

/// One tab of a browser that is told what to do over two pipes.
struct Tab {
    child: Child,
    commands: File,
    replies: BufReader<File>,
    session: Option<String>,
    last_id: u64,
    _profile: tempfile::TempDir,
}

impl Tab {
    /// `None`, with one printed line, where no browser starts.
    fn open() -> Option<Self> {
        let Some(program) = chromium() else {
            println!("skipped: there is no Chromium on this machine");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        let pipes = ["commands", "replies"].map(|name| profile.path().join(name));
        let made = Command::new("mkfifo").args(&pipes).status().unwrap();
        assert!(made.success());
        let child = Command::new("/bin/sh")
            .args(["-c", "exec 3<\"$1\" 4>\"$2\"; shift 2; exec \"$@\"", "sh"])
            .args(&pipes)
            .arg(program)
            .args(WITHOUT_WINDOW)
            .arg("--remote-debugging-pipe")
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let commands = OpenOptions::new().write(true).open(&pipes[0]).unwrap();
        let replies = BufReader::new(File::open(&pipes[1]).unwrap());
        let mut tab = Self {
            child,
            commands,
            replies,
            session: None,
            last_id: 0,
            _profile: profile,
        };
        let Some(target) = tab.ask("Target.createTarget", &json!({"url": "about:blank"})) else {
            println!("skipped: Chromium does not start on this machine");
            return None;
        };
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = tab.ask("Target.attachToTarget", &attach).unwrap();
        tab.session = attached["sessionId"].as_str().map(str::to_owned);
        tab.does("Page.enable", &json!({}));
        Some(tab)
    }

    /// Sends a command and waits for its result; `None` if the browser ended.
    fn ask(&mut self, method: &str, params: &Value) -> Option<Value> {
        self.last_id += 1;
        let mut command = json!({"id": self.last_id, "method": method, "params": params});
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        let line = [command.to_string().as_bytes(), b"\0"].concat();
        self.commands.write_all(&line).ok()?;
        loop {
            let mut reply = Vec::new();
            self.replies.read_until(0, &mut reply).ok()?;
            reply.pop()?;
            let reply: Value = serde_json::from_slice(&reply).unwrap();
            if reply["id"] == self.last_id {
                assert!(reply.get("error").is_none(), "{method}: {reply}");
                return Some(reply["result"].clone());
            }
        }
    }

    fn does(&mut self, method: &str, params: &Value) -> Value {
        self.ask(method, params).expect("the browser ended")
    }

    /// The value of an expression in the page.
    fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true});
        self.does("Runtime.evaluate", &params)["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    fn waits_for(&mut self, expression: &str) {
        let until = Instant::now() + CAP;
        while self.value(expression) != true {
            let page = "location.href + '\\n' + document.body?.innerText";
            assert!(
                Instant::now() < until,
                "never: {expression}\n{}",
                self.value(page)
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn goes_to(&mut self, address: &str) {
        self.does("Page.navigate", &json!({"url": address}));
        self.waits_for("document.readyState === 'complete' && location.protocol !== 'about:'");
    }

    /// Presses a key: a character, `Tab` or `Enter`.
    fn presses(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            _ => (0, key),
        };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let params = json!({
                "type": kind, "key": key, "text": text, "windowsVirtualKeyCode": code,
            });
            self.does("Input.dispatchKeyEvent", &params);
        }
    }

    fn types(&mut self, text: &str) {
        for c in text.chars() {
            self.presses(c.encode_utf8(&mut [0; 4]));
        }
    }

    /// Presses `Tab` until an expression about `document.activeElement` (`e`) is true.
    fn tabs_to(&mut self, expression: &str) {
        let is_there = format!("((e) => {expression})(document.activeElement)");
        for _ in 0..60 {
            if self.value(&is_there) == true {
                return;
            }
            self.presses("Tab");
        }
        panic!("no key leads to: {expression}");
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn zebras() -> World {
    let world = World::with(&[
        ("zebra.md", "# Zebra\n\nThe zebra eats 14 apples a day.\n"),
        ("owl.md", "# Owl\n\nThe owl sleeps in the oak.\n"),
    ]);
    world.ok(&["index"]);
    world
}

/// A browser that a server's link admitted.
struct Admitted {
    tab: Tab,
    /// The address of the first page.
    home: String,
    world: World,
    _served: Served,
}

impl Admitted {
    /// `None` where no browser starts.
    fn open() -> Option<Self> {
        let mut tab = Tab::open()?;
        let world = zebras();
        let served = Served::start(&world, &[]);
        let said = world.ok(&["serve", "link"]).stdout;
        let link = said.lines().find(|line| line.contains("key="));
        tab.goes_to(link.unwrap_or_else(|| panic!("{said}")));
        tab.does("Page.bringToFront", &json!({}));
        let home = format!("http://{}/", served.address);
        tab.waits_for(&format!("location.href === '{home}'"));
        Some(Self {
            tab,
            home,
            world,
            _served: served,
        })
    }
}

#[test]
fn a_person_with_a_keyboard_alone_searches_asks_and_reads() {
    let Some(mut admitted) = Admitted::open() else {
        return;
    };
    let tab = &mut admitted.tab;
    // The first key leads to the link that skips the head of the page.
    tab.value("document.activeElement.blur()");
    tab.presses("Tab");
    let first = tab.value("document.activeElement.getAttribute('href')");
    assert_eq!(first, "#main");
    // One key leads to the field from everywhere; the hits come while it is filled.
    tab.presses("/");
    tab.waits_for("document.activeElement === field");
    tab.types("apples");
    tab.waits_for("document.querySelector('main mark')?.textContent === 'apples'");
    // A hit is a link that `Tab` leads to, and that shows where the focus is.
    tab.tabs_to("e.closest('main') && e.matches('a[href*=\"zebra.md\"]')");
    let outline = tab.value("getComputedStyle(document.activeElement).outlineStyle");
    assert_ne!(outline, "none");
    tab.presses("Enter");
    tab.waits_for("location.pathname === '/note' && document.readyState === 'complete'");
    // The question is sent by the button, and the answer has the focus.
    tab.presses("/");
    tab.waits_for("document.activeElement === field");
    tab.value("field.select()");
    tab.types("How many apples does the zebra eat a day?");
    tab.tabs_to("e.id === 'ask'");
    tab.presses("Enter");
    tab.waits_for("document.querySelector('main .verified') !== null");
    assert_eq!(tab.value("document.activeElement === main"), true);
}

#[test]
fn search_and_ask_work_without_scripts() {
    let Some(mut admitted) = Admitted::open() else {
        return;
    };
    let Admitted { tab, home, .. } = &mut admitted;
    tab.does(
        "Emulation.setScriptExecutionDisabled",
        &json!({"value": true}),
    );
    tab.goes_to(home);
    tab.tabs_to("e.id === 'q'");
    tab.types("apples");
    tab.presses("Enter");
    tab.waits_for("document.querySelector('main mark')?.textContent === 'apples'");
    tab.tabs_to("e.id === 'q'");
    tab.value("document.activeElement.select()");
    tab.types("How many apples does the zebra eat a day?");
    tab.tabs_to("e.id === 'ask'");
    tab.presses("Enter");
    tab.waits_for("document.querySelector('main .verified') !== null");
    assert_eq!(tab.value("location.pathname"), "/ask");
}

/// The address of an answer asked again once, and a model could give another answer.
#[test]
fn back_and_reload_show_an_answer_and_ask_nothing() {
    let Some(mut admitted) = Admitted::open() else {
        return;
    };
    let Admitted { tab, world, .. } = &mut admitted;
    tab.presses("/");
    tab.waits_for("document.activeElement === field");
    tab.types("How many apples does the zebra eat a day?");
    tab.tabs_to("e.id === 'ask'");
    tab.presses("Enter");
    tab.waits_for("location.search.startsWith('?run=') && document.querySelector('main .flow .verified') !== null");
    // A sentence leads to its proof, and the proof to the note.
    tab.value("document.querySelector('main .flow .verified').click()");
    tab.waits_for("document.querySelector('.claims details').open");
    tab.value("document.querySelector('.claims .place a').click()");
    tab.waits_for("location.pathname === '/note' && document.readyState === 'complete'");
    tab.value("history.back()");
    tab.waits_for(
        "location.pathname === '/ask' && document.querySelector('main .flow .verified') !== null",
    );
    tab.value("location.reload()");
    tab.waits_for("document.readyState === 'complete' && document.querySelector('main .flow .verified') !== null");
    assert_eq!(world.json(&["runs", "list"])["total"], 1);
    // An empty field leads back to the first page.
    tab.value("field.value = ''; field.dispatchEvent(new Event('input'))");
    tab.waits_for("location.pathname === '/' && document.querySelector('main .hero') !== null");
}

/// A page of another site that the browser has open beside the notes: it reads nothing, and asks
/// nothing in the person's name.
#[test]
fn s42_a_page_of_another_site_reads_nothing_in_a_browser() {
    use local_agent_testing::server::{Step, serve};
    let Some(mut admitted) = Admitted::open() else {
        return;
    };
    let Admitted {
        tab, home, world, ..
    } = &mut admitted;
    tab.goes_to(&format!("{home}?q=apples"));
    tab.waits_for("document.querySelector('main mark') !== null");
    let before = world.ok(&["tool", "log", "--json"]).stdout;
    let page = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n\
        <title>other</title><iframe></iframe>";
    let other = serve(move |_| vec![Step::Bytes(page.as_bytes().to_vec())]);
    tab.goes_to(&other.url("/"));
    tab.waits_for("document.title === 'other'");
    let attempts = format!(
        "(async () => {{
          const seen = [];
          const post = {{ method: 'POST', body: '{{\"query\":\"apples\"}}', credentials: 'include' }};
          for (const [path, how] of [
            ['/api/search', {{ ...post, headers: {{ 'Content-Type': 'application/json' }} }}],
            ['/api/search', {{ ...post, mode: 'no-cors' }}],
            ['/ask/stream?q=apples', {{ credentials: 'include' }}],
            ['/?q=apples', {{ credentials: 'include', mode: 'no-cors' }}],
            ['/health', {{}}],
          ]) {{
            try {{
              const reply = await fetch('{0}' + path, how);
              seen.push(reply.type + (await reply.text()));
            }} catch {{ seen.push('refused'); }}
          }}
          document.querySelector('iframe').src = '{0}/?q=apples';
          await new Promise((done) => setTimeout(done, 1000));
          let inside = 'closed';
          try {{ inside = frames[0].document?.body?.innerText ?? 'closed'; }} catch {{ }}
          document.title = JSON.stringify([...seen, inside]);
        }})()",
        home.trim_end_matches('/')
    );
    tab.value(&attempts);
    tab.waits_for("document.title !== 'other'");
    let seen = tab.value("document.title");
    assert!(!seen.as_str().unwrap().contains("14 apples"), "{seen}");
    let after = world.ok(&["tool", "log", "--json"]).stdout;
    assert_eq!(before, after, "{seen}");
}
