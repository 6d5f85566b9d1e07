//! The host names of this server. A page of another site whose name resolves to this machine (DNS
//! rebinding) still sends its own name as `Host`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::{Settings, TlsIdentity};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// The names and origins of this server.
#[derive(Debug)]
pub(super) struct Names {
    port: u16,
    hosts: Vec<String>,
    origins: Vec<String>,
    tls: Option<TlsIdentity>,
}

impl Names {
    pub(super) fn new(address: SocketAddr, proxy: Option<&str>, tls: Option<TlsIdentity>) -> Self {
        let port = address.port();
        let mut hosts = vec![address.to_string(), format!("localhost:{port}")];
        if address.ip().is_unspecified() {
            hosts.extend([format!("127.0.0.1:{port}"), format!("[::1]:{port}")]);
        }
        let scheme = if tls.is_some() { "https" } else { "http" };
        let own = hosts.iter().map(|host| format!("{scheme}://{host}"));
        let mut origins: Vec<String> = own.collect();
        if let Some(proxy) = proxy {
            let proxy = proxy.to_ascii_lowercase();
            origins.push(format!("https://{proxy}"));
            hosts.push(proxy);
        }
        Self {
            port,
            hosts,
            origins,
            tls,
        }
    }

    pub(super) fn is_host(&self, name: &str) -> bool {
        self.hosts
            .iter()
            .any(|host| host.eq_ignore_ascii_case(name))
            || self.is_certified(name)
    }

    pub(super) fn is_origin(&self, origin: &str) -> bool {
        let is_own = |own: &String| own.eq_ignore_ascii_case(origin);
        self.origins.iter().any(is_own)
            || origin
                .split_once("://")
                .is_some_and(|(scheme, name)| self.is_certified_origin((scheme, name)))
    }

    /// Whether the origin is a name of the certificate, over https.
    fn is_certified_origin(&self, (scheme, name): (&str, &str)) -> bool {
        scheme.eq_ignore_ascii_case("https") && self.is_certified(name)
    }

    /// Whether this server's own certificate covers this name and port, which the certificate's
    /// owner decided.
    fn is_certified(&self, name: &str) -> bool {
        let Some(tls) = &self.tls else { return false };
        let (host, port) = match name.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
            _ => (name, Some(443)),
        };
        port == Some(self.port) && tls.covers(host)
    }
}

/// The address under which programs on this machine reach the server. One that listens at every
/// address of the machine cannot be called by the address that stands for all of them.
pub(super) fn own_address(listening: SocketAddr) -> SocketAddr {
    let ip = match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listening.port())
}

/// Refuses to listen for other machines without TLS, either by a certificate or by a proxy.
pub(super) fn check(settings: &Settings) -> Result<()> {
    if let Some(name) = &settings.behind_proxy
        && (name.is_empty() || name.contains(['/', '@', ' ']))
    {
        return Err(Failure::new(
            ErrorCode::InvalidArgs,
            format!("`{name}` is not a host name"),
        )
        .with_hint("give the name alone: --behind-proxy notes.example.org"));
    }
    let is_secure = settings.behind_proxy.is_some() || settings.tls.is_some();
    if settings.listen.ip().is_loopback() || is_secure {
        return Ok(());
    }
    let message = format!(
        "{} can be reached from other machines, and without a certificate this server speaks no TLS: the token would cross the network in clear text",
        settings.listen
    );
    Err(Failure::new(ErrorCode::InvalidArgs, message).with_hint(
        "leave --listen out, give --tls-cert FILE and --tls-key FILE, or put a proxy that ends TLS before it and name it: \
         --behind-proxy notes.example.org",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_at_every_address_can_be_called_at_the_one_that_it_names() {
        for (listening, own) in [
            ("0.0.0.0:8377", "127.0.0.1:8377"),
            ("[::]:8377", "[::1]:8377"),
            ("192.168.0.2:8377", "192.168.0.2:8377"),
        ] {
            let listening: SocketAddr = listening.parse().unwrap();
            let address = own_address(listening).to_string();
            assert_eq!(address, own);
            let names = Names::new(listening, None, None);
            assert!(names.is_host(&address), "{address}");
            assert!(names.is_origin(&format!("http://{address}")), "{address}");
        }
    }

    #[test]
    fn only_its_own_names_and_origins_are_its() {
        let names = Names::new(
            "127.0.0.1:8377".parse().unwrap(),
            Some("Notes.example.org"),
            None,
        );
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
