//! `plimsoll export`: who asks gets metrics that Prometheus and promtool understand, and an alert that fires.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use rustix::process::Signal;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use support::command::{Running, plain, plimsoll};
use support::loopdev::LoopDevice;
use support::scrape::{Prometheus, certificate, export, get};
use support::{Turn, folder, program, wait_until};

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../metrics").join(name)
}

/// Runs a program with this input; what it said.
fn piped(mut command: Command, input: &str) -> (bool, String) {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    let said = [done.stdout, done.stderr].map(|s| String::from_utf8_lossy(&s).into_owned()).concat();
    (done.status.success(), said)
}

#[test]
fn who_asks_gets_metrics_and_nothing_else() {
    let (running, port) = export("");
    let up = || get(port, "GET /metrics", "").2.contains("plimsoll_device_ios_total{");
    // A host without any I/O since its start has no device to offer, and no test either.
    assert!(wait_until(Duration::from_secs(10), up));
    let (status, headers, body) = get(port, "GET /metrics", "");
    assert!(status.contains("200") && headers.contains("text/plain; version=0.0.4"), "{status} {headers}");
    assert!(!body.contains("# EOF") && body.contains("# TYPE plimsoll_device_ios_total counter"), "{body}");
    let (_, headers, body) =
        get(port, "GET /metrics", "Accept: application/openmetrics-text;version=1.0.0\r\n");
    assert!(headers.contains("application/openmetrics-text; version=1.0.0"), "{headers}");
    assert!(body.ends_with("# EOF\n") && body.contains("# UNIT plimsoll_device_io_bytes bytes"), "{body}");
    for (request, status) in [("GET /", "200"), ("GET /secret", "404"), ("POST /metrics", "405")] {
        assert!(get(port, request, "").0.contains(status), "{request}");
    }
    running.signal(Signal::TERM);
    running.end().expect(0);
}

#[test]
fn promtool_and_a_strict_parser_find_nothing_wrong() {
    let once = plimsoll(["export", "--once", "--interval", "300ms"]).expect(0).stdout;
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python/bin/python");
    let mut strict = Command::new(&python);
    strict.args(["-c", "import sys\nfrom prometheus_client.openmetrics.parser import text_string_to_metric_families as parse\nprint(len(list(parse(sys.stdin.read()))))"]);
    if python.is_file() {
        let (sound, said) = piped(strict, &once);
        assert!(sound && said.trim().parse::<u32>().is_ok_and(|n| n > 10), "{said}\n{once}");
    } else {
        support::skipped("the strict parser", "no Python in target/python (scripts/setup test makes one)");
    }
    if program("promtool").is_none() {
        skip!("promtool is not installed (scripts/setup test)");
    }
    let (running, port) = export("");
    std::thread::sleep(Duration::from_millis(500));
    let body = get(port, "GET /metrics", "").2;
    drop(running);
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "metrics"]);
    let (sound, said) = piped(promtool, &body);
    assert!(sound && said.is_empty(), "{said}\n{body}");
    for args in [["check", "rules", "alerts.yml"], ["test", "rules", "alerts-test.yml"]] {
        let done = Command::new("promtool").args(args).current_dir(shipped("")).output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

#[test]
fn prometheus_scrapes_over_tls_with_a_password_and_nobody_else_may() {
    if program("prometheus").is_none() {
        skip!("prometheus is not installed (scripts/setup test)");
    }
    let folder = folder();
    or_skip!(certificate(folder.path()));
    let hash = bcrypt::hash("tide", 6).unwrap();
    let web = folder.path().join("web.yml");
    let config = |hash: &str| {
        format!(
            "tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\nbasic_auth_users:\n  dba: {hash}\n"
        )
    };
    std::fs::write(&web, config(&hash)).unwrap();
    let (_running, port) = export(&format!("--web.config.file {}", web.display()));
    let ca = folder.path().join("cert.pem");
    let scrape = |name: &str, password: &str| {
        format!(
            "  - job_name: {name}\n    scheme: https\n    tls_config: {{ca_file: {}}}\n    basic_auth: {{username: dba, password: {password}}}\n    static_configs: [{{targets: ['127.0.0.1:{port}']}}]\n",
            ca.display()
        )
    };
    let config = format!(
        "global: {{scrape_interval: 1s}}\nscrape_configs:\n{}{}",
        scrape("right", "tide"),
        scrape("wrong", "ebb")
    );
    let prometheus = Prometheus::start(folder.path(), &config);
    assert_eq!(prometheus.value("up{job=\"right\"}"), 1.0);
    assert_eq!(prometheus.value("up{job=\"wrong\"}"), 0.0);
    assert_eq!(prometheus.value("plimsoll_build_info{job=\"right\"}"), 1.0);
    assert!(prometheus.query("plimsoll_build_info{job=\"wrong\"}").is_empty());
    // A new password is in force without a restart.
    let ebb = bcrypt::hash("ebb", 6).unwrap();
    std::thread::sleep(Duration::from_millis(1100));
    std::fs::write(&web, std::fs::read_to_string(&web).unwrap().replace(&hash, &ebb)).unwrap();
    assert!(wait_until(Duration::from_secs(30), || prometheus.query("up{job=\"wrong\"} == 1").len() == 1));
}

#[test]
fn a_device_at_its_limit_fires_the_shipped_alert() {
    if program("prometheus").is_none() || program("fio").is_none() {
        skip!("prometheus or fio is not installed (scripts/setup test)");
    }
    let device = or_skip!(LoopDevice::new(64 << 20));
    if !device.offered("scheduler").iter().any(|s| s == "mq-deadline")
        || !device.set("scheduler", "mq-deadline")
    {
        skip!("{} has no scheduler that could hold I/Os in the host", device.name);
    }
    let _turn = Turn::take();
    let (_running, port) = export("");
    let folder = folder();
    // The shipped rules, for a test of seconds: shorter ranges and no waiting.
    let rules = std::fs::read_to_string(shipped("alerts.yml")).unwrap();
    std::fs::write(
        folder.path().join("alerts.yml"),
        rules.replace("[1m]", "[6s]").replace("for: 5m", "for: 2s"),
    )
    .unwrap();
    let config = format!(
        "global: {{scrape_interval: 1s, evaluation_interval: 1s}}\nrule_files: [{}]\nscrape_configs:\n  - job_name: plimsoll\n    static_configs: [{{targets: ['127.0.0.1:{port}']}}]\n",
        folder.path().join("alerts.yml").display()
    );
    let prometheus = Prometheus::start(folder.path(), &config);
    assert_eq!(prometheus.value("up"), 1.0);
    let quiet = prometheus.firing();
    let at_limit = |alerts: &[serde_json::Value]| {
        alerts
            .iter()
            .any(|a| a["alertname"] == "PlimsollDeviceQueueAtLimit" && a["device"] == device.name.as_str())
    };
    assert!(!at_limit(&quiet), "{quiet:#?}");
    let mut fio = plain("fio");
    fio.arg(format!("--filename={}", device.device.display()));
    fio.args("--name=load --thread --readonly --rw=randread --bs=128k --direct=1 --ioengine=libaio --iodepth=240 --time_based --runtime=60 --norandommap".split(' '));
    // Large reads: the device is slower than the one thread that submits, and stays full.
    let mut load = Running::spawn(fio);
    let fired = wait_until(Duration::from_secs(50), || at_limit(&prometheus.firing()));
    let name = &device.name;
    let shown = |query: &str| prometheus.query(&query.replace("DEV", &format!("{{device=\"{name}\"}}")));
    assert!(
        fired,
        "load runs: {}; limit {:?}, device {:?}, host {:?}, split {:?}",
        load.is_running(),
        shown("plimsoll_device_queue_limit_iosDEV"),
        shown("plimsoll:device_queue:mean1mDEV"),
        shown("plimsoll:host_queue:mean1mDEV"),
        shown("rate(plimsoll_device_split_seconds_totalDEV[6s])")
    );
}

#[test]
fn a_web_configuration_that_cannot_be_kept_is_refused_by_name() {
    let folder = folder();
    let file = folder.path().join("web.yml");
    let cases = [
        ("tls_server_config:\n  cert_file: none.pem\n  key_file: none.pem\n", "none.pem"),
        ("basic_auth_users:\n  dba: tide\n", "not a bcrypt hash"),
        ("tls_server_config:\n  cert_file: a\n  key_file: b\n  cipher_suites: [X]\n", "cipher_suites"),
        ("rate_limit:\n  burst: 20\n", "rate_limit"),
        ("basic_auth_users: [", "web.yml"),
    ];
    for (text, words) in cases {
        std::fs::write(&file, text).unwrap();
        let ended =
            plimsoll(["export", "--listen", "127.0.0.1:0", "--web.config.file", &file.display().to_string()])
                .expect(2);
        assert!(ended.stderr.contains(words), "{text}: {}", ended.stderr);
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ended = plimsoll(["export", "--listen", &address]).expect(4);
    assert!(ended.stderr.contains(&address) && ended.stderr.contains("in use"), "{}", ended.stderr);
    plimsoll(["export", "--listen", "not-an-address"]).expect(2);
}
