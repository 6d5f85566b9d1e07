//! The server's certificate and key, with which it uses TLS itself.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::client::verify_server_name;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ParsedCertificate;
use tokio_rustls::TlsAcceptor;

use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Sha256;

/// The command that creates a matching pair of files.
const MAKE: &str = "openssl req -x509 -newkey rsa:3072 -nodes -days 365 -keyout key.pem -out cert.pem \
                    -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1";

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
    Failure::new(ErrorCode::InvalidArgs, message).with_hint(MAKE)
}

fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).map_err(|e| {
        let code = match e.kind() {
            std::io::ErrorKind::NotFound => ErrorCode::FileNotFound,
            _ => ErrorCode::FileReadError,
        };
        let message = format!("{} cannot be read: {e}", file.display());
        Failure::new(code, message).with_hint(MAKE)
    })
}

impl TlsIdentity {
    /// Reads PEM files: the certificate with its chain, and its key.
    ///
    /// # Errors
    /// `FILE_NOT_FOUND`, `FILE_READ_ERROR`; `INVALID_ARGS` when a file has other content or the key
    /// belongs to another certificate.
    pub(crate) fn read(certificate: &Path, key: &Path) -> Result<Self> {
        let chain: Vec<CertificateDer<'static>> =
            CertificateDer::pem_slice_iter(&read(certificate)?)
                .collect::<std::result::Result<_, _>>()
                .map_err(|e| wrong(format!("{} is no PEM file: {e}", certificate.display())))?;
        let Some(own) = chain.first().cloned() else {
            let file = certificate.display();
            return Err(wrong(format!("{file} holds no certificate in PEM form")));
        };
        let secret = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|_| {
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
