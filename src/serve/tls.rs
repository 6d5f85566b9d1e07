//! The server's certificate and key, with which it uses TLS itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::client::verify_server_name;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ParsedCertificate;
use tokio_rustls::TlsAcceptor;

use local_agent_files::state::quoted;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Sha256;

/// The command that creates a matching pair of files.
fn to_make(certificate: &Path, key: &Path) -> String {
    let folders = [certificate, key].map(|file| file.parent().unwrap_or(Path::new(".")));
    let missing: BTreeSet<&Path> = folders
        .into_iter()
        .filter(|folder| !folder.exists())
        .collect();
    let made: String = missing
        .iter()
        .map(|folder| format!("mkdir -p {} && ", quoted(folder)))
        .collect();
    format!(
        "{made}openssl req -x509 -newkey rsa:3072 -nodes -days 365 -keyout {} -out {} \
         -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1",
        quoted(key),
        quoted(certificate)
    )
}

/// What to do about a pair of which a file is there and cannot be used: nothing is replaced.
const ANOTHER_PAIR: &str = "name the two files of one pair; `openssl req -x509 -newkey rsa:3072 -nodes -days 365 \
                            -keyout new-key.pem -out new-cert.pem -subj /CN=localhost \
                            -addext subjectAltName=DNS:localhost,IP:127.0.0.1` makes one";

/// A certificate with its key.
#[derive(Clone)]
pub(crate) struct TlsIdentity {
    config: Arc<ServerConfig>,
    certificate: CertificateDer<'static>,
}

impl std::fmt::Debug for TlsIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TlsIdentity")
    }
}

fn wrong(message: String) -> Failure {
    Failure::new(ErrorCode::InvalidArgs, message).with_hint(ANOTHER_PAIR)
}

/// Reads both files.
fn read(certificate: &Path, key: &Path) -> Result<[Vec<u8>; 2]> {
    let read = |file: &Path| fs::read(file).map_err(|e| unread(file, &e, certificate, key));
    Ok([read(certificate)?, read(key)?])
}

/// The failure for a file of a pair that cannot be read.
fn unread(file: &Path, e: &std::io::Error, certificate: &Path, key: &Path) -> Failure {
    let code = match e.kind() {
        std::io::ErrorKind::NotFound => ErrorCode::FileNotFound,
        _ => ErrorCode::FileReadError,
    };
    let hint = match certificate.exists() || key.exists() {
        true => ANOTHER_PAIR.to_owned(),
        false => to_make(certificate, key),
    };
    let message = format!("{} cannot be read: {e}", file.display());
    Failure::new(code, message).with_hint(hint)
}

impl TlsIdentity {
    /// Reads PEM files: the certificate with its chain, and its key.
    ///
    /// # Errors
    /// `FILE_NOT_FOUND`, `FILE_READ_ERROR`; `INVALID_ARGS` when a file has other content or the key
    /// belongs to another certificate.
    pub(crate) fn read(certificate: &Path, key: &Path) -> Result<Self> {
        let [chain, secret] = read(certificate, key)?;
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&chain)
            .collect::<std::result::Result<_, _>>()
            .map_err(|e| wrong(format!("{} is not a PEM file: {e}", certificate.display())))?;
        let Some(own) = chain.first().cloned() else {
            let file = certificate.display();
            return Err(wrong(format!("{file} holds no certificate in PEM form")));
        };
        let secret = PrivateKeyDer::from_pem_slice(&secret).map_err(|_| {
            let file = key.display();
            wrong(format!("{file} holds no unencrypted key in PEM form"))
        })?;
        ParsedCertificate::try_from(&own)
            .map_err(|e| wrong(format!("{}: {e}", certificate.display())))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| Failure::internal(format!("TLS has no version: {e}")))?
            .with_no_client_auth()
            .with_single_cert(chain, secret)
            .map_err(|e| refused(&e, certificate, key))?;
        Ok(Self {
            config: Arc::new(config),
            certificate: own,
        })
    }

    /// Accepts TLS connections with this identity.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }

    /// The hash of the certificate.
    pub(super) fn sha256(&self) -> Sha256 {
        Sha256::of(&self.certificate)
    }

    /// Whether the certificate is for this host.
    pub(super) fn covers(&self, host: &str) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let (Ok(name), Ok(certificate)) = (
            ServerName::try_from(host),
            ParsedCertificate::try_from(&self.certificate),
        ) else {
            return false;
        };
        verify_server_name(&certificate, &name).is_ok()
    }
}

fn refused(e: &rustls::Error, certificate: &Path, key: &Path) -> Failure {
    let (certificate, key) = (certificate.display(), key.display());
    if matches!(e, rustls::Error::InconsistentKeys(_)) {
        return wrong(format!("{key} is not the key of {certificate}"));
    }
    wrong(format!("{certificate} and {key} cannot be used: {e}"))
}
