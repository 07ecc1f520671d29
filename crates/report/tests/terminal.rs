//! The terminal report: answers first, fits 80 columns, says what it does not know.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;
mod nasty;

use probe::Outcome;
use report::ProbeReport;
use report::terminal::{Charset, Color, DoctorRow, DoctorState, Style, doctor, probe};

fn shown(report: &ProbeReport) -> String {
    probe(report, Style::default())
}

/// The paragraph (between empty lines) of the report that begins with `start`.
fn paragraph(text: &str, start: &str) -> String {
    let found = text.split("\n\n").find(|p| p.trim_start().starts_with(start));
    found.unwrap_or_else(|| panic!("no paragraph '{start}' in\n{text}")).trim_end().to_owned()
}

/// One outcome, its paragraph.
fn check_outcome(report: &ProbeReport, start: &str, want: &str) {
    assert_eq!(paragraph(&shown(report), start), want.trim_matches('\n'));
}

#[test]
fn every_answer_fits_its_width() {
    for (name, report) in nasty::cases() {
        for width in [60, 80, 100, 200] {
            let text = probe(&report, Style { width, ..Style::default() });
            for line in text.lines() {
                let length = line.chars().count();
                // The table of points needs 80 columns and does not shrink.
                assert!(length <= width.max(80), "{name} at {width}: {length} in '{line}'");
            }
        }
    }
}

#[test]
fn no_control_character_reaches_the_terminal() {
    for (name, report) in nasty::cases() {
        let text = shown(&report);
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{name}");
    }
}

#[test]
fn ascii_means_ascii() {
    for (name, report) in nasty::cases() {
        let text = probe(&report, Style { charset: Charset::Ascii, ..Style::default() });
        assert!(text.is_ascii(), "{name}");
    }
}

#[test]
fn colour_changes_no_word() {
    let report = fixture::found();
    let coloured = probe(&report, Style { color: Color::Ansi, ..Style::default() });
    let mut plain = String::new();
    for (index, part) in coloured.split('\x1b').enumerate() {
        plain.push_str(if index == 0 { part } else { part.split_once('m').unwrap().1 });
    }
    assert_ne!(coloured, plain);
    assert_eq!(plain, shown(&report));
}

#[test]
fn the_answer_comes_first() {
    let text = shown(&fixture::found());
    let at = |part: &str| text.find(part).unwrap();
    assert!(at("Load line") < at("Bound by"));
    assert!(at("Bound by") < at("Try "));
    assert!(at("Try ") < at("Doubt"));
    assert!(at("Doubt") < at("per IO"));
    assert!(at("per IO") < at("Page "));
}

#[test]
fn a_load_line_is_told_with_its_interval_and_limit() {
    check_outcome(
        &fixture::found(),
        "Load line",
        "
Load line   8,912 IOPS (69.6 MiB/s) at 49 outstanding I/Os, p99<15ms
            95 % interval 8,730 to 9,050 IOPS, 45 to 53 I/Os
            confirmed for 3 s: p99 14.2 ms
Marks       knee at 6.3 I/Os (unloaded 700 us); 95 % of all throughput at 18;
            best throughput per response time at 6",
    );
}

#[test]
fn a_window_above_the_limit_is_not_called_confirmed() {
    let told = |us: f64| {
        let mut report = fixture::found();
        report.answer.load_line.as_mut().unwrap().confirmed_us = Some(us);
        shown(&report)
    };
    assert!(told(15_000.0).contains("confirmed for 3 s: p99 15.0 ms"));
    let slightly = told(15_040.0);
    assert!(slightly.contains("held within its noise for 3 s: p99 15.0 ms"), "{slightly}");
    let over = told(17_000.0);
    assert!(over.contains("over the limit when measured for 3 s: p99 17.0 ms"), "{over}");
    assert!(!slightly.contains("confirmed") && !over.contains("confirmed"));
}

#[test]
fn a_wide_interval_says_what_narrows_it() {
    let mut report = fixture::found();
    report.answer.load_line.as_mut().unwrap().wide = true;
    assert!(shown(&report).contains("That is wide: a longer --budget narrows it."));
}

#[test]
fn a_limit_never_reached_names_the_saturation() {
    let outcome = Outcome::NeverReached { saturation_concurrency: 18, iops_max: 9012.4 };
    check_outcome(
        &nasty::with_outcome(outcome.clone()),
        "Limit never",
        "
Limit never reached: p99<15ms held all the way; the path stops at 9,012 IOPS.
            95 % of that come with 18 outstanding I/Os; more of them buy
            latency, not throughput.",
    );
    let mut report = fixture::found();
    report.answer.outcome = outcome;
    let text = shown(&report);
    assert!(text.contains("the path stops at 9,012 IOPS\n(69.6 MiB/s)."), "{text}");
    assert!(text.contains("> saturation") && !text.contains("load line   k"));
}

#[test]
fn a_limit_broken_at_one_gives_no_number() {
    check_outcome(
        &nasty::with_outcome(Outcome::BrokenAtOne { measured_us: 17_345.0 }),
        "No load line",
        "
No load line: p99<15ms is already broken with one I/O outstanding: 17.3 ms.
            No concurrency holds this limit. Ask for a looser one, or make the
            path faster.",
    );
}

#[test]
fn the_edge_of_the_range_is_a_lower_bound() {
    check_outcome(
        &nasty::with_outcome(Outcome::EdgeOfRange { concurrency: 128 }),
        "Beyond",
        "
Beyond the range: the load line is at least 9,013 IOPS at 128 outstanding I/Os,
where p99<15ms still holds.
            That is the largest concurrency tried, and throughput still grows
            there.",
    );
}

#[test]
fn a_burst_tells_both_numbers() {
    check_outcome(
        &nasty::with_outcome(Outcome::Burst { before_iops: 3000.0, after_iops: 300.0, after_s: 17.25 }),
        "Burst",
        "
Burst: 3,000 IOPS held for 17.2 s of load only, then 300 IOPS.
            Credits or a cache ran out. Count on the second number, not on the
            first.",
    );
}

#[test]
fn what_cannot_be_told_is_told_with_the_reason() {
    check_outcome(
        &nasty::with_outcome(Outcome::CannotTell { why: "the file came out of the page cache".to_owned() }),
        "Cannot tell",
        "Cannot tell: the file came out of the page cache.",
    );
    check_outcome(
        &nasty::with_outcome(Outcome::NotSteady { why: "it swings between 400 and 9,000 IOPS".to_owned() }),
        "No load line",
        "No load line: throughput is not steady: it swings between 400 and 9,000 IOPS.",
    );
}

#[test]
fn listed_depths_claim_no_more_than_they_show() {
    let mut report = nasty::with_outcome(Outcome::Swept);
    let held = "No load line: p99<15ms holds at 46 outstanding I/Os (8,985 IOPS).";
    assert!(shown(&report).contains(held));
    report.answer.limit = "p99<100us".parse().unwrap();
    assert!(shown(&report).contains("No load line: p99<100us holds at none of the listed depths."));
}

#[test]
fn what_stops_it_comes_with_evidence_and_what_to_try() {
    check_outcome(
        &fixture::found(),
        "Bound by",
        "
Bound by    device-queue-limit: sda takes 32 commands at a time and every
            further I/O waits in the host queue.
          - device queue stood at 32.0 of 32 from N = 64 on
          - from N = 64 to 128 the host queue grew by 62.7 of 64 added I/Os
          - throughput grew by 0.1 % over the same range
            Would be wrong if: throughput stays the same with queue_depth 64
            Next most likely: device (service time grew by 4 % from N = 32 to
            64)
Try         1. Let more commands into the LUN.
               /sys/block/sda/device/queue_depth: 32 -> 64
               throughput grows if the array has free slots; else only the wait
               moves",
    );
}

#[test]
fn heavy_doubts_come_first() {
    let text = shown(&fixture::found());
    let at = |part: &str| text.find(part).unwrap();
    assert!(at("foreign I/O on the device (caution)") < at("Notes       a part of the path is hidden"));
}

#[test]
fn the_table_marks_the_load_line_and_the_knee() {
    let report = fixture::probe_of(&[1, 8, 49, 128]);
    check_outcome(
        &report,
        "mean",
        "
                              mean     p99   p99.9         queue   queue  CPU us
       N      IOPS   MiB/s      ms      ms      ms  above   host  device  per IO
       1     1,427    11.1    0.71    1.97    2.79   0.02   0.00    0.98    3.50
k      8     8,237    64.3    0.97    3.00    4.33   0.16   0.00    7.84    3.50
>     49     9,031    70.6    5.43    16.1    22.2   0.98   16.0    32.0    3.50
     128     9,003    70.3    14.0    39.8    58.2   2.56   93.4    32.0    3.50
  > load line   k nearest to the knee",
    );
}

#[test]
fn absent_is_a_dash_and_a_bound_is_a_bound() {
    let row = |report: &ProbeReport| {
        let text = shown(report);
        let line = text.lines().find(|l| l.contains("8,290")).unwrap();
        line.split_whitespace().rev().take(4).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row(&nasty::absent_queues()), ["-", "-", "-", "-"]);
    assert_eq!(row(&nasty::only_bounds()), ["3.50", "-", "<=8.00", "0.16"]);
}

#[test]
fn bars_show_the_limit_even_in_ascii() {
    let report = fixture::probe_of(&[1, 8, 64]);
    let text = probe(&report, Style { charset: Charset::Ascii, width: 72, ..Style::default() });
    let want = "
       N  IOPS                           p99 (| limit p99<15ms)
       1  ###                      1,427 ##           |         1.97 ms
       8  #################        8,237 ###          |         3.00 ms
      64  ###################      9,085 #############|#####    21.0 ms";
    assert_eq!(paragraph(&text, "N  IOPS"), want.trim_matches('\n'));
}

#[test]
fn many_points_make_a_short_chart_with_both_marks() {
    let text = shown(&nasty::thirty_points());
    let chart = paragraph(&text, "N  IOPS");
    assert!(chart.lines().count() <= 15, "{chart}");
    for n in ["1 ", "6 ", "51 ", "330 "] {
        assert!(chart.lines().any(|l| l.trim_start().starts_with(n)), "{n}in\n{chart}");
    }
}

#[test]
fn the_doctor_says_why_and_what_would_help() {
    let row = |what: &str, state, why: &str, remedy: Option<&str>| DoctorRow {
        what: what.to_owned(),
        state,
        why: why.to_owned(),
        remedy: remedy.map(str::to_owned),
    };
    let rows = [
        row("device and host queue", DoctorState::Works, "", None),
        row("queue of a bio-based device", DoctorState::Partly, "only its upper bound is known", None),
        row(
            "following single requests",
            DoctorState::Missing,
            "the tracer needs CAP_BPF, and this process has only the rights of its user",
            Some("run as root"),
        ),
    ];
    let want = "
works    device and host queue
partly   queue of a bio-based device
           only its upper bound is known
missing  following single requests
           the tracer needs CAP_BPF, and this process has
           only the rights of its user
           To enable: run as root

1 work, 1 partly, 1 missing
";
    assert_eq!(doctor(&rows, Style { width: 60, ..Style::default() }), want.trim_start_matches('\n'));
}

#[test]
fn a_sweep_over_cores_shows_what_each_core_brings() {
    let mut report = fixture::probe_of(&[1, 2]);
    report.options = serde_json::json!({ "core_sweep": 1 });
    let text = shown(&report);
    assert!(text.contains("per core") && text.contains("100 %"), "{text}");
    report.options = serde_json::json!({ "core_sweep": 0 });
    assert!(!shown(&report).contains("per core"));
}
