//! Output of btt.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Device, Host};
use record::imported::Quantity::*;
use record::imported::RowsKind;
use support::{damaged, near, read_any, read_as};

const ONE: &str = "\
==================== All Devices ====================

            ALL           MIN           AVG           MAX           N
--------------- ------------- ------------- ------------- -----------

Q2Q               0.000000801   0.002000000   0.110000001        1000
Q2G               0.000000301   0.000001000   0.000031001         800
G2I               0.000000201   0.000002000   0.000034001         800
Q2M               0.000000151   0.000001000   0.000015001         200
I2D               0.000000301   0.000003000   0.000003101         800
M2D               0.000001201   0.000004000   0.000033001         200
D2C               0.000750001   0.001500000   0.003750001        1000
Q2C               0.000755001   0.001506000   0.003760001        1000

==================== Device Overhead ====================

       DEV |       Q2G       G2I       Q2M       I2D       D2C
---------- | --------- --------- --------- --------- ---------
 (  8, 64) |   0.0500%   0.1000%   0.0100%   0.1500%  99.6000%
---------- | --------- --------- --------- --------- ---------
   Overall |   0.0500%   0.1000%   0.0100%   0.1500%  99.6000%

==================== Device Merge Information ====================

       DEV |       #Q       #D   Ratio |   BLKmin   BLKavg   BLKmax    Total
---------- | -------- -------- ------- | -------- -------- -------- --------
 (  8, 64) |     1000      800     1.2 |        8       16     1024    12800

==================== Device Q2Q Seek Information ====================

       DEV |          NSEEKS            MEAN          MEDIAN | MODE           
---------- | --------------- --------------- --------------- | ---------------
 (  8, 64) |            1000       4100000.5               0 | 0(99)

==================== Plug Information ====================

       DEV |    # Plugs # Timer Us  | % Time Q Plugged
---------- | ---------- ----------  | ----------------
 (  8, 64) |         29(         0) |   0.001000%
";

#[test]
fn host_and_device_of_a_single_device() {
    let all = read_as("btt", ONE);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let rows = all.of(Device, "8,64");
    assert_eq!((rows[0].value(Ios), rows[0].value(RequestBytes)), (Some(800.0), Some(8192.0)));
    let row = rows[1];
    for (quantity, wanted) in
        [(HostWaitUs, 6.0), (ServiceUs, 1500.0), (ResponseUs, 1506.0), (Iops, 500.0), (Ios, 1000.0)]
    {
        assert!(near(row.value(quantity).unwrap(), wanted), "{quantity}");
    }
    assert_eq!((row.interval.kind, row.origin.line), (RowsKind::Period, 6));
    assert!(near(row.interval.length_s, 2.0));
    assert_eq!(all.fact("8,64", "d2c_share_percent").unwrap().number(), Some(99.6));
    assert!(near(all.fact("8,64", "q2m_count").unwrap().number().unwrap(), 200.0));
    assert!(all.remarks.is_empty(), "{:?}", all.remarks);
}

#[test]
fn without_the_total_the_stages_are_weighted_by_their_numbers() {
    // A volume prints Q2Cdm, and no Q2C; the head of the text is lost.
    let text = "\
Q2Cdm             0.000700001   0.001510001   0.003900001        1000
Q2G 0.000000201 0.000001000 0.000004001 500
I2D 0.000000701 0.000003000 0.000018001 500
Q2M 0.000000101 0.000002000 0.000012001 500
M2D 0.000001301 0.000004000 0.000025001 500
D2C 0.000699001 0.001500000 0.003890001 1000
";
    let all = read_as("btt", text);
    let row = all.of(Host, "")[0];
    assert!(near(row.value(HostWaitUs).unwrap(), 5.0));
    assert!(near(row.value(ResponseUs).unwrap(), 1510.001));
}

#[test]
fn means_that_one_request_made_are_said() {
    let outlier = ONE.replace("0.003760001        1000", "4.900000000        1000");
    assert!(read_as("btt", &outlier).remarks.iter().any(|(_, r)| r.contains("longest")));
    let step = ONE.replace("0.003760001        1000", "1800.100000000        1000");
    assert!(read_as("btt", &step).remarks.iter().any(|(_, r)| r.contains("a clock was set")));
}

#[test]
fn a_damaged_stage_is_complained_about() {
    let all = read_as("btt", &ONE.replace("0.001500000", "0.0015q0000"));
    assert_eq!((all.complaints.len(), all.complaints[0].1.line), (1, 12));
    assert_eq!(all.of(Device, "8,64")[1].value(ServiceUs), None);
}

proptest! {
    #[test]
    fn no_damage_panics(bytes in damaged(ONE)) {
        read_any(&bytes);
    }
}
