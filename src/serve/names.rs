//! The host names of this server. A page of another site whose name resolves to this machine (DNS
//! rebinding) still sends its own name.

use std::net::SocketAddr;

use super::Settings;
use local_agent_text::error::{ErrorCode, Failure, Result};

/// The names and origins of this server.
#[derive(Debug)]
pub(super) struct Names {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Names {
    pub(super) fn new(address: SocketAddr, proxy: Option<&str>) -> Self {
        let mut hosts = vec![address.to_string(), format!("localhost:{}", address.port())];
        let mut origins: Vec<String> = hosts.iter().map(|host| format!("http://{host}")).collect();
        if let Some(proxy) = proxy {
            let proxy = proxy.to_ascii_lowercase();
            origins.push(format!("https://{proxy}"));
            hosts.push(proxy);
        }
        Self { hosts, origins }
    }

    pub(super) fn is_host(&self, name: &str) -> bool {
        self.hosts
            .iter()
            .any(|host| host.eq_ignore_ascii_case(name))
    }

    pub(super) fn is_origin(&self, origin: &str) -> bool {
        self.origins
            .iter()
            .any(|own| own.eq_ignore_ascii_case(origin))
    }
}

/// Refuses to listen beyond this machine without a proxy that terminates TLS.
pub(super) fn check(settings: &Settings) -> Result<()> {
    if let Some(name) = &settings.behind_proxy
        && (name.is_empty() || name.contains(['/', '@', ' ']))
    {
        return Err(
            Failure::new(ErrorCode::InvalidArgs, format!("`{name}` is no host name"))
                .with_hint("give the name alone: --behind-proxy notes.example.org"),
        );
    }
    if settings.listen.ip().is_loopback() || settings.behind_proxy.is_some() {
        return Ok(());
    }
    let message = format!(
        "{} can be reached from other machines, and this server speaks no TLS: the token would cross the network in clear text",
        settings.listen
    );
    Err(Failure::new(ErrorCode::InvalidArgs, message).with_hint(
        "leave --listen out, or put a proxy that ends TLS before it and name it: --behind-proxy notes.example.org",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_names_and_origins_are_its() {
        let names = Names::new("127.0.0.1:8377".parse().unwrap(), Some("Notes.example.org"));
        for own in ["127.0.0.1:8377", "LOCALHOST:8377", "notes.example.org"] {
            assert!(names.is_host(own), "{own}");
        }
        for other in [
            "",
            "localhost",
            "127.0.0.1",
            "localhost:80",
            "evil.example:8377",
            "127.0.0.1:8377.evil",
        ] {
            assert!(!names.is_host(other), "{other}");
        }
        for own in [
            "http://127.0.0.1:8377",
            "http://localhost:8377",
            "https://notes.example.org",
        ] {
            assert!(names.is_origin(own), "{own}");
        }
        for other in [
            "null",
            "",
            "https://127.0.0.1:8377",
            "http://localhost",
            "http://notes.example.org",
        ] {
            assert!(!names.is_origin(other), "{other}");
        }
    }
}
