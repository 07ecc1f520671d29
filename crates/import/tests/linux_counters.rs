//! vmstat, /proc/diskstats and node_exporter on Linux.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Adapter, Cpu, Device, Host, Partition, Volume};
use record::imported::Quantity::*;
use record::imported::{Basis, Platform, RowsKind};
use support::{damaged, near, read_any, read_as, values};

const VMSTAT: &str = "\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 CET
 2  0   1024   2048   1024   3072    1    2   507   203   47   52  6  6 81  7  0 2020-02-10 23:59:54
11 17      0   4096   1024   3072    0    0 38733  5521 6447 18976  8 10 77  4  1 2020-02-10 23:59:57
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 CET
 5 17      0   4096   1024   3072    0    0     0     0 6447 18976  8 10 77  4  1 2020-02-11 00:00:00
";

#[test]
fn vmstat_with_times() {
    let all = read_as("linux-vmstat", VMSTAT);
    assert!(all.complaints.is_empty() && all.remarks.is_empty(), "{:?} {:?}", all.complaints, all.remarks);
    assert_eq!(all.hosts[0].platform, Platform::Linux);
    let host = all.of(Host, "");
    let kinds: Vec<_> = host.iter().map(|r| (r.interval.kind, r.origin.line)).collect();
    assert_eq!(kinds, [(RowsKind::SinceBoot, 3), (RowsKind::Interval, 4), (RowsKind::Interval, 7)]);
    assert_eq!((host[2].interval.length_s, host[2].interval.basis), (3.0, Basis::Local));
    assert_eq!(host[2].interval.at_s, 1_581_379_200.0);
    let wanted = [RunQueue, BlockedTasks, FreeBytes, CacheBytes, PageInBytesPerS, CpuIowaitPercent];
    assert_eq!(values(host[1], &wanted), [11.0, 17.0, 4_194_304.0, 4_194_304.0, 39_662_592.0, 4.0]);
    assert_eq!(host[0].value(SwapOutBytesPerS), Some(2048.0));
}

#[test]
fn vmstat_wide_with_active_memory_after_a_command() {
    let text = "\
[oracle@db1 ~]$ vmstat -w -a -S M 10 3
--procs-- -----------------------memory---------------------- ---swap-- -----io---- -system-- ----------cpu----------
   r    b         swpd         free        inact       active   si   so    bi    bo   in   cs  us  sy  id  wa  st  gu
  13    0            0         2000            1            1    0    0 66047  4450 1207 5643  45   9  43   3   0   0
  12    1            0         2001            1            1    0    0   112 35120 1067 18878  94   6   0   0   0   0
  12    1            0         2001            1            1    0
";
    let all = read_as("linux-vmstat", text);
    let host = all.of(Host, "");
    assert_eq!((host.len(), all.complaints.len(), all.complaints[0].1.line), (2, 1, 6));
    assert_eq!((host[1].interval.length_s, host[1].interval.at_s), (10.0, 10.0));
    assert_eq!(host[1].value(FreeBytes), Some(2001.0 * 1_048_576.0));
    assert_eq!(host[1].value(CacheBytes), None);
}

#[test]
fn vmstat_of_disks() {
    let text = "\
disk- ------------reads------------ ------------writes----------- -----IO------
       total merged sectors      ms  total merged sectors      ms    cur    sec
sda     1000     10   16000    5000    200     20    3200     700      3     60
dm-0    1000      0   16000    5000    200      0    3200     700      0     60
";
    let all = read_as("linux-vmstat", text);
    assert!(all.complaints.is_empty());
    let row = all.of(Device, "sda")[0];
    assert_eq!(row.interval.kind, RowsKind::Instant);
    let wanted = [Reads, ReadBytes, ReadTimeS, Writes, OutstandingInstant, BusyTimeS];
    assert_eq!(values(row, &wanted), [1000.0, 8_192_000.0, 5.0, 200.0, 3.0, 60.0]);
    assert_eq!(all.of(Volume, "dm-0").len(), 1);
}

const DISKSTATS: &str = "\
zzz ***Wed Mar 13 00:10:00 UTC 2024
   8       0 sda 1000 10 16000 5000 200 20 3200 700 3 600 5700
   8       1 sda1 900 14000 190 3000
 259       0 nvme0n1 47114 4 4643973 21650 1078320 43950 39451633 1011053 0 222766 1032546 5 0 80 3
 253       0 dm-0 1000 0 16000 5000 200 0 3200 700 0 600 5700 0 0 0 0 12 34
zzz ***Wed Mar 13 00:10:30 UTC 2024
   8       0 sda 1300 10 16000 5000 200 20 3200 700 0 630 5790
";

#[test]
fn diskstats_of_all_kernels_and_several_dumps() {
    let all = read_as("linux-diskstats", DISKSTATS);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let sda = all.of(Device, "sda");
    let times: Vec<_> = sda.iter().map(|r| (r.interval.at_s, r.interval.kind, r.interval.basis)).collect();
    let instant = |at| (at, RowsKind::Instant, Basis::Utc);
    assert_eq!(times, [instant(1_710_288_600.0), instant(1_710_288_630.0)]);
    let wanted = [Reads, ReadMerges, ReadBytes, ReadTimeS, OutstandingInstant, BusyTimeS, WeightedTimeS];
    assert_eq!(values(sda[0], &wanted), [1000.0, 10.0, 8_192_000.0, 5.0, 3.0, 0.6, 5.7]);
    assert_eq!(values(all.of(Partition, "sda1")[0], &[Reads, WriteBytes]), [900.0, 1_536_000.0]);
    assert_eq!(values(all.of(Device, "nvme0n1")[0], &[Discards, DiscardBytes]), [5.0, 40_960.0]);
    assert_eq!(values(all.of(Volume, "dm-0")[0], &[Flushes, FlushTimeS]), [12.0, 0.034]);
    let damaged = DISKSTATS.replace("5000 200 20 3200 700 3 600 5700", "5000 200 20 3200");
    assert_eq!(read_as("linux-diskstats", &damaged).complaints.len(), 1);
}

const METRICS: &str = r#"# HELP node_cpu_seconds_total Seconds the CPUs spent in each mode.
# TYPE node_cpu_seconds_total counter
node_cpu_seconds_total{cpu="0",mode="idle"} 80
node_cpu_seconds_total{cpu="0",mode="iowait"} 5
node_cpu_seconds_total{cpu="0",mode="user"} 15
# TYPE node_disk_io_time_weighted_seconds_total counter
node_disk_io_time_weighted_seconds_total{device="sda"} 1.206301256e+06
node_disk_io_time_weighted_seconds_total{device="dm-0"} 7
# TYPE node_disk_info gauge
node_disk_info{device="sda",model="MODEL \"A\"",serial="S1",wwn="0x5000"} 1
# TYPE node_disk_read_bytes_total counter
node_disk_read_bytes_total{device="sda"} 512
node_fibrechannel_info{fc_host="host0",port_name="1000e0",port_state="Online",speed="16 Gbit"} 1
node_fibrechannel_rx_words_total{fc_host="host0"} 4
node_load1 0.21
node_memory_Buffers_bytes 100
node_memory_Cached_bytes 200
node_time_seconds 1.7102886e+09
node_uname_info{machine="x86_64",nodename="db1",release="5.14.0",sysname="Linux"} 1
other_metric{a="b"} 1
"#;

#[test]
fn metrics_of_two_scrapes() {
    let second = METRICS.replace("1.7102886e+09", "1.71028863e+09").replace("} 512", "} 1024");
    let all = read_as("node-exporter", &format!("{METRICS}{second}"));
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(
        (all.hosts[0].name.as_deref(), all.hosts[0].release.as_deref()),
        (Some("db1"), Some("5.14.0"))
    );
    let sda = all.of(Device, "sda");
    assert_eq!(
        (sda.len(), sda[0].interval.at_s, sda[1].interval.at_s),
        (2, 1_710_288_600.0, 1_710_288_630.0)
    );
    assert_eq!(values(sda[1], &[ReadBytes, WeightedTimeS]), [1024.0, 1_206_301.256]);
    assert_eq!((sda[0].interval.kind, sda[0].origin.line), (RowsKind::Instant, 7));
    assert_eq!(all.fact("sda", "product").unwrap().text(), "MODEL \"A\"");
    assert_eq!(all.fact("host0", "port_speed_bits_per_s").unwrap().number(), Some(16e9));
    assert_eq!(all.of(Adapter, "host0")[0].value(ReadBytes), Some(16.0));
    assert_eq!(values(all.of(Host, "")[0], &[Load1, CacheBytes]), [0.21, 300.0]);
    assert!(all.of(Host, "").iter().any(|r| r.value(CpuIdlePercent) == Some(80.0)));
    let cpu = all.of(Cpu, "0")[0];
    assert_eq!((cpu.interval.kind, cpu.value(CpuIowaitPercent)), (RowsKind::SinceBoot, Some(5.0)));
}

proptest! {
    #[test]
    fn counters_come_back(counters in prop::collection::vec(0u64..1 << 50, 17)) {
        let cells: Vec<String> = counters.iter().map(u64::to_string).collect();
        let (all, _) = read_any(format!("   8       0 sda {}\n", cells.join(" ")).as_bytes());
        let row = all.of(Device, "sda")[0];
        prop_assert!(near(row.value(ReadBytes).unwrap(), counters[2] as f64 * 512.0));
        prop_assert!(near(row.value(FlushTimeS).unwrap(), counters[16] as f64 / 1000.0));
    }

    #[test]
    fn no_damage_panics(vmstat in damaged(VMSTAT), disks in damaged(DISKSTATS), metrics in damaged(METRICS)) {
        read_any(&vmstat);
        read_any(&disks);
        read_any(&metrics);
    }
}

#[test]
fn vmstat_snapshots_of_a_collector() {
    let header = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n";
    let row = " 1  2      0      1      1      1    0    0     0     0    1    1  1  1 98  0  0\n";
    let text = format!(
        "zzz ***Wed Mar 13 00:10:00 UTC 2024\n{header}{row}{row}zzz ***Wed Mar 13 00:10:30 UTC 2024\n{header}{row}{row}"
    );
    let all = read_as("linux-vmstat", &text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let got: Vec<_> = all.rows.iter().map(|r| (r.interval.at_s, r.interval.kind)).collect();
    let (first, second) = (1_710_288_600.0, 1_710_288_630.0);
    use RowsKind::{Interval, SinceBoot};
    assert_eq!(got, [(first, SinceBoot), (first, Interval), (second, SinceBoot), (second, Interval)]);
}
