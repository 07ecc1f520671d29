//! iostat of HP-UX.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Device, Host};
use record::imported::Quantity::*;
use record::imported::{Platform, RowsKind};
use support::{damaged, read_any, read_as, values};

const TEXT: &str = "\
# iostat -t 5
                      tty             cpu
                   tin tout    us  ni  sy  id
                     1   58    20   0  10  70
  device    bps     sps    msps 

  c0t6d0      4     0.5     1.0 
  disk31   2048   120.0     1.0 

                   tin tout    us  ni  sy  id
                     1   58    30   1  10  59
  device    bps     sps    msps 

  c0t6d0      0     0.0     1.0 
  disk31   1024    80.0     1.0 
";

#[test]
fn no_latency_is_made_of_the_constant() {
    let all = read_as("hpux-iostat", TEXT);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(all.hosts[0].platform, Platform::HpUx);
    let rows = all.of(Device, "disk31");
    assert_eq!((rows[0].interval.kind, rows[1].interval.kind), (RowsKind::SinceBoot, RowsKind::Interval));
    assert_eq!((rows[1].interval.length_s, rows[1].values.len()), (5.0, 2));
    assert_eq!(values(rows[1], &[BytesPerS, SeeksPerS]), [1_048_576.0, 80.0]);
    assert_eq!(values(all.of(Host, "")[1], &[CpuUserPercent, CpuNicePercent]), [30.0, 1.0]);
}

#[test]
fn a_damaged_row_is_complained_about() {
    let all = read_as("hpux-iostat", &TEXT.replace("2048   120.0", "2048   12x.0"));
    assert_eq!((all.complaints.len(), all.complaints[0].1.line), (1, 8), "{:?}", all.complaints);
}

proptest! {
    #[test]
    fn no_damage_panics(bytes in damaged(TEXT)) {
        read_any(&bytes);
    }
}
