//! The command line: help, wrong usage, refusals, and what goes to which stream.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use support::command::{BINARY, Ended, Running, plain, plimsoll, probe};
use support::{Turn, data_file, folder, own_files, program, skipped};

const COMMANDS: [&str; 7] = ["probe", "watch", "inspect", "record", "export", "report", "doctor"];

#[test]
fn help_and_version_are_answers() {
    let version = plimsoll(["--version"]).expect(0);
    assert_eq!(version.stdout.trim(), concat!("plimsoll ", env!("CARGO_PKG_VERSION")));
    let help = plimsoll(["--help"]).expect(0);
    for command in COMMANDS {
        assert!(
            help.stdout.lines().any(|l| l.trim_start().starts_with(command)),
            "{command}: {}",
            help.stdout
        );
        let own = plimsoll([command, "--help"]).expect(0);
        assert!(
            own.stdout.contains("Usage: plimsoll ") && own.stderr.is_empty(),
            "{command}: {}",
            own.stdout
        );
    }
}

#[test]
fn the_long_help_of_probe_begins_with_examples() {
    let help = plimsoll(["probe", "--help"]).expect(0).stdout;
    assert!(help.trim_start().starts_with("Examples:\n  plimsoll probe "), "{help}");
    assert_eq!(help.matches("Examples:").count(), 1);
}

#[test]
fn no_command_at_all_is_wrong_usage_and_shows_the_help() {
    let ended = plimsoll::<&str>([]).expect(2);
    assert!(ended.stdout.is_empty() && ended.stderr.contains("Usage: plimsoll"), "{}", ended.stderr);
}

/// Lines that name an option: `  -q, --quiet`, `      --size <SIZE>`.
fn option_of(line: &str) -> Option<&str> {
    let trimmed = line.trim_start();
    let indent = line.len() - trimmed.len();
    let long = match trimmed.strip_prefix('-').and_then(|rest| rest.get(..3)) {
        Some(short) if indent <= 6 && short.ends_with(", ") => trimmed.get(4..)?,
        _ if indent <= 6 => trimmed,
        _ => return None,
    };
    long.strip_prefix("--")?.split([' ', '=']).next()
}

#[test]
fn every_option_has_one_name_and_a_help_text() {
    for command in COMMANDS {
        let help = plimsoll([command, "--help"]).expect(0).stdout;
        let lines: Vec<&str> = help.lines().collect();
        let mut seen = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let Some(name) = option_of(line) else { continue };
            assert!(!seen.contains(&name), "{command}: --{name} is there twice");
            seen.push(name);
            // The help stands behind the option after two blanks, or on the next line.
            let beside = line.trim_start().split_once("  ").map_or("", |(_, text)| text).trim();
            let below = lines.get(at + 1).map_or("", |l| l.trim());
            let text = if beside.is_empty() { below } else { beside };
            assert!(
                text.len() >= 10 && !text.starts_with('-') && !text.starts_with("Possible values"),
                "{command}: --{name} has no help: '{text}'"
            );
        }
        let least = ["json", "quiet", "no-color", "help"];
        assert!(least.iter().all(|name| seen.contains(name)), "{command}: {seen:?}");
    }
}

#[test]
fn every_flag_of_the_contract_is_there() {
    let help = plimsoll(["probe", "--help"]).expect(0).stdout;
    let seen: Vec<&str> = help.lines().filter_map(option_of).collect();
    for name in [
        "workload",
        "block",
        "pattern",
        "write",
        "engine",
        "workers",
        "cores",
        "depths",
        "rate",
        "limit",
        "budget",
        "size",
        "buffered",
        "out",
        "json",
        "quiet",
        "no-color",
        "destroy-data-on",
    ] {
        assert!(seen.contains(&name), "--{name} is missing among {seen:?}");
    }
    for words in
        ["oltp", "oltp-mixed", "scan", "log", "dss", "io_uring", "libaio", "sync", "random", "sequential"]
    {
        assert!(help.contains(words), "{words} is not explained");
    }
}

/// Splits like a shell, as far as the examples go: blanks and single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.extend(Some(std::mem::take(&mut word)).filter(|w| !w.is_empty())),
            c => word.push(c),
        }
    }
    assert!(!quoted, "an open quote in {line}");
    words.extend(Some(word).filter(|w| !w.is_empty()));
    words
}

#[test]
fn every_example_in_the_help_parses() {
    let mut found = 0;
    let own = COMMANDS.map(|command| vec![command, "--help"]);
    for args in own.into_iter().chain([vec!["--help"]]) {
        let help = plimsoll(&args).expect(0).stdout;
        for line in help.lines().filter(|l| l.starts_with("  plimsoll ")) {
            let line = line.trim_start().split_once("  ").map_or(line.trim_start(), |(command, _)| command);
            let line = line.split_once(" | ").map_or(line, |(command, _)| command);
            let mut args = words(line);
            args.remove(0);
            if ["watch", "inspect", "record", "export"].contains(&args[0].as_str()) {
                // These last until they are ended; what comes before is parsed all the same.
                args.push("--help".to_owned());
            } else if let Some(target) = args.iter_mut().skip(1).find(|a| !a.starts_with('-')) {
                // The target is replaced by one that is not there: what parses gets as far as looking for it.
                *target = "/nonexistent/plimsoll-test".to_owned();
            }
            let ended = plimsoll(&args);
            assert!(
                !ended.stderr.contains("Usage")
                    && !ended.stderr.contains("invalid value")
                    && !ended.stderr.contains("try '--help'"),
                "{line}: {}",
                ended.stderr
            );
            found += 1;
        }
    }
    assert!(found >= 10, "only {found} examples were found");
}

#[test]
fn wrong_usage_exits_2_and_says_which_flag_and_what_was_expected() {
    // Flags, and what the message must say.
    let cases: &[(&str, &[&str])] = &[
        ("--limit p99", &["--limit", "p99<10ms"]),
        ("--limit p99<10", &["--limit", "unit"]),
        ("--limit p100<10ms", &["--limit", "percentile"]),
        ("--limit p99<0ms", &["--limit", "above zero"]),
        ("--limit host<10ms", &["--limit", "mean"]),
        ("--size 1x", &["--size", "8k"]),
        ("--size 0", &["--size"]),
        ("--block 1000", &["--block", "multiple of 512"]),
        ("--block 1T", &["--block"]),
        ("--block ten", &["--block", "8k"]),
        ("--depths 0", &["--depths", "1,2,4,8"]),
        ("--depths 4..8", &["--depths", "1,2,4,8"]),
        ("--depths ,", &["--depths", "1,2,4,8"]),
        ("--workload batch", &["--workload", "oltp-mixed"]),
        ("--pattern zigzag", &["--pattern", "sequential"]),
        ("--write 120", &["--write", "between 0 and 100"]),
        ("--engine aio", &["--engine", "libaio"]),
        ("--sync maybe", &["--sync", "fdatasync"]),
        ("--workers 0", &["--workers", "1..=1024"]),
        ("--cores 1-x", &["--cores", "0,2-3"]),
        ("--cores 4..1", &["--cores", "1..4"]),
        ("--max-depth 0", &["--max-depth"]),
        ("--rate 0", &["--rate", "per second"]),
        ("--rate -5", &["--rate", "per second"]),
        ("--rate fast", &["--rate", "per second"]),
        ("--arrival bursts", &["--arrival", "poisson"]),
        ("--budget soon", &["--budget", "30s"]),
        ("--budget 0.2s", &["budget", "at least"]),
        ("--open-loop maybe", &["--open-loop", "auto"]),
        ("--seed one", &["--seed"]),
        ("--rate 5 --depths 1", &["--rate", "--depths"]),
        ("--rate 5 --sweep", &["--rate", "--sweep"]),
        ("--sweep --depths 1", &["--sweep", "--depths"]),
        ("--cores 1..2 --rate 5", &["--cores", "--rate"]),
        ("--cores 1..2 --depths 1,2", &["--cores", "depth"]),
        ("--cores 1..4000", &["--cores", "cores"]),
        ("--frobnicate", &["--frobnicate"]),
        ("--engine sync --depths 1,100000", &["--depths", "65536"]),
    ];
    let place = folder();
    for (flags, expected) in cases {
        let flags = format!("{flags} --size 16M");
        let flags = if flags.starts_with("--size") { flags.trim_end_matches(" --size 16M") } else { &flags };
        let ended = probe(place.path(), flags);
        assert_eq!(ended.code, Some(2), "{flags}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stdout.is_empty(), "{flags} wrote to stdout: {}", ended.stdout);
        for words in *expected {
            assert!(ended.stderr.contains(words), "{flags}: '{words}' is not in: {}", ended.stderr);
        }
    }
    assert!(own_files(place.path()).is_empty());
}

#[test]
fn a_depth_beyond_the_engine_is_wrong_usage_and_not_an_empty_answer() {
    let place = folder();
    let ended = probe(place.path(), "--engine sync --depths 9999 --size 16M --budget 2s").expect(2);
    assert!(ended.stdout.is_empty() && ended.stderr.contains("--depths 9999"), "{}", ended.stderr);
    assert!(own_files(place.path()).is_empty());
}

#[test]
fn a_target_that_is_not_there_exits_2() {
    let ended = plimsoll(["probe", "/nonexistent/data"]).expect(2);
    assert!(ended.stderr.contains("/nonexistent/data") && ended.stdout.is_empty(), "{}", ended.stderr);
    let ended = plimsoll(["probe"]).expect(2);
    assert!(ended.stderr.contains("<TARGET>"), "{}", ended.stderr);
    let ended = plimsoll(["probe", "/dev/null"]).expect(2);
    assert!(
        ended.stderr.contains("character device") && ended.stderr.contains("block device"),
        "{}",
        ended.stderr
    );
    let ended = plimsoll(["report", "/nonexistent/run"]).expect(2);
    assert!(ended.stderr.contains("run.json"), "{}", ended.stderr);
}

#[test]
fn a_run_folder_that_holds_something_else_is_not_touched() {
    let place = folder();
    let out = place.path().join("mine");
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("thesis.txt"), "mine").unwrap();
    let ended = probe(place.path(), &format!("--size 16M --budget 2s --out {}", out.display())).expect(2);
    assert!(ended.stderr.contains("thesis.txt"), "{}", ended.stderr);
    assert_eq!(support::names(&out), ["thesis.txt"]);
}

#[test]
fn writing_to_a_file_that_plimsoll_did_not_make_is_refused_with_3() {
    let place = folder();
    let file = data_file(place.path(), 1 << 20);
    let before = std::fs::read(&file).unwrap();
    for flags in ["--workload log", "--workload oltp-mixed", "--write 1%", "--write 100 --buffered"] {
        let ended = probe(&file, flags).expect(3);
        assert!(ended.stdout.is_empty() && ended.stderr.contains("refused"), "{flags}: {}", ended.stderr);
    }
    let naming_it_does_not_help = format!("--workload log --destroy-data-on {}", file.display());
    let ended = probe(&file, &naming_it_does_not_help);
    assert!(matches!(ended.code, Some(2 | 3)), "{ended:?}");
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn writing_to_a_device_needs_its_name_twice() {
    let disk = or_skip!(support::loopdev::LoopDevice::new(4 << 20));
    let ended = probe(&disk.device, "--workload log --budget 2s").expect(3);
    assert!(ended.stderr.contains("--destroy-data-on") && ended.stdout.is_empty(), "{}", ended.stderr);
    // Another device's name is no permission for this one.
    let ended = probe(&disk.device, "--workload log --budget 2s --destroy-data-on /dev/null").expect(3);
    assert!(ended.stderr.contains(&disk.device.display().to_string()), "{}", ended.stderr);
    // Nor is its own while somebody has it open: this test does.
    let named = format!("--workload log --budget 2s --destroy-data-on {}", disk.device.display());
    let ended = probe(&disk.device, &named).expect(3);
    assert!(ended.stderr.contains("in use"), "{}", ended.stderr);
}

#[test]
fn a_device_that_holds_data_is_not_written_however_often_it_is_named() {
    let _turn = Turn::take();
    let disk = or_skip!(support::loopdev::LoopDevice::free(16 << 20));
    let named =
        format!("--workload log --depths 1 --budget 1s --json --destroy-data-on {}", disk.device.display());
    let before = std::fs::read(&disk.device).unwrap();
    let ended = probe(&disk.device, &named).expect(3);
    assert!(ended.stderr.contains("holds data"), "{}", ended.stderr);
    assert!(std::fs::read(&disk.device).unwrap() == before, "the refused run wrote");
    // Wiped, unused and named twice it may be written, and is.
    std::fs::write(&disk.device, vec![0_u8; 16 << 20]).unwrap();
    let document = probe(&disk.device, &named).measured().json();
    assert!(document["steps"][0]["flush_us"]["mean"].as_f64().is_some_and(|us| us > 0.0), "{document:#}");
    assert!(std::fs::read(&disk.device).unwrap().iter().any(|b| *b != 0), "nothing was written");
}

#[test]
fn piped_output_is_plain_and_json_is_one_document() {
    let _turn = Turn::take();
    let place = folder();
    let plain = probe(place.path(), "--size 16M --depths 1,4 --budget 2s").measured();
    assert!(!plain.stdout.contains('\u{1b}'), "escape sequences in a pipe");
    assert!(plain.stderr.is_empty(), "{}", plain.stderr);
    assert!(
        plain.stdout.lines().all(|l| l.chars().count() <= 80),
        "a line is wider than 80 columns:\n{}",
        plain.stdout
    );
    let json = probe(place.path(), "--size 16M --depths 1,4 --budget 2s --json").measured();
    assert_eq!(json.json()["schema"], "plimsoll.probe/1");
    assert!(json.stdout.ends_with("}\n") && json.stderr.is_empty(), "{}", json.stderr);
}

/// Runs the probe on a terminal of its own: `script` makes one.
fn on_a_terminal(flags: &str, environment: &[(&str, &str)]) -> Ended {
    let place = folder();
    let mut command = plain("script");
    let line =
        format!("{BINARY} probe {} --size 16M --depths 1,4 --budget 2s {flags}", place.path().display());
    command.args(["-qec", &line, "/dev/null"]).envs(environment.iter().copied());
    Running::spawn(command).end()
}

#[test]
fn colour_and_progress_are_for_terminals_and_can_be_turned_off() {
    if program("script").is_none() {
        skipped(
            "colour_and_progress_are_for_terminals_and_can_be_turned_off",
            "no 'script' to make a terminal with",
        );
        return;
    }
    let _turn = Turn::take();
    // By default a terminal gets both: what is turned off below is there to be turned off.
    let shown = on_a_terminal("", &[]).measured();
    assert!(shown.stdout.contains("\u{1b}["), "no colour on a terminal: {}", shown.stdout);
    assert!(shown.stdout.contains("sweeping"), "no progress on a terminal: {}", shown.stdout);
    let quiet = on_a_terminal("--quiet --no-color", &[]).measured();
    assert!(!quiet.stdout.contains('\u{1b}') && !quiet.stdout.contains("sweeping"), "{}", quiet.stdout);
    let plain = on_a_terminal("--quiet", &[("NO_COLOR", "1")]).measured();
    assert!(!plain.stdout.contains('\u{1b}'), "{}", plain.stdout);
    let empty_counts_as_unset = on_a_terminal("--quiet", &[("NO_COLOR", "")]).measured();
    assert!(empty_counts_as_unset.stdout.contains("\u{1b}["), "{}", empty_counts_as_unset.stdout);
}
