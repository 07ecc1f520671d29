//! Reports of Oracle that are recognised and not read, and tables of AWR figures.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::Job;
use record::imported::Quantity::*;
use record::imported::facts;
use support::{damaged, read_any, read_as, values};

const TABLE: &str = "\
 transaction per second log file sync % user calls physical reads physical writes
noop 70.50 3.2 300.25 150.50 110.00
deadline 75.25 3.1 350.00 151.00 111.00
cfq 20.00 36.8 1,100.00 51.00 40.00
";

#[test]
fn reports_that_are_not_read_say_why() {
    let reports = [
        ("oracle-ash", "ASH Report For ORCL/orcl\n\nDB Name         DB Id    Instance\n", "ASH"),
        (
            "oracle-ash",
            "<html><head><title>ASH Report - From 01-Jan-20\n</title></head><table summary='x'>\n",
            "ASH",
        ),
        ("oracle-addm", "\n          ADDM Report for Task 'TASK_12'\n          -----------\n", "ADDM"),
        (
            "oracle-awr-compare",
            "WORKLOAD REPOSITORY COMPARE PERIOD REPORT\n\nReport Summary\n",
            "two periods",
        ),
        ("oracle-awr-sql", "WORKLOAD REPOSITORY SQL Report\n\nSnapshot Period Summary\n", "statement"),
    ];
    for (format, text, reason) in reports {
        let all = read_as(format, text);
        assert_eq!((all.complaints.len(), all.rows.len()), (1, 0), "{format}");
        let complaint = &all.complaints[0].1;
        assert!(complaint.found.contains(reason), "{complaint:?}");
        assert!(complaint.expected.contains("AWR"), "{complaint:?}");
    }
}

#[test]
fn findings_of_addm_within_an_awr_report_do_not_refuse_it() {
    let text =
        "WORKLOAD REPOSITORY report for\n\n\n          ADDM Report for Task 'ADDM:1_1_142'\n          ----\n";
    read_as("oracle-awr-text", text);
}

#[test]
fn a_table_of_schedulers_has_a_job_for_each() {
    let all = read_as("oracle-comparison", TABLE);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let cfq = all.of(Job, "cfq")[0];
    let wanted = [TransactionsPerS, UserCallsPerS, PhysicalReadBlocksPerS, PhysicalWriteBlocksPerS];
    assert_eq!(values(cfq, &wanted), [20.0, 1100.0, 51.0, 40.0]);
    assert_eq!((cfq.origin.line, all.rows.len()), (4, 3));
    assert_eq!(all.fact("cfq", facts::SCHEDULER).unwrap().text(), "cfq");
    assert_eq!(all.fact("noop", "log_file_sync_percent").unwrap().number(), Some(3.2));
}

#[test]
fn the_table_may_lie_on_its_side() {
    let text = "| noop | deadline |\n|---|---|\n| transactions per second | 70.5 | 75.25 |\n| physical reads | 150 | 151 |\n";
    let all = read_as("oracle-comparison", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let rows = all.of(Job, "deadline");
    assert_eq!(
        (rows[0].value(TransactionsPerS), rows[1].value(PhysicalReadBlocksPerS)),
        (Some(75.25), Some(151.0))
    );
}

#[test]
fn a_line_of_schedulers_alone_is_no_table() {
    let (_, reading) = read_any(b"noop deadline cfq\n");
    assert!(reading.read.iter().all(|(_, formats)| !formats.contains(&"oracle-comparison")));
}

proptest! {
    #[test]
    fn no_damage_panics(bytes in damaged(TABLE)) {
        read_any(&bytes);
    }
}
