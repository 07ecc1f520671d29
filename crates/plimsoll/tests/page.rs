//! The page of a real run, as a browser sees it: the answer and the charts are there, and nothing complains.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use std::path::Path;
use std::process::Command;
use support::command::{Running, measured, plain};
use support::document::{layer, text};
use support::{Turn, folder, program};

/// The words of a text, without markup, with entities resolved.
fn flat(page: &str) -> String {
    let mut words = String::new();
    let mut inside = false;
    for c in page.chars() {
        match c {
            '<' => inside = true,
            '>' => {
                inside = false;
                words.push(' ');
            }
            c if !inside => words.push(c),
            _ => {}
        }
    }
    let words = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")]
        .iter()
        .fold(words, |words, (entity, c)| words.replace(entity, c));
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn browser(page: &Path, profile: &Path) -> Command {
    let mut command = plain(["chromium", "chromium-browser"].iter().find_map(|n| program(n)).unwrap());
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        "--enable-logging=stderr",
        "--virtual-time-budget=2000",
        "--dump-dom",
    ]);
    command.arg(format!("--user-data-dir={}", profile.display()));
    command.arg(format!("file://{}", page.display()));
    command
}

#[test]
fn a_browser_shows_the_answer_and_the_charts_without_a_complaint() {
    if program("chromium").or_else(|| program("chromium-browser")).is_none() {
        skip!("no chromium to look at the page with");
    }
    let _turn = Turn::take();
    let place = folder();
    let out = place.path().join("run");
    let flags = format!("--depths 1,4,16 --limit p99<20ms --size 64M --budget 3s --out {}", out.display());
    let document = measured(place.path(), &flags);
    let page = out.join("report.html").canonicalize().unwrap();
    // The browser is bounded by the patience of the harness, and killed with it.
    let seen = Running::spawn(browser(&page, &place.path().join("profile"))).end();
    assert_eq!(seen.code, Some(0), "{}", seen.stderr);
    let shown = flat(&seen.stdout);
    let verdict = flat(&text(&document, "/verdict").replace('<', "&lt;"));
    assert!(shown.contains(&verdict), "'{verdict}' is not in: {shown}");
    assert!(shown.contains("Bound by"), "{shown}");
    let svgs = seen.stdout.matches("<svg").count();
    assert!(svgs >= 3, "{svgs} charts; bound by {}", layer(&document));
    // The depths stand on an axis or in a table.
    for depth in ["1", "4", "16"] {
        assert!(shown.split(' ').any(|w| w == depth), "depth {depth} is not shown");
    }
    let complaints: Vec<&str> = seen.stderr.lines().filter(|l| l.contains("CONSOLE")).collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
}
