//! The address of a model server. It is kept as typed until a command needs it, so a bad address
//! never stops commands that contact no server.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// A server's address: `http` or `https`, a host, an optional port, an optional path. Written
/// without a trailing slash, and without a `/v1` at its end: the code that calls the server adds
/// that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerUrl {
    https: bool,
    /// Lower case; an IPv6 address is in brackets.
    host: String,
    port: Option<u16>,
    /// Empty, or with a leading slash and no trailing slash.
    path: String,
}

impl ServerUrl {
    /// Parses an address.
    ///
    /// # Errors
    /// One sentence saying what is wrong: another scheme, no host, a bad port, a path with
    /// characters not allowed in names, or a query, fragment or credentials, which would be sent
    /// along or silently dropped.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        if text
            .chars()
            .any(|c| c.is_whitespace() || c.is_control() || c == '\\')
        {
            return Err("it holds white space, a backslash or a control character");
        }
        let (scheme, rest) = text
            .split_once("://")
            .ok_or("it must start with `http://` or `https://`")?;
        let https = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return Err("its scheme must be `http` or `https`"),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        for (mark, why) in [
            ('@', "it must not hold a user name or password"),
            ('?', "it must not hold a query"),
            ('#', "it must not hold a fragment"),
        ] {
            if rest.contains(mark) {
                return Err(why);
            }
        }
        let (server, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (host, port) = split_port(server)?;
        Ok(Self {
            https,
            host,
            port,
            path: checked_path(path)?.to_owned(),
        })
    }

    /// The host, lower case; an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether text sent there is encrypted in transit.
    pub const fn is_https(&self) -> bool {
        self.https
    }

    /// Whether the spelling of the address means this machine: `localhost`, 127.0.0.0/8 or `[::1]`.
    /// Names are not looked up.
    pub fn is_loopback(&self) -> bool {
        let v6 = self
            .host
            .strip_prefix('[')
            .and_then(|h| h.strip_suffix(']'));
        self.host == "localhost"
            || self
                .host
                .parse::<Ipv4Addr>()
                .is_ok_and(|ip| ip.is_loopback())
            || v6.is_some_and(|h| h.parse::<Ipv6Addr>().is_ok_and(|ip| ip.is_loopback()))
    }
}

/// Checks a path and removes `/v1` at its end.
fn checked_path(path: &str) -> Result<&str, &'static str> {
    let is_name = |name: &str| {
        let well_formed = name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'~'));
        well_formed && !matches!(name, "" | "." | "..")
    };
    if !path.split('/').skip(1).all(is_name) {
        return Err("its path must be names of ASCII letters, digits, `.`, `-`, `_`, `~`");
    }
    Ok(path.strip_suffix("/v1").unwrap_or(path))
}

/// Splits the part after the scheme into host and port.
fn split_port(text: &str) -> Result<(String, Option<u16>), &'static str> {
    let (host, port) = if let Some(inner) = text.strip_prefix('[') {
        let (address, rest) = inner
            .split_once(']')
            .ok_or("its IPv6 address lacks the closing bracket")?;
        let ip: Ipv6Addr = address
            .parse()
            .map_err(|_| "its IPv6 address cannot be read")?;
        let port = if rest.is_empty() {
            None
        } else {
            Some(rest.strip_prefix(':').ok_or("its port cannot be read")?)
        };
        (format!("[{ip}]"), port)
    } else {
        let (host, port) = text
            .split_once(':')
            .map_or((text, None), |(h, p)| (h, Some(p)));
        let well_formed = !host.is_empty()
            && host.len() <= 253
            && host
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'));
        if !well_formed {
            return Err(
                "its host must be a name of ASCII letters, digits, `.`, `-`, or an address",
            );
        }
        (host.to_ascii_lowercase(), port)
    };
    let port = match port {
        None => None,
        Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => Some(
            digits
                .parse::<u16>()
                .ok()
                .filter(|p| *p > 0)
                .ok_or("its port must be 1 to 65535")?,
        ),
        Some(_) => return Err("its port must be 1 to 65535"),
    };
    Ok((host, port))
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.https { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))?;
        f.write_str(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn scheme_host_port_and_path_only() {
        for (text, expected) in [
            ("http://127.0.0.1:11434", "http://127.0.0.1:11434"),
            ("http://127.0.0.1:11434/", "http://127.0.0.1:11434"),
            (" HTTPS://Ollama.Example ", "https://ollama.example"),
            ("http://[::1]:8080", "http://[::1]:8080"),
            ("http://ollama_box", "http://ollama_box"),
            ("http://host/api", "http://host/api"),
            ("https://openrouter.ai/api/v1/", "https://openrouter.ai/api"),
            ("http://localhost:1234/v1", "http://localhost:1234"),
        ] {
            assert_eq!(
                ServerUrl::parse(text).unwrap().to_string(),
                expected,
                "{text}"
            );
        }
        for text in [
            "",
            "127.0.0.1:11434",
            "localhost:11434",
            "ftp://host",
            "file:///etc/passwd",
            "http://",
            "http://:80",
            "http://host:",
            "http://host:0",
            "http://host:65536",
            "http://host:+80",
            "http://host//",
            "http://host/a//b",
            "http://host/../etc",
            "http://host/a%2fb",
            "http://host/a b",
            "http://host/api?x=1",
            "http://host?x=1",
            "http://host#frag",
            "http://user:pw@host",
            "http://host\\@other",
            "http://ho st",
            "http://[::1",
            "http://[::1]x",
            "http://[zz]",
            "http://bücher.example",
        ] {
            assert!(ServerUrl::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_this_machine_is_loopback() {
        for text in [
            "http://localhost",
            "http://LOCALHOST:1",
            "http://127.1.2.3",
            "http://[::1]",
            "http://[0:0::1]:9",
        ] {
            assert!(ServerUrl::parse(text).unwrap().is_loopback(), "{text}");
        }
        for text in [
            "http://localhost.evil.example",
            "http://127.0.0.1.nip.io",
            "http://0.0.0.0",
            "http://2130706433",
            "http://10.0.0.1",
        ] {
            assert!(!ServerUrl::parse(text).unwrap().is_loopback(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_back(text in "https?://[a-zA-Z0-9.\\[\\]:@/?#_-]{0,30}") {
            if let Ok(url) = ServerUrl::parse(&text) {
                prop_assert_eq!(ServerUrl::parse(&url.to_string()).unwrap(), url);
            }
        }
    }
}
