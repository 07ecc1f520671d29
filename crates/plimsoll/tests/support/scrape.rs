//! Whoever asks `plimsoll export`: a bare HTTP client, and a Prometheus of our own.

use super::command::{Running, plain};
use super::wait_until;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// `plimsoll export` on a port of its own, once it answers.
pub fn export(flags: &str) -> (Running, u16) {
    let port = free_port();
    let listen = format!("127.0.0.1:{port}");
    let mut args = vec!["export", "--listen", &listen, "--interval", "200ms"];
    args.extend(flags.split_whitespace());
    let mut running = Running::start(args);
    let up =
        wait_until(Duration::from_secs(30), || TcpStream::connect(&listen).is_ok() || !running.is_running());
    assert!(up, "nothing listens on {listen}");
    if !running.is_running() {
        panic!("{:?}", running.end());
    }
    (running, port)
}

/// Status line, headers and body.
pub fn get(port: u16, request: &str, headers: &str) -> (String, String, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(stream, "{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let (status, headers) = head.split_once("\r\n").unwrap_or((head, ""));
    (status.to_owned(), headers.to_lowercase(), body.to_owned())
}

/// A Prometheus that keeps its data in a folder.
pub struct Prometheus {
    running: Running,
    port: u16,
}

impl Prometheus {
    /// Starts one with this configuration in `folder`.
    pub fn start(folder: &Path, config: &str) -> Self {
        let file = folder.join("prometheus.yml");
        std::fs::write(&file, config).unwrap();
        let port = free_port();
        let mut command = plain("prometheus");
        command.arg(format!("--config.file={}", file.display()));
        command.arg(format!("--storage.tsdb.path={}", folder.join("tsdb").display()));
        command.arg(format!("--web.listen-address=127.0.0.1:{port}"));
        let running = Running::spawn(command);
        let prometheus = Self { running, port };
        let ready = || {
            TcpStream::connect(("127.0.0.1", port)).is_ok() && get(port, "GET /-/ready", "").0.contains("200")
        };
        assert!(wait_until(Duration::from_secs(60), ready), "Prometheus does not start");
        prometheus
    }

    fn api(&self, path: &str) -> Value {
        let (_, headers, body) = get(self.port, &format!("GET /api/v1/{path}"), "");
        // Longer answers come in chunks, whose lengths stand on lines of their own.
        let body = if headers.contains("transfer-encoding: chunked") { unchunked(&body) } else { body };
        serde_json::from_str(&body).unwrap_or_else(|e| panic!("{e} in {body}"))
    }

    /// Results of an instant query: labels and value.
    pub fn query(&self, query: &str) -> Vec<(Value, f64)> {
        let encoded: String = query.bytes().map(|b| format!("%{b:02X}")).collect();
        let answer = self.api(&format!("query?query={encoded}"));
        let results =
            answer["data"]["result"].as_array().unwrap_or_else(|| panic!("{query}: {answer:#}")).clone();
        let value = |r: &Value| r["value"][1].as_str().unwrap().parse().unwrap();
        results.iter().map(|r| (r["metric"].clone(), value(r))).collect()
    }

    /// The one value of a query, as soon as there is one.
    pub fn value(&self, query: &str) -> f64 {
        let there = wait_until(Duration::from_secs(60), || !self.query(query).is_empty());
        assert!(there, "{query} yields nothing; targets: {:#}", self.api("targets")["data"]["activeTargets"]);
        self.query(query)[0].1
    }

    /// Alerts that fire.
    pub fn firing(&self) -> Vec<Value> {
        let alerts = self.api("alerts")["data"]["alerts"].as_array().unwrap().clone();
        alerts.into_iter().filter(|a| a["state"] == "firing").map(|a| a["labels"].clone()).collect()
    }

    pub fn is_running(&mut self) -> bool {
        self.running.is_running()
    }
}

fn unchunked(body: &str) -> String {
    let mut rest = body;
    let mut whole = String::new();
    while let Some((length, after)) = rest.split_once("\r\n") {
        let Ok(length @ 1..) = usize::from_str_radix(length.trim(), 16) else { break };
        whole.push_str(&after[..length]);
        rest = after[length..].trim_start_matches("\r\n");
    }
    whole
}

/// A certificate for 127.0.0.1 signed by itself, in `folder`.
pub fn certificate(folder: &Path) -> Result<(), String> {
    let done = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-keyout")
        .arg(folder.join("key.pem"))
        .arg("-out")
        .arg(folder.join("cert.pem"))
        .output()
        .map_err(|e| format!("openssl: {e}"))?;
    if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
}
