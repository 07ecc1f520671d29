//! AWR reports as HTML: 19c with summaries of tables, 10g without, in upper case.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Database, DatabaseFile, Host, IoFunction, Tablespace, WaitEvent};
use record::imported::Quantity::*;
use record::imported::{Platform, RowsKind, facts};
use support::{damaged, near, read_any, read_as, values};

const NEW: &str = r##"<html lang="en"><head><title>AWR Report for DB: SALES, Inst: sales1, Snaps: 10-11</title>
<style type="text/css">
td.awrc {color:black; background:#FFFFCC;} table > td {}
</style></head><body class="awr">
<h1 class="awr">
WORKLOAD REPOSITORY report for

</h1>
<p />
<table border="0" class="tdiff" summary="This table displays database instance information">
<tr><th class="awrbg" scope="col">DB Name</th><th class="awrbg">DB Id</th><th>Unique Name</th><th>Role</th><th>Edition</th><th>Release</th><th>RAC</th><th>CDB</th></tr>
<tr><td scope="row" class='awrnc'>SALES</td><td align="right">2222222222</td><td>sales</td><td>PRIMARY</td><td>EE</td><td>19.0.0.0.0</td><td>YES</td><td>NO</td></tr>
</table>
<p />
<table border="0" class="tdiff" summary="This table displays database instance information">
<tr><th>Instance</th><th>Inst Num</th><th>Startup Time</th></tr>
<tr><td>sales1</td><td align="right" class='awrnc'>1</td><td>01-Mar-23 07:00</td></tr>
</table>
<table border="0" summary="This table displays host information">
<tr><th>Host Name</th><th>Platform</th><th>CPUs</th><th>Cores</th><th>Sockets</th><th>Memory (GB)</th></tr>
<tr><td>db1.example.com</td><td>AIX-Based Systems (64-bit)</td><td>   16</td><td>   8</td><td>&#160;</td><td>  125.50</td></tr>
</table>
<table border="0" summary="This table displays snapshot information">
<tr><th></th><th>Snap Id</th><th>Snap Time</th><th>Sessions</th><th>Cursors/Session</th><th>Instances</th></tr>
<tr><td>Begin Snap:</td><td align="right">10</td><td>02-Mar-23 23:30:00</td><td>100</td><td>      2.0</td><td>2</td></tr>
<tr><td>End Snap:</td><td align="right">11</td><td>03-Mar-23 00:30:10</td><td>101</td><td>      2.1</td><td>2</td></tr>
<tr><td>Elapsed:</td><td>&#160;</td><td>     60.17 (mins)</td><td>&#160;</td><td>&#160;</td><td>&#160;</td></tr>
<tr><td>DB Time:</td><td>&#160;</td><td>    601.67 (mins)</td><td>&#160;</td><td>&#160;</td><td>&#160;</td></tr>
</table>
<h3 class="awr"><a class="awr" name="99999"></a>Report Summary</h3>
<p />Load Profile<p />
<table border="0" width="600" class="tdiff" summary="This table displays load profile">
<tr><th></th><th>Per Second</th><th>Per Transaction</th><th>Per Exec</th><th>Per Call</th></tr>
<tr><td>DB Time(s):</td><td>              10.0</td><td>               0.1</td><td>      0.01</td><td>      0.50</td></tr>
<tr><td>Redo size (bytes):</td><td>       1,048,576.0</td><td>          10,485.8</td><td>&#160;</td><td>&#160;</td></tr>
<tr><td>Transactions:</td><td>             100.0</td><td>&#160;</td><td>&#160;</td><td>&#160;</td></tr>
</table>
<p />Top 10 Foreground Events by Total Wait Time<p />
<ul>
</ul>
<table border="0" summary="This table displays top 10 wait events by total wait time"><tr><th>Event</th><th>Waits</th><th>Total Wait Time (sec)</th><th>Avg Wait</th><th>% DB time</th><th>Wait Class</th></tr>
<tr><td>db file sequential read</td><td>9,000,000</td><td>27K</td><td>3.00ms</td><td>74.8</td><td>User I/O</td></tr>
<tr><td>DB CPU</td><td>&#160;</td><td>9025</td><td>&#160;</td><td>25.0</td><td>&#160;</td></tr>
</table>
<p />
Host CPU
<p />
<table border="0" summary="This table displays system load statistics">
<tr><th>CPUs</th><th>Cores</th><th>Sockets</th><th>Load Average Begin</th><th>Load Average End</th><th>%User</th><th>%System</th><th>%WIO</th><th>%Idle</th></tr>
<tr><td>   16</td><td>    8</td><td>    1</td><td>  1.33</td><td>  1.74</td><td>  20.0</td><td>  5.0</td><td>  40.0</td><td>  35.0</td></tr>
</table>
<p />Cache Sizes<p />
<table border="0" summary="This table displays cache sizes and other statistics for
                    different types of cache">
<tr><th></th><th>Begin</th><th>End</th><th></th><th></th></tr>
<tr><td>Buffer Cache:</td><td>     8,000M</td><td>     8,000M</td><td>Std Block Size:</td><td>         8K</td></tr>
</table>
<a class="awr" name="100"></a>
<h3 class="awr">Foreground Wait Events</h3>
<ul>
<li class="awr"> s  - second, ms - millisecond, us - microsecond, ns - nanosecond </li>
</ul>
<table border="0" class="tdiff" summary="This table displays Foreground Wait Events and their wait statistics"><tr><th>Event</th><th>Waits</th><th>%Time -outs</th><th>Total Wait Time (s)</th><th>Avg wait</th><th>Waits /txn</th><th>% DB time</th></tr>
<tr><td>db file sequential read</td><td>9,000,000</td><td>&#160;</td><td>27,000</td><td>3.00ms</td><td>25.0</td><td>74.80</td></tr>
<tr><td>control file sequential read</td><td>5,000</td><td>0</td><td>10</td><td>2.00ms</td><td>0.0</td><td>0.03</td></tr>
</table><p />
<h3 class="awr">Background Wait Events</h3>
<table border="0" summary="This table displays background wait events statistics"><tr><th>Event</th><th>Waits</th><th>%Time -outs</th><th>Total Wait Time (s)</th><th>Avg wait</th><th>Waits /txn</th><th>% bg time</th></tr>
<tr><td>log file parallel write</td><td>310,000</td><td>0</td><td>155</td><td>500.00us</td><td>0.9</td><td>60.01</td></tr>
</table>
<h3 class="awr">Wait Event Histogram</h3>
<ul><li class="awr"> Units for % of Total Waits:     us is microseconds </li></ul>
<table border="0" summary="This table displays total number of waits, and information about total wait time, for each wait event"><tr>
<td class='awrncrb'>&#160;</td><td>&#160;</td><th class="awrbg" scope="col" colspan=" 3" id="%ofTotalWaits">% of Total Waits</th>
</tr><tr>
<th>Event</th><th>Total Waits</th><th id="&lt;256us">&lt;256us</th><th id="&lt;512us">&lt;512us</th><th>&gt;=512us</th></tr>
<tr><td>db file sequential read</td><td>9M</td><td headers="%ofTotalWaits &lt;256us">10.0</td><td>20.0</td><td>70.0</td></tr>
</table>
<h3 class="awr">IOStat by Function summary</h3>
<table border="0" summary="This table displays the IOStat by function"><tr><th>Function Name</th><th>Reads: Data</th><th>Reqs per sec</th><th>Data per sec</th><th>Writes: Data</th><th>Reqs per sec</th><th>Data per sec</th><th>Waits: Count</th><th>Avg Time</th></tr>
<tr><td>Buffer Cache Reads</td><td>69G</td><td>2500.00</td><td>23.5M</td><td>0M</td><td>0.00</td><td>0M</td><td>9.1M</td><td>3.01ms</td></tr>
</table>
<h3 class="awr">Tablespace IO Stats</h3>
<table border="0" summary="This table displays tablespace IO statistics"><tr><th>Tablespace</th><th>Reads</th><th>Av Rds/s</th><th>Av Rd</th><th>Av Blks/Rd</th><th>1-bk Rds/s</th><th>Av 1-bk Rd</th><th>Writes</th><th>Writes avg/s</th><th>Buffer Waits</th><th>Av Buf Wt</th></tr>
<tr><td>DATA</td><td>1,080,000</td><td>300</td><td>546.98us</td><td>4.0</td><td>290.5</td><td>500.00us</td><td>720,000</td><td>200</td><td>12</td><td>1.00ms</td></tr>
</table>
<h3 class="awr">File IO Stats</h3>
<table border="0"><tr><th>Tablespace</th><th>Filename</th><th>Reads</th><th>Av Rds/s</th><th>Av Rd(ms)</th><th>Av Blks/Rd</th><th>Writes</th><th>Writes avg/s</th><th>Buffer Waits</th><th>Av Buf Wt(ms)</th></tr>
<tr><td>DATA</td><td>+DATA/SALES/data.262.1</td><td>1,080,000</td><td>300</td><td>5.2</td><td>4.0</td><td>720,000</td><td>200</td><td>0</td><td>0.0</td></tr>
</table>
</body></html>
"##;

#[test]
fn heading_profile_and_host() {
    let all = read_as("oracle-awr-html", NEW);
    assert!(all.complaints.is_empty() && all.remarks.is_empty(), "{:?} {:?}", all.complaints, all.remarks);
    let host = &all.hosts[0];
    assert_eq!(
        (host.name.as_deref(), host.platform, host.processors),
        (Some("db1.example.com"), Platform::Aix, Some(16))
    );
    let row = all.of(Database, "sales1")[0];
    assert_eq!((row.interval.kind, row.interval.length_s), (RowsKind::Period, 3610.0));
    assert_eq!(values(row, &[ActiveSessions, RedoBytesPerS, TransactionsPerS]), [10.0, 1_048_576.0, 100.0]);
    assert_eq!(all.fact("sales1", facts::DATABASE_BLOCK_BYTES).unwrap().number(), Some(8192.0));
    let shares = values(all.of(Host, "")[0], &[CpuUserPercent, CpuIowaitPercent, CpuIdlePercent]);
    assert_eq!(shares, [20.0, 40.0, 35.0]);
}

#[test]
fn events_histograms_and_io() {
    let all = read_as("oracle-awr-html", NEW);
    let reads = all.of(WaitEvent, "db file sequential read");
    assert_eq!(reads.len(), 1);
    assert_eq!(
        values(reads[0], &[Waits, WaitTimeS, WaitUs, DatabaseTimePercent]),
        [9e6, 27_000.0, 3000.0, 74.8]
    );
    let log = all.of(WaitEvent, "log file parallel write")[0];
    assert_eq!(values(log, &[WaitUs, BackgroundTimePercent]), [500.0, 60.01]);
    let buckets = &all.distributions[0].buckets;
    assert_eq!(buckets.iter().map(|(b, _)| *b).collect::<Vec<_>>(), [256.0, 512.0, f64::INFINITY]);
    assert!(near(buckets[2].1, 0.7));
    let cache = all.of(IoFunction, "Buffer Cache Reads")[0];
    assert!(near(cache.value(ReadBytesPerS).unwrap(), 23.5 * 1_048_576.0));
    assert_eq!(values(cache, &[ReadIops, Waits, WaitUs]), [2500.0, 9.1e6, 3010.0]);
    let data = all.of(Tablespace, "DATA")[0];
    let wanted = [Reads, ReadResponseUs, SingleBlockReadIops, SingleBlockReadUs, WriteIops, BufferWaitUs];
    assert_eq!(values(data, &wanted), [1_080_000.0, 546.98, 290.5, 500.0, 200.0, 1000.0]);
    let file = all.of(DatabaseFile, "+DATA/SALES/data.262.1")[0];
    assert_eq!(values(file, &[ReadResponseUs, BlocksPerRead]), [5200.0, 4.0]);
    assert_eq!(file.value(BufferWaitUs), None);
}

#[test]
fn tables_of_10g_have_no_summary() {
    let text = "\
<HTML><HEAD><TITLE>AWR Report for DB: OLD, Inst: old, Snaps: 1-2</TITLE></HEAD>
<BODY CLASS='awr'><H1 CLASS='awr'>WORKLOAD REPOSITORY report for</H1>
<TABLE BORDER=1 WIDTH=600><TR><TH CLASS='awrbg'>DB Name</TH><TH>DB Id</TH><TH>Instance</TH><TH>Inst num</TH><TH>Release</TH><TH>RAC</TH><TH>Host</TH></TR>
<TR><TD CLASS='awrnc'>OLD</TD><TD>1</TD><TD>old</TD><TD>1</TD><TD>10.2.0.4.0</TD><TD>NO</TD><TD>hp01</TD></TR></TABLE>
<P>
<H3 CLASS='awr'>Load Profile</H3>
<TABLE><TR><TH>&nbsp;</TH><TH>Per Second</TH><TH>Per Transaction</TH></TR>
<TR><TD>Physical reads:</TD><TD>1,200.00</TD><TD>60.00</TD></TR></TABLE>
<H3>Top 5 Timed Events</H3>
<TABLE><TR><TH>Event</TH><TH>Waits</TH><TH>Time(s)</TH><TH>Avg Wait(ms)</TH><TH>% Total Call Time</TH><TH>Wait Class</TH></TR>
<TR><TD>db file sequential read<TD>1,000,000<TD>5,000<TD>5<TD>69.4<TD>User I/O
<TR><TD>CPU time</TD><TD>&nbsp;</TD><TD>1,800</TD><TD>&nbsp;</TD><TD>25.0</TD><TD>&nbsp;</TD></TR>
</TABLE></BODY></HTML>";
    let all = read_as("oracle-awr-html", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(all.hosts[0].name.as_deref(), Some("hp01"));
    assert_eq!(all.of(Database, "old")[0].value(PhysicalReadBlocksPerS), Some(1200.0));
    // Elements that were not closed.
    let row = all.of(WaitEvent, "db file sequential read")[0];
    assert_eq!(values(row, &[Waits, WaitTimeS, WaitUs, DatabaseTimePercent]), [1e6, 5000.0, 5000.0, 69.4]);
    assert_eq!(row.origin.line, 11);
}

#[test]
fn a_report_that_is_cut_off_keeps_what_was_complete() {
    let cut = &NEW[..NEW.find("<h3 class=\"awr\">IOStat").unwrap() - 30];
    let all = read_as("oracle-awr-html", cut);
    assert_eq!(all.of(WaitEvent, "log file parallel write").len(), 1);
    assert_eq!(all.remarks.len(), 1);
}

#[test]
fn a_damaged_row_is_complained_about_and_the_rest_is_kept() {
    let text = NEW.replace("<td>310,000</td>", "<td>310,0?0</td>");
    let all = read_as("oracle-awr-html", &text);
    assert_eq!(all.complaints.len(), 1, "{:?}", all.complaints);
    assert_eq!(all.complaints[0].1.expected, "a wait event, its waits, their time");
    assert!(all.of(WaitEvent, "log file parallel write").is_empty());
}

proptest! {
    #[test]
    fn no_damage_panics(bytes in damaged(NEW)) {
        read_any(&bytes);
    }
}
