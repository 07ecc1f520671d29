//! iostat -E and -En of Solaris.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::{Gathered, Platform, facts};
use support::{damaged, read_any, read_as};

const RECORDS: &str = "\
sd0       Soft Errors: 0 Hard Errors: 3 Transport Errors: 2 
Vendor: FUJITSU  Product: MAP3735N SUN72G  Revision: 0401 Serial No: 000000000001
Size: 73.40GB <73400057856 bytes>
Media Error: 1 Device Not Ready: 0 No Device: 2 Recoverable: 0 
Illegal Request: 5 Predictive Failure Analysis: 1 
c0t1d0           Soft Errors: 1 Hard Errors: 0 Transport Errors: 0
Model: ST340016A Revision: 3.10 Serial No: Device Id: id1,sd@ATEST
Size: 0.00GB <0 bytes>
Media Error: 0 Device Not Ready: 0 No Device: 0 Recoverable: 0
Illegal Request: 15 Predictive Failure Analysis: 0 Non-Aligned Writes: 4
";

fn number(all: &Gathered, place: &str, name: &str) -> Option<f64> {
    all.fact(place, name).and_then(|v| v.number())
}

#[test]
fn identities_and_counts_are_facts() {
    let all = read_as("solaris-iostat-errors", RECORDS);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!((all.rows.len(), all.hosts[0].platform), (0, Platform::Solaris));
    assert_eq!(all.fact("sd0", facts::PRODUCT).map(|v| v.text()), Some("MAP3735N SUN72G".to_owned()));
    assert_eq!(all.fact("c0t1d0", facts::PRODUCT).map(|v| v.text()), Some("ST340016A".to_owned()));
    assert_eq!(all.fact("c0t1d0", "device_id").map(|v| v.text()), Some("id1,sd@ATEST".to_owned()));
    assert!(all.fact("c0t1d0", "serial").is_none() && all.fact("c0t1d0", facts::SIZE_BYTES).is_none());
    assert_eq!(number(&all, "sd0", facts::SIZE_BYTES), Some(73_400_057_856.0));
    assert_eq!(number(&all, "sd0", facts::HARD_ERRORS), Some(3.0));
    assert_eq!(number(&all, "sd0", facts::TRANSPORT_ERRORS), Some(2.0));
    assert_eq!(number(&all, "sd0", "no_device_errors"), Some(2.0));
    assert_eq!(number(&all, "c0t1d0", "non_aligned_writes"), Some(4.0));
}

#[test]
fn a_record_in_one_line_and_the_geometry_of_old_releases() {
    let text = "sd3 Soft Errors: 2 Hard Errors: 0 Transport Errors: 1 Vendor: SEAGATE Product: ST1 SUN4.2G Revision: 1 Serial No: 7 RPM: 7200 Heads: 16 Size: 4.29GB <4292075520 bytes> Media Error: 0\n";
    let all = read_as("solaris-iostat-errors", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(
        (number(&all, "sd3", "rpm"), number(&all, "sd3", facts::SIZE_BYTES)),
        (Some(7200.0), Some(4_292_075_520.0))
    );
    assert_eq!(all.fact("sd3", "serial").map(|v| v.text()), Some("7".to_owned()));
}

#[test]
fn what_is_damaged_is_complained_about() {
    let all = read_as("solaris-iostat-errors", &RECORDS.replace("Hard Errors: 3", "Hard Errors: x3"));
    assert_eq!((all.complaints.len(), all.complaints[0].1.line), (1, 1));
    assert_eq!(number(&all, "sd0", facts::TRANSPORT_ERRORS), Some(2.0));
}

#[test]
fn the_records_may_follow_the_statistics() {
    let text = format!(
        "extended device statistics\nr/s w/s kr/s kw/s wait actv wsvc_t asvc_t %w %b device\n1.0 2.0 8.0 16.0 0.0 0.0 0.0 5.0 0 1 c1t0d0\n{RECORDS}"
    );
    let (all, reading) = read_any(text.as_bytes());
    assert_eq!(reading.read[0].1, ["solaris-iostat", "solaris-iostat-errors"]);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!((all.rows.len(), number(&all, "sd0", facts::HARD_ERRORS)), (1, Some(3.0)));
}

proptest! {
    #[test]
    fn no_damage_panics(bytes in damaged(RECORDS)) {
        read_any(&bytes);
    }
}
