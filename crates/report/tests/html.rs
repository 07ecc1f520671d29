//! The page: one file, offline, safe, small, fast, and drawable whatever the answer.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;
mod nasty;

use report::html;
use std::time::Instant;

/// Elements of HTML that have no end.
const VOID: [&str; 3] = ["meta", "br", "!doctype"];

/// Fails unless every element that opens closes in order. Script and style are skipped: their text is ours.
fn assert_balanced(name: &str, page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let end = rest[start..].find('>').unwrap_or_else(|| panic!("{name}: a tag without end")) + start;
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        let word = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "{name}");
        } else if !tag.ends_with('/') && !VOID.contains(&word) {
            open.push(word);
            if ["script", "style"].contains(&word) {
                rest = &rest[rest.find("</").unwrap()..];
            }
        }
    }
    assert!(open.is_empty(), "{name}: left open {open:?}");
}

#[test]
fn every_answer_makes_a_whole_page() {
    for (name, report) in nasty::cases() {
        let page = html::probe(&report);
        assert_balanced(name, &page);
        for word in ["NaN", "\"inf", "inf\"", ">inf", "-inf"] {
            assert!(!page.contains(word), "{name}: {word}");
        }
    }
}

#[test]
fn the_page_asks_nothing_of_the_network() {
    for (name, report) in nasty::cases() {
        let page = html::probe(&report);
        for word in ["http:", "https:", "//cdn", " src=\"", " href=\"", "url(", "@import", "<link", "<iframe"]
        {
            assert!(!page.contains(word), "{name}: {word}");
        }
        assert!(page.contains("Content-Security-Policy"), "{name}");
    }
}

#[test]
fn hostile_strings_stay_text() {
    let page = html::probe(&nasty::hostile_strings());
    assert_eq!(page.matches("<script").count(), 1, "ours alone");
    assert!(
        !page.contains("<img")
            && !page.contains("-->")
            && !page.contains('\u{1b}')
            && !page.contains('\u{0}')
    );
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;"));
    assert!(page.contains("&amp;amp;"), "escaped once, not taken for an entity");
}

#[test]
fn the_answer_comes_first() {
    let page = html::probe(&fixture::found());
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no '{text}'"));
    let body = at("<body>");
    assert!(body < at("<h1>8,912 IOPS (69.6 MiB/s) at 49 outstanding I/Os, p99&lt;15ms</h1>"));
    assert!(at("<h1>8,912 IOPS") < at("Bound by: the LUN queue depth"));
    assert!(at("Bound by: the LUN queue depth") < at("<svg"));
    assert!(at("/sys/block/sda/device/queue_depth: 32 -&gt; 64") < at("<svg"));
}

#[test]
fn every_chart_has_a_title_a_description_and_numbers_beside_it() {
    let page = html::probe(&fixture::found());
    assert_eq!(page.matches("<svg").count(), 4);
    assert_eq!(page.matches("<desc id=").count(), 4);
    assert_eq!(page.matches("role=\"img\"").count(), 4);
    assert!(page.contains("<h2>Points</h2>") && page.contains("<th scope=\"col\">device queue</th>"));
    assert!(page.contains("data-t=\"49 outstanding: 9,009 IOPS"));
}

#[test]
fn the_stack_names_each_host_queue_and_what_is_not_told_apart() {
    let page = html::probe(&fixture::found());
    assert!(page.contains("host queue of sda") && !page.contains("not told apart"));
    let page = html::probe(&nasty::only_bounds());
    assert!(page.contains("not told apart"));
    let page = html::probe(&nasty::absent_queues());
    assert!(page.contains("No counter tells where the I/Os stood"));
}

#[test]
fn a_long_run_stays_small_and_quick() {
    let visited: Vec<u32> = (0..400).map(|i| 1 + i % 30 * 7).collect();
    let report = fixture::probe_of(&visited);
    let began = Instant::now();
    let page = html::probe(&report);
    let spent = began.elapsed();
    assert!(page.len() < 300_000, "{} bytes", page.len());
    // The promise is 43 ms with the start of the process; a debug build on a busy machine gets ten times that.
    assert!(spent.as_millis() < 430, "{spent:?}");
    let usual = html::probe(&fixture::found()).len();
    assert!(usual < 60_000, "{usual} bytes");
}

#[test]
fn the_same_answer_makes_the_same_page() {
    assert_eq!(html::probe(&fixture::found()), html::probe(&fixture::found()));
}
