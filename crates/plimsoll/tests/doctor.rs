//! `plimsoll doctor`: what can be measured here.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use support::command::plimsoll;
use support::document::{list, text};
use support::folder;

const STATES: [&str; 3] = ["yes", "partly", "no"];

#[test]
fn the_document_lists_checks_with_known_states() {
    let place = folder();
    let ended = plimsoll(["doctor", &place.path().display().to_string(), "--json"]).expect(0);
    let document = ended.json();
    assert_eq!(text(&document, "/schema"), "plimsoll.doctor/1");
    assert!(ended.stderr.is_empty(), "{}", ended.stderr);
    let checks = list(&document, "/checks");
    assert!(checks.len() >= 8, "only {} checks", checks.len());
    for check in checks {
        let state = text(check, "/state");
        assert!(STATES.contains(&state), "{state}");
        assert!(!text(check, "/id").is_empty() && !text(check, "/gives").is_empty(), "{check:#}");
        assert!(!text(check, "/why").is_empty(), "{check:#}");
        // Who cannot be helped by a remedy is not told one; who misses something may be.
        assert!(state != "yes" || check["remedy"].is_null(), "{check:#}");
    }
    let mut ids: Vec<&str> = checks.iter().map(|c| text(c, "/id")).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), checks.len(), "an id stands twice");
}

#[test]
fn what_works_and_what_does_not_is_shown_as_text() {
    let ended = plimsoll(["doctor"]).expect(0);
    assert!(ended.stdout.lines().count() >= 8, "{}", ended.stdout);
    assert!(!ended.stdout.contains('\u{1b}') && ended.stderr.is_empty());
    let document = plimsoll(["doctor", "--json"]).expect(0).json();
    assert!(text(&document, "/target").starts_with('/'), "the target is named in full");
    let flat = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for check in list(&document, "/checks") {
        let gives = text(check, "/gives").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(&gives), "'{gives}' is not in:\n{}", ended.stdout);
    }
}

#[test]
fn an_unprivileged_user_is_answered_too_and_told_what_root_would_add() {
    if !support::is_root() {
        skip!("becoming another user needs root");
    }
    let mut command = support::command::plain("setpriv");
    // The binary may lie where other users cannot look; it is copied to where they can.
    let place = tempfile::Builder::new().prefix("plimsoll-doctor-").tempdir_in("/var/tmp").unwrap();
    let copy = place.path().join("plimsoll");
    std::fs::copy(support::command::BINARY, &copy).unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    command
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&copy)
        .args(["doctor", "/var/tmp", "--json"]);
    if support::program("setpriv").is_none() {
        skip!("no 'setpriv' to become another user with");
    }
    let ended = support::command::Running::spawn(command).end().expect(0);
    let document = ended.json();
    let with_root = plimsoll(["doctor", "/var/tmp", "--json"]).expect(0).json();
    let works = |d: &serde_json::Value| list(d, "/checks").iter().filter(|c| c["state"] == "yes").count();
    assert!(works(&document) <= works(&with_root));
    for check in list(&document, "/checks").iter().filter(|c| c["state"] == "no") {
        assert!(!text(check, "/why").is_empty(), "{check:#}");
    }
}

#[test]
fn a_place_that_is_not_there_is_wrong_usage() {
    let ended = plimsoll(["doctor", "/nonexistent/place"]).expect(2);
    assert!(ended.stdout.is_empty() && ended.stderr.contains("/nonexistent/place"), "{}", ended.stderr);
}
