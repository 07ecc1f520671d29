//! Normal output of fio.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::Basis;
use record::imported::PlaceKind::{Device, Job, Volume};
use record::imported::Quantity::*;
use support::{damaged, near, read_any, read_as, values};

const NEW: &str = "\
oltp: (g=0): rw=randrw, bs=(R) 8192B-8192B, (W) 8192B-8192B, (T) 8192B-8192B, ioengine=libaio, iodepth=16
...
fio-3.33
Starting 2 processes
oltp: Laying out IO file (1 file / 1024MiB)
Jobs: 2 (f=2): [m(2)][50.0%][r=93.7MiB/s][r=12.0k IOPS][eta 00m:10s]
oltp: (groupid=0, jobs=2): err= 0: pid=161: Sat Nov 11 18:43:15 2023
  read: IOPS=12.5k, BW=97.7MiB/s (102MB/s)(977MiB/10001msec)
    slat (nsec): min=1629, max=881.5k, avg=4000.50, stdev=7724.53
    clat (usec): min=4, max=34057, avg=220.52, stdev=675.01
     lat (usec): min=27, max=34081, avg=224.52, stdev=675.20
    clat percentiles (usec):
     |  1.00th=[   84], 50.00th=[  163], 95.00th=[  225], 99.00th=[ 2114],
     | 99.90th=[ 7373], 99.99th=[>=33817]
   bw (  KiB/s): min=33888, max=154307, per=82.67%, avg=79356.67, stdev=29248.88, samples=6
   iops        : min= 4235, max=19287, avg=9918.67, stdev=3655.95, samples=6
  write: IOPS=500, BW=4000KiB/s (4096kB/s)(39.1MiB/10001msec); 0 zone resets
    slat (usec): min=2, max=7, avg= 4.50, stdev= 1.00
    clat (msec): min=1, max=568, avg= 2.00, stdev=17.48
     lat (msec): min=1, max=569, avg= 2.50, stdev=17.48
    clat percentiles (msec):
     | 99.00th=[   12], 99.90th=[  287]
  lat (usec)   : 50=0.08%, 100=1.15%, 250=88.77%
  lat (msec)   : 2=10.00%, 2000=0.00%
  fsync/fdatasync/sync_file_range:
    sync (usec): min=83, max=686593, avg=3000.00, stdev=29285.68
    sync percentiles (usec):
     |  1.00th=[   102], 99.00th=[ 99999]
  cpu          : usr=0.53%, sys=6.12%, ctx=21663, majf=0, minf=25
  IO depths    : 1=0.1%, 2=0.1%, 4=0.1%, 8=0.2%, 16=99.5%, 32=0.0%, >=64=0.0%
     submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     complete  : 0=0.0%, 4=100.0%, 8=0.1%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     issued rwts: total=125012,5000,0,40 short=0,0,0,0 dropped=0,0,0,0
     latency   : target=0, window=0, percentile=100.00%, depth=16

Run status group 0 (all jobs):
   READ: bw=97.7MiB/s (102MB/s), 97.7MiB/s-97.7MiB/s (102MB/s-102MB/s), io=977MiB (1024MB), run=10001-10001msec
  WRITE: bw=4000KiB/s (4096kB/s), 4000KiB/s-4000KiB/s (4096kB/s-4096kB/s), io=39.1MiB (41MB), run=10001-10001msec

Disk stats (read/write):
    dm-1: ios=1000/500, merge=0/0, ticks=2000/3000, in_queue=5000, util=99.00%, aggrios=7/7, aggrmerge=0/0, aggrticks=1/1, aggrin_queue=2, aggrutil=98.00%
  sdb: ios=1000/500, merge=1/2, ticks=1500/2500, in_queue=4000, util=98.00%
";

#[test]
fn units_of_version_3() {
    let all = read_as("fio-text", NEW);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let row = all.of(Job, "oltp")[0];
    let wanted = [ReadIops, ReadResponseUs, ReadResponseP99Us, ReadResponseMaxUs, Reads, Writes, Flushes];
    assert_eq!(values(row, &wanted), [12_500.0, 224.52, 2114.0, 34_081.0, 125_012.0, 5000.0, 40.0]);
    assert!(near(row.value(ReadBytesPerS).unwrap(), 97.7 * 1_048_576.0));
    let wanted =
        [WriteIops, WriteBytesPerS, WriteResponseUs, WriteResponseP999Us, FlushResponseUs, Concurrency];
    assert_eq!(values(row, &wanted), [500.0, 4_096_000.0, 2500.0, 287_000.0, 3000.0, 32.0]);
    assert_eq!(
        (row.interval.length_s, row.interval.at_s, row.interval.basis),
        (10.001, 1_699_728_195.0, Basis::Local)
    );
    let sdb = all.of(Device, "sdb")[0];
    assert_eq!(values(sdb, &[Reads, WriteMerges, ReadResponseUs, BusyPercent]), [1000.0, 2.0, 1500.0, 98.0]);
    assert_eq!(all.of(Volume, "dm-1")[0].value(ReadTimeS), Some(2.0));
    assert_eq!(all.fact("oltp", "fio_ioengine").unwrap().text(), "libaio");
    let shares = all.distributions.iter().find(|d| d.quantity == ResponseUs).unwrap();
    assert!(near(shares.buckets.iter().map(|b| b.1).sum(), 1.0));
}

#[test]
fn figures_of_version_2() {
    let text = "\
scan: (g=0): rw=read, bs=1M-1M/1M-1M/1M-1M, ioengine=sync, iodepth=32
fio-2.2.10
Starting 1 process

scan: (groupid=0, jobs=1): err= 5 (file:io_u.c:1, func=io_u error, error=Input/output error): pid=77: Tue Mar  1 10:00:00 2016
  read : io=1024.0MB, bw=102400KB/s, iops=100, runt= 10240msec
    clat (msec): min=1, max=90, avg=10.00, stdev= 1.50
     lat (msec): min=1, max=90, avg=10.00, stdev= 1.50
    clat percentiles (msec):
     | 50.00th=[    9], 99.00th=[   20]
    bw (KB  /s): min=90000, max=110000, per=100.00%, avg=102000.00, stdev=100.00
    lat (msec) : 2=0.10%, 10=80.00%, 20=19.90%
  cpu          : usr=0.10%, sys=1.00%, ctx=1024, majf=0, minf=8
  IO depths    : 1=100.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
     submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     complete  : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     issued    : total=r=1024/w=0/d=0, short=r=0/w=0/d=0, drop=r=0/w=0/d=0
     latency   : target=0, window=0, percentile=100.00%, depth=32

Run status group 0 (all jobs):
   READ: io=1024.0MB, aggrb=102400KB/s, minb=102400KB/s, maxb=102400KB/s, mint=10240msec, maxt=10240msec
";
    let all = read_as("fio-text", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let row = all.of(Job, "scan")[0];
    let wanted = [ReadIops, ReadBytesPerS, ReadResponseUs, ResponseP99Us, Reads, Concurrency];
    assert_eq!(values(row, &wanted), [100.0, 104_857_600.0, 10_000.0, 20_000.0, 1024.0, 1.0]);
    assert_eq!(all.fact("scan", "error").unwrap().number(), Some(5.0));
}

#[test]
fn a_damaged_line_is_complained_about() {
    let all = read_as("fio-text", &NEW.replace("read: IOPS=12.5k", "read: IOPS=12.?k"));
    assert_eq!((all.complaints.len(), all.complaints[0].1.line), (1, 8));
    assert_eq!(all.of(Job, "oltp")[0].value(WriteIops), Some(500.0));
}

proptest! {
    #[test]
    fn no_damage_panics(bytes in damaged(NEW)) {
        read_any(&bytes);
    }
}
