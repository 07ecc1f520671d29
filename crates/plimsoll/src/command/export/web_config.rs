//! The web configuration file of Prometheus exporters: certificate, key and users.
//!
//! It is read again when it or a file it names has changed, so that a renewed certificate needs no restart. What this
//! program cannot do is refused by name instead of passed over: a setting that somebody relies on must not be dropped.

use super::access::Access;
use crate::exit::{Exit, Failure};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use serde::Deserialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    tls_server_config: Option<Tls>,
    basic_auth_users: Option<HashMap<String, String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tls {
    cert_file: PathBuf,
    key_file: PathBuf,
    client_auth_type: Option<String>,
    client_ca_file: Option<PathBuf>,
    min_version: Option<String>,
    max_version: Option<String>,
}

/// What the file asks for, as it stands now.
#[derive(Clone)]
pub struct Settings {
    /// TLS, when asked for.
    pub tls: Option<Arc<ServerConfig>>,
    /// Who may read.
    pub access: Arc<Access>,
}

/// The file, followed.
pub struct WebConfig {
    path: PathBuf,
    /// Files it was made of, with their times of change.
    read: Vec<(PathBuf, Option<SystemTime>)>,
    settings: Settings,
}

impl WebConfig {
    /// Reads it.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        Self::read(path).map_err(|why| Failure::new(Exit::Usage, format!("{}: {why}", path.display())))
    }

    fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
        let file: File = match text.trim() {
            "" => File::default(),
            text => serde_saphyr::from_str(text).map_err(|e| e.to_string())?,
        };
        let mut files = vec![path.to_owned()];
        let tls = match file.tls_server_config {
            Some(mut tls) => {
                // Paths are relative to the file, as in every exporter.
                let base = path.parent().unwrap_or(Path::new("."));
                let named = [Some(&mut tls.cert_file), Some(&mut tls.key_file), tls.client_ca_file.as_mut()];
                for named in named.into_iter().flatten() {
                    *named = base.join(&named);
                    files.push(named.clone());
                }
                Some(Arc::new(server(&tls)?))
            }
            None => None,
        };
        let access = Arc::new(Access::new(file.basic_auth_users.unwrap_or_default())?);
        let read = files.into_iter().map(|f| (changed(&f), f)).map(|(at, f)| (f, at)).collect();
        Ok(Self { path: path.to_owned(), read, settings: Settings { tls, access } })
    }

    /// The settings now. When a changed file cannot be used, the last good ones stay, and the reason is given once.
    pub fn current(&mut self) -> (Settings, Option<String>) {
        let stale = self.read.iter().any(|(path, at)| changed(path) != *at);
        if !stale {
            return (self.settings.clone(), None);
        }
        match Self::read(&self.path) {
            Ok(fresh) => {
                *self = fresh;
                (self.settings.clone(), None)
            }
            Err(why) => {
                for (path, at) in &mut self.read {
                    *at = changed(path);
                }
                let words = format!("{}: {why}; the last good settings stay in force", self.path.display());
                (self.settings.clone(), Some(words))
            }
        }
    }
}

fn changed(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|m| m.modified()).ok()
}

fn server(tls: &Tls) -> Result<ServerConfig, String> {
    let said = |path: &Path, e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let certificates = certificates(&tls.cert_file)?;
    let key = PrivateKeyDer::from_pem_file(&tls.key_file).map_err(|e| said(&tls.key_file, &e))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&versions(tls)?)
        .map_err(|e| e.to_string())?;
    let builder = match (tls.client_auth_type.as_deref(), &tls.client_ca_file) {
        (None | Some("" | "NoClientCert"), None) => builder.with_no_client_auth(),
        (Some("RequireAndVerifyClientCert"), Some(ca)) => {
            let mut roots = RootCertStore::empty();
            for certificate in self::certificates(ca)? {
                roots.add(certificate).map_err(|e| said(ca, &e))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.map_err(|e| said(ca, &e))?)
        }
        (kind, _) => {
            return Err(format!(
                "client_auth_type {}: expected NoClientCert without client_ca_file, or RequireAndVerifyClientCert with one",
                kind.unwrap_or("(absent)")
            ));
        }
    };
    let mut config = builder.with_single_cert(certificates, key).map_err(|e| said(&tls.cert_file, &e))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let said = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let found = CertificateDer::pem_file_iter(path).map_err(|e| said(&e))?;
    let found: Vec<_> = found.collect::<Result<_, _>>().map_err(|e| said(&e))?;
    if found.is_empty() { Err(said(&"no certificate in it")) } else { Ok(found) }
}

fn versions(tls: &Tls) -> Result<Vec<&'static SupportedProtocolVersion>, String> {
    let number = |text: &Option<String>, default| match text.as_deref() {
        None | Some("") => Ok(default),
        Some("TLS12") => Ok(12),
        Some("TLS13") => Ok(13),
        Some(other) => Err(format!("'{other}' is no version offered here: TLS12 or TLS13")),
    };
    let (least, most) = (number(&tls.min_version, 12)?, number(&tls.max_version, 13)?);
    let all = [(12, &rustls::version::TLS12), (13, &rustls::version::TLS13)];
    let chosen: Vec<_> = all.iter().filter(|(n, _)| (least..=most).contains(n)).map(|(_, v)| *v).collect();
    if chosen.is_empty() { Err("min_version is above max_version".to_owned()) } else { Ok(chosen) }
}
