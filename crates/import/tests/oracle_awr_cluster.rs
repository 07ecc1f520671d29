//! AWR reports of all instances of a cluster, and what any lines in any order do to the readers of the family.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::Gathered;
use record::imported::PlaceKind::{Database, WaitEvent};
use record::imported::Quantity::*;
use support::{damaged, read_any, read_as, values};

const HTML: &str = r#"<html><head><title>AWR RAC Report for DB: SALES, Snaps: 10-11</title></head><body>
<h1 class="awr">WORKLOAD REPOSITORY REPORT (RAC)</h1>
<h3>Database Instances Included In Report</h3>
<table summary="This table displays instances"><tr><th>I#</th><th>Instance</th><th>Host</th><th>Startup</th><th>Begin Snap Time</th><th>End Snap Time</th><th>Release</th><th>Elapsed Time(min)</th><th>DB time(min)</th><th>Up Time(hrs)</th><th>Avg Active Sessions</th><th>Platform</th></tr>
<tr><td>1</td><td>sales1</td><td>db1</td><td>09-Feb-20 11:12</td><td>10-Feb-20 11:21</td><td>10-Feb-20 11:31</td><td>19.0.0.0.0</td><td>10.07</td><td>180.43</td><td>24.32</td><td>17.92</td><td>Linux x86 64-bit</td></tr>
<tr><td>2</td><td>sales2</td><td>db2</td><td>09-Feb-20 11:12</td><td>10-Feb-20 11:21</td><td>10-Feb-20 11:31</td><td>19.0.0.0.0</td><td>10.07</td><td>90.00</td><td>24.32</td><td>8.94</td><td>Linux x86 64-bit</td></tr>
</table>
<h3>System Statistics - Per Second</h3>
<table><tr><th>I#</th><th>Logical Reads/s</th><th>Physical Reads/s</th><th>Physical Writes/s</th><th>Redo Size (k)/s</th><th>Txns/s</th></tr>
<tr><td>1</td><td>8,845.05</td><td>3,425.64</td><td>497.66</td><td>491.24</td><td>178.92</td></tr>
<tr><td>2</td><td>4,000.00</td><td>1,500.00</td><td>200.00</td><td>200.00</td><td>80.00</td></tr>
<tr><td>&#160;</td><td>&#160;</td><td>&#160;</td><td>&#160;</td><td>&#160;</td><td>&#160;</td></tr>
<tr><td>Sum</td><td>12,845.05</td><td>4,925.64</td><td>697.66</td><td>691.24</td><td>258.92</td></tr>
</table>
<h3>Top Timed Events</h3>
<table><tr><th rowspan="2">I#</th><th rowspan="2">Class</th><th>Event</th><th colspan="2">Wait</th><th colspan="3">Wait Time</th><th colspan="2">Summary Avg Wait</th></tr>
<tr><th>Event</th><th>Waits</th><th>%Timeouts</th><th>Total(s)</th><th>Avg Wait</th><th>%DB time</th><th>Avg</th><th>Cnt</th></tr>
<tr><td>*</td><td>User I/O</td><td>db file sequential read</td><td>3,000,000</td><td>0.00</td><td>12,000.00</td><td>4.00ms</td><td>74.00</td><td>3.50ms</td><td>2</td></tr>
<tr><td>1</td><td>User I/O</td><td>db file sequential read</td><td>2,000,000</td><td>0.00</td><td>9,320.00</td><td>4.66ms</td><td>88.94</td><td>&#160;</td><td>&#160;</td></tr>
<tr><td>&#160;</td><td>&#160;</td><td>DB CPU</td><td>&#160;</td><td>&#160;</td><td>831.83</td><td>&#160;</td><td>7.68</td><td>&#160;</td><td>&#160;</td></tr>
<tr><td>&#160;</td><td>Cluster</td><td>gc cr grant 2-way</td><td>900,000</td><td>0.00</td><td>500.00</td><td>546.98us</td><td>4.63</td><td>&#160;</td><td>&#160;</td></tr>
<tr><td>2</td><td>User I/O</td><td>db file sequential read</td><td>1,000,000</td><td>0.00</td><td>2,680.00</td><td>2.68ms</td><td>50.00</td><td>&#160;</td><td>&#160;</td></tr>
</table>
</body></html>
"#;

#[test]
fn each_instance_has_its_host_rates_and_events() {
    let all = read_as("oracle-awr-html", HTML);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let names: Vec<_> = all.hosts.iter().filter_map(|h| h.name.as_deref()).collect();
    assert_eq!((names, all.remarks.len()), (vec!["db1", "db2"], 1), "{:?}", all.remarks);
    let first = all.of(Database, "sales1");
    assert_eq!((first[0].value(ActiveSessions), first[0].interval.length_s), (Some(17.92), 10.07 * 60.0));
    assert_eq!(first[0].interval.at_s, 1_581_334_260.0);
    let wanted = [LogicalReadsPerS, PhysicalReadBlocksPerS, RedoBytesPerS, TransactionsPerS];
    assert_eq!(values(first[1], &wanted), [8845.05, 3425.64, 491.24 * 1024.0, 178.92]);
    assert_eq!(all.of(Database, "sales2").len(), 2);
    let reads = all.of(WaitEvent, "db file sequential read");
    let figures: Vec<Vec<f64>> = reads.iter().map(|r| values(r, &[Waits, WaitTimeS, WaitUs])).collect();
    assert_eq!(figures, [[2e6, 9320.0, 4660.0], [1e6, 2680.0, 2680.0]]);
    assert_ne!(all.places[reads[0].place as usize].host, all.places[reads[1].place as usize].host);
    let grants = all.of(WaitEvent, "gc cr grant 2-way");
    assert_eq!(values(grants[0], &[WaitUs, DatabaseTimePercent]), [546.98, 4.63]);
}

#[test]
fn a_cluster_without_its_instances_is_complained_about() {
    let all = read_as(
        "oracle-awr-text",
        "WORKLOAD REPOSITORY REPORT (RAC)\n\nDatabase Summary\n~~~~~~~~~~~~~~~~\n",
    );
    assert_eq!((all.complaints.len(), all.rows.len()), (1, 0));
    assert!(all.complaints[0].1.found.contains("each instance"));
}

/// Lines of all formats of the family, and others that are close to them.
const LINES: [&str; 34] = [
    "",
    "WORKLOAD REPOSITORY report for",
    "WORKLOAD REPOSITORY REPORT (RAC)",
    "STATSPACK report for",
    "End of Report",
    "Begin Snap:        37 12-Feb-17 12:16:04        25       1.6",
    "  End Snap:        38 12-Feb-17 12:22:06        27       2.1",
    "  End Snap: 38 99-Xyz-17 12:22:06",
    "   Elapsed:                0.00 (mins)",
    "   DB Time:              141.41 (mins)      DB CPU:  x",
    "DB Name         DB Id    Instance     Inst Num Startup Time    Release     RAC",
    "Host Name        Platform                         CPUs Cores Sockets Memory(GB)",
    "I#  Instance  Host Platform",
    "~~~~~~~~~~~~",
    "~~~~~~~~         Load Average",
    "~~~~ ---------------- ----- -----",
    "------------ ----------- ------------ -------- --------------- ----------- ---",
    "            -------------",
    "- - - - - -",
    "Load Profile              Per Second    Per Transaction",
    "      Redo size:           56,890.1            2,287.8",
    "Top 5 Timed Foreground Events",
    "Event                                 Waits     Time(s)   (ms)   time Wait Class",
    "Event\tWaits\tTime(s)\tAvg wait (ms)\t% DB time\tWait Class",
    "db file sequential read\t35,732\t6,575\t184\t77.5\tUser I/O",
    "db file sequential read              35,732       6,575    184   77.5 User I/O",
    "Wait Event Histogram (up to 64 us)       DB/Inst: A/a  Snaps: 1-2",
    "Event                      Waits  <1ms  <1/0s  <8us <16us >=512 <",
    "IOStat by Function/Filetype summary      DB/Inst: A/a  Snaps: 1-2",
    "Tablespace IO Stats                      DB/Inst: /  Snaps: ",
    "Tablespace               Filename",
    "         Reads Reads/s Rd(ms) Blks/Rd       Writes Writes/s      Waits Wt(ms)",
    "    17,349,398   4,801     2.3     1.5      141,077       39  4,083,704     5.8",
    "Large/Small, 1, 2",
];

proptest! {
    #[test]
    fn no_lines_in_any_order_panic(lines in prop::collection::vec((prop::sample::select(LINES.to_vec()), 0usize..12), 0..60)) {
        let text: String = lines.iter().map(|(line, indent)| " ".repeat(indent % 5) + line + "\n").collect();
        for format in import::format::all().filter(|f| f.name.starts_with("oracle") || f.name.starts_with("slob") || f.name == "orion") {
            let mut all = Gathered::default();
            import::read_stream_as(format, "test", &mut text.as_bytes(), &mut all);
        }
    }

    #[test]
    fn no_damage_panics(bytes in damaged(HTML)) {
        read_any(&bytes);
    }
}
