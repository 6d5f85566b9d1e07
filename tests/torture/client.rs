//! A client of `mcp` over stdin and stdout.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use super::harness::World;
use super::program::LIMIT;

/// One server and its messages. It is killed when this is dropped.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next: i64,
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Client {
    /// A server that has been initialised, or the reason why it did not start.
    pub(crate) fn start(world: &World) -> Result<Self, String> {
        let mut command = world.command();
        command
            .arg("mcp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().map_err(|e| e.to_string())?;
        let (send, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            stdout
                .lines()
                .map_while(Result::ok)
                .try_for_each(|line| send.send(line))
        });
        let stdin = child.stdin.take();
        let mut client = Self {
            child,
            stdin,
            lines,
            next: 0,
        };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
                           "clientInfo": {"name": "torture", "version": "1"}});
        client.request("initialize", &hello)?;
        client.raw(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        Ok(client)
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) -> Result<(), String> {
        let stdin = self.stdin.as_mut().ok_or("stdin is closed")?;
        stdin
            .write_all(bytes)
            .and_then(|()| stdin.flush())
            .map_err(|e| format!("the server is gone: {e}"))
    }

    /// Sends a request and returns the reply to it. Other messages may come before it; all must be
    /// valid protocol.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.next += 1;
        let id = format!("torture-{}", self.next);
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.raw(format!("{message}\n").as_bytes())?;
        loop {
            let line = self
                .lines
                .recv_timeout(LIMIT)
                .map_err(|e| format!("{method}: no answer: {e}"))?;
            let said: Value =
                serde_json::from_str(&line).map_err(|e| format!("no protocol: {e}: {line}"))?;
            if said["jsonrpc"] != "2.0" {
                return Err(format!("no protocol: {line}"));
            }
            if said["id"] == id.as_str() {
                return Ok(said);
            }
        }
    }

    /// Calls a tool and returns its result, failed or not.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let said = self.request("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        Ok(said["result"].clone())
    }

    /// Closes stdin and waits for a clean end.
    pub(crate) fn end(mut self) -> Result<(), String> {
        drop(self.stdin.take());
        let until = std::time::Instant::now() + LIMIT;
        while std::time::Instant::now() < until {
            match self.child.try_wait().map_err(|e| e.to_string())? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("the server ended with {status}")),
                None => std::thread::sleep(std::time::Duration::from_millis(2)),
            }
        }
        Err("the server did not end".to_owned())
    }
}

/// The code of a failed result.
pub(crate) fn code_of(result: &Value) -> Option<String> {
    let failed = result["isError"] == true || result.is_null();
    failed.then(|| {
        result["_meta"]["local-agent/error"]["error_code"]
            .as_str()
            .unwrap_or("NO_CODE")
            .to_owned()
    })
}
