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

Q2Q               0.000000915   0.002000000   0.103788139        1000
Q2G               0.000000410   0.000001000   0.000030594         800
G2I               0.000000278   0.000002000   0.000033501         800
Q2M               0.000000164   0.000001000   0.000014527         200
I2D               0.000000308   0.000003000   0.000002753         800
M2D               0.000001169   0.000004000   0.000032612         200
D2C               0.000751673   0.001500000   0.003759327        1000
Q2C               0.000753524   0.001506000   0.003761266        1000

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
 (  8, 64) |            1000       3417216.7               0 | 0(116)

==================== Plug Information ====================

       DEV |    # Plugs # Timer Us  | % Time Q Plugged
---------- | ---------- ----------  | ----------------
 (  8, 64) |         29(         0) |   0.000878%
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
Q2Cdm             0.000631999   0.001516763   0.003607410        1000
Q2G 0.000000160 0.000001000 0.000004391 500
I2D 0.000000630 0.000003000 0.000017820 500
Q2M 0.000000126 0.000002000 0.000011216 500
M2D 0.000001295 0.000004000 0.000024640 500
D2C 0.000630444 0.001500000 0.003603108 1000
";
    let all = read_as("btt", text);
    let row = all.of(Host, "")[0];
    assert!(near(row.value(HostWaitUs).unwrap(), 5.0));
    assert!(near(row.value(ResponseUs).unwrap(), 1516.763));
}

#[test]
fn means_that_one_request_made_are_said() {
    let outlier = ONE.replace("0.003761266        1000", "4.900000000        1000");
    assert!(read_as("btt", &outlier).remarks.iter().any(|(_, r)| r.contains("longest")));
    let step = ONE.replace("0.003761266        1000", "2064.100000000        1000");
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
