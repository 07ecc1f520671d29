//! The rules of the house, held by reading the tree.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::fs;
use std::path::{Path, PathBuf};

/// Data flows one way: a crate uses only crates before it in this list.
const ORDER: [&str; 9] =
    ["record", "stats", "host", "load", "import", "analyze", "probe", "report", "plimsoll"];
/// Tools of the house that stand beside the product: they may use any crate, and no crate may use them.
const BESIDE: [&str; 2] = ["bench", "lab"];
/// No room with several jobs.
const LINES_MAX: usize = 800;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn manifest(folder: &Path) -> toml::Table {
    fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap()
}

/// Our crates that a manifest's section names.
fn ours(manifest: &toml::Table, section: &str) -> Vec<String> {
    let Some(table) = manifest.get(section).and_then(|s| s.as_table()) else { return Vec::new() };
    table.keys().filter(|k| ORDER.contains(&k.as_str()) || BESIDE.contains(&k.as_str())).cloned().collect()
}

#[test]
fn a_crate_uses_only_crates_above_it() {
    for (place, name) in ORDER.iter().enumerate() {
        let manifest = manifest(&root().join("crates").join(name));
        for section in ["dependencies", "build-dependencies"] {
            for used in ours(&manifest, section) {
                assert!(
                    ORDER[..place].contains(&used.as_str()),
                    "{name} uses {used}, which does not stand above it"
                );
            }
        }
    }
}

#[test]
fn the_lab_knows_plimsoll_by_its_answers_only() {
    // What checks the answers must not share the code that gives them.
    let manifest = manifest(&root().join("lab"));
    for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
        assert_eq!(ours(&manifest, section), [""; 0], "{section} of the lab");
    }
}

#[test]
fn every_crate_has_a_place_in_the_order() {
    let mut found: Vec<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    let mut known: Vec<&str> = ORDER.to_vec();
    known.sort_unstable();
    assert_eq!(found, known, "a new crate needs its place in ORDER");
}

fn rust_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

fn all_rust_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    rust_files(&root().join("crates"), &mut files);
    for tool in BESIDE {
        rust_files(&root().join(tool), &mut files);
    }
    assert!(files.len() > 30, "the walk found only {} files", files.len());
    files
}

#[test]
fn no_file_grows_into_a_giant() {
    for file in all_rust_files() {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= LINES_MAX, "{} has {lines} lines", file.display());
    }
}

#[test]
fn what_measures_or_concludes_does_not_print() {
    // Only the command and the tools beside it speak; examples and tests may.
    for file in all_rust_files() {
        let text = file.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        let speaks = ["crates/plimsoll/", "bench/", "lab/", "/tests/", "/examples/", "/build.rs"]
            .iter()
            .any(|part| text.contains(part));
        if speaks {
            continue;
        }
        let code = fs::read_to_string(&file).unwrap();
        let code = code.split("#[cfg(test)]").next().unwrap();
        for call in ["println!(", "eprintln!(", "print!(", "eprint!("] {
            let found = code.lines().find(|l| l.contains(call) && !l.trim_start().starts_with("//"));
            assert!(found.is_none(), "{text} prints: {}", found.unwrap_or(""));
        }
    }
}

#[test]
fn unsafe_is_confined_to_named_modules() {
    let allowed = |text: &str| text.starts_with("crates/load/src/") || text.starts_with("crates/host/src/");
    for file in all_rust_files() {
        let text = file.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        let code = fs::read_to_string(&file).unwrap();
        let has_unsafe = code.lines().any(|l| {
            let l = l.trim_start();
            !l.starts_with("//")
                && !l.starts_with('"')
                && (l.contains("unsafe {") || l.contains("unsafe impl") || l.contains("unsafe fn"))
        });
        assert!(!has_unsafe || allowed(&text) || text.contains("/tests/"), "{text} has unsafe code");
    }
}
