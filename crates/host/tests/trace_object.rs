//! The committed object of the tracer belongs to its source.

use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf")
}

#[test]
fn source_and_object_are_those_that_were_recorded() {
    let check = Command::new("sha256sum")
        .args(["--check", "--strict", "trace.sha256"])
        .current_dir(folder())
        .output();
    let check = check.expect("sha256sum is part of coreutils");
    let said = String::from_utf8_lossy(&check.stdout).into_owned();
    assert!(check.status.success(), "{said}the source changed: `make bpf` compiles it anew and records it");
    for name in ["trace.bpf.c: OK", "trace.bpf.o: OK"] {
        assert!(said.contains(name), "{name} is not recorded:\n{said}");
    }
}

#[test]
fn the_source_still_compiles_to_the_object() {
    let tools =
        Command::new("sh").args(["-c", "command -v clang && command -v llvm-strip"]).output().unwrap();
    if !tools.status.success() {
        println!("skipped: clang and llvm-strip are not installed");
        return;
    }
    let folder = folder();
    let scratch = tempfile::tempdir().unwrap();
    let object = scratch.path().join("again.o");
    let made = Command::new(folder.join("../../../scripts/bpf")).arg(&object).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));

    let recorded = std::fs::read_to_string(folder.join("trace.sha256")).unwrap();
    let recorded = recorded.lines().next().unwrap().trim_start_matches("# ").to_owned();
    let version = Command::new("clang").arg("--version").output().unwrap();
    let version = String::from_utf8_lossy(&version.stdout).lines().next().unwrap_or_default().to_owned();
    if recorded != version {
        println!("compiled; not compared byte by byte: made by {recorded}, here is {version}");
        return;
    }
    let (again, committed) =
        (std::fs::read(object).unwrap(), std::fs::read(folder.join("trace.bpf.o")).unwrap());
    assert!(again == committed, "the committed object is not what the source compiles to: `make bpf`");
}
