//! nmon of Linux and AIX.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Adapter, Cpu, Device, Host, Partition, Process};
use record::imported::Quantity::*;
use record::imported::{Basis, Platform, Value, facts};
use support::{damaged, near, read_any, read_as, values};

const AIX: &str = "\
AAA,progname,topas_nmon
AAA,build,AIX
AAA,host,db1
AAA,AIX,7.2.4.0
AAA,time,23:54:01
AAA,date,10-FEB-2016
AAA,interval,300
AAA,cpus,64,28
CPU_ALL,CPU Total db1,User%,Sys%,Wait%,Idle%,Busy,PhysicalCPUs
CPU01,CPU 1 db1,User%,Sys%,Wait%,Idle%
MEM,Memory db1,Real Free %,Virtual free %,Real free(MB),Virtual free(MB),Real total(MB),Virtual total(MB)
PAGE,Paging db1,faults,pgin,pgout,pgsin,pgsout,reclaims,scans,cycles
DISKBUSY,Disk %Busy db1,hdisk1,hdisk2
DISKREAD,Disk Read KB/s db1,hdisk1,hdisk2
DISKXFER,Disk transfers per second db1,hdisk1,hdisk2
DISKRXFER,Transfers from disk (reads) per second db1,hdisk1,hdisk2
DISKRIO,Disk IO Reads per second db1,hdisk1,hdisk2
DISKWIO,Disk IO Writes per second db1,hdisk1,hdisk2
DISKSERV,Disk Service Time msec/xfer db1,hdisk1,hdisk2
DISKREADSERV,Disk Read Service Time msec/xfer db1,hdisk1,hdisk2
DISKWRITESERV,Disk Write Service Time msec/xfer db1,hdisk1,hdisk2
DISKWAIT,Disk Wait Queue Time msec/xfer db1,hdisk1,hdisk2
DISKBUSY1,Disk %Busy db1,hdisk3
IOADAPT,Disk Adapter db1,fcs0_read-KB/s,fcs0_write-KB/s,fcs0_xfer-tps
FCREAD,Fibre Channel Read KB/s,fcs0
BBBP,000,lsattr -El fcs0
BBBP,001,lsattr -El fcs0,\"num_cmd_elems   500      Maximum number of COMMANDS to queue to the adapter True\"
ZZZZ,T0001,23:59:10,10-FEB-2016
CPU_ALL,T0001,32.2,29.2,0.1,38.5,,28
CPU01,T0001,25.7,25.3,2.4,46.5
MEM,T0001,4.8,99.1,2048.0,8119.8,43008.0,8192.0
PAGE,T0001,5407.1,2.0,10.0,1.0,0.0,0.0,0.0,0.0
DISKBUSY,T0001,17.6,0.0
DISKREAD,T0001,100.0,0.0
DISKXFER,T0001,40.0,0.0
DISKRXFER,T0001,10.0,0.0
DISKRIO,T0001,10.0,0.0
DISKWIO,T0001,30.0,0.0
DISKSERV,T0001,5.0,0.0
DISKREADSERV,T0001,2.0,0.0
DISKWRITESERV,T0001,3.0,0.0
DISKWAIT,T0001,1.5,0.0
DISKBUSY1,T0001,3.5
IOADAPT,T0001,100.0,50.0,40.0
ZZZZ,T0002,00:04:10,11-FEB-2016
DISKBUSY,T0002,50.0,1.0
DISKXFER,T0002,80.0,1.0
";

#[test]
fn sections_are_joined_into_rows_of_each_disk() {
    let all = read_as("nmon", AIX);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let host = &all.hosts[0];
    assert_eq!(
        (host.name.as_deref(), host.platform, host.processors),
        (Some("db1"), Platform::Aix, Some(28))
    );
    let disk = all.of(Device, "hdisk1");
    assert_eq!(disk.len(), 2);
    let first = disk[0].interval;
    // 2016-02-10 23:59:10; 309 s after the start, of which 300 were measured.
    assert_eq!((first.at_s, first.length_s, first.basis), (1_455_148_750.0, 300.0, Basis::Local));
    assert_eq!((disk[1].interval.at_s - first.at_s, disk[1].interval.length_s), (300.0, 300.0));
    let wanted = [BusyPercent, ReadBytesPerS, Iops, ReadIops, WriteIops, ServiceUs, HostWaitUs];
    assert_eq!(values(disk[0], &wanted), [17.6, 102_400.0, 40.0, 10.0, 30.0, 5000.0, 1500.0]);
    // Times of reads and writes are given per transfer of either kind.
    assert_eq!(values(disk[0], &[ReadServiceUs, WriteServiceUs]), [8000.0, 4000.0]);
    assert_eq!(all.of(Device, "hdisk3")[0].value(BusyPercent), Some(3.5));
    assert_eq!(values(all.of(Adapter, "fcs0")[0], &[WriteBytesPerS, Iops]), [51_200.0, 40.0]);
    let row = all.of(Host, "")[0];
    assert_eq!(
        values(row, &[CpuUserPercent, FreeBytes, PageInBytesPerS, SwapInBytesPerS]),
        [32.2, 2_147_483_648.0, 8192.0, 4096.0]
    );
    assert_eq!(all.of(Cpu, "CPU01")[0].value(CpuIowaitPercent), Some(2.4));
    assert_eq!(all.fact("fcs0", facts::ADAPTER_COMMANDS), Some(&Value::Number(500.0)));
}

#[test]
fn a_sorted_file_tells_the_same() {
    let mut lines: Vec<&str> = AIX.lines().collect();
    lines.sort_unstable();
    let (sorted, fresh) = (read_as("nmon", &(lines.join("\n") + "\n")), read_as("nmon", AIX));
    assert!(sorted.complaints.is_empty(), "{:?}", sorted.complaints);
    assert_eq!(sorted.rows.len(), fresh.rows.len());
    for row in &fresh.rows {
        let place = &fresh.places[row.place as usize];
        let same = sorted.of(place.kind, &place.name);
        let same = same.iter().find(|r| r.interval == row.interval).unwrap();
        for (quantity, value) in &row.values {
            assert_eq!(same.value(*quantity), Some(*value), "{place:?} {quantity}");
        }
    }
}

const LINUX: &str = "\
AAA,progname,nmon
AAA,host,web1
AAA,OS,Linux,4.1.3-100.fc21.x86_64,#1 SMP Wed Jul 29 18:59:46 UTC 2015,x86_64
AAA,time,10:24.25
AAA,date,18-AUG-2015
AAA,interval,30
AAA,cpus,4
CPU_ALL,CPU Total web1,User%,Sys%,Wait%,Idle%,Steal%,Busy,CPUs
MEM,Memory MB web1,memtotal,hightotal,lowtotal,swaptotal,memfree,highfree,lowfree,swapfree,memshared,cached
PROC,Processes web1,Runnable,Blocked,pswitch,syscall,read,write,fork,exec,sem,msg
DISKBUSY,Disk %Busy web1,sda,sda1
DISKBSIZE,Disk Block Size web1,sda,sda1
NET,Network I/O web1,lo-read-KB/s
TOP,%CPU Utilisation
TOP,+PID,Time,%CPU,%Usr,%Sys,Size,ResSet,ResText,ResData,ShdLib,MinorFault,MajorFault,Command
ZZZZ,T0001,10:24:26,18-AUG-2015
CPU_ALL,T0001,14.5,5.5,0.4,79.6,0.0,,4
MEM,T0001,7867.0,-0.0,-0.0,7952.0,64.0,-0.0,-0.0,4318.4,-0.0,1024.0
PROC,T0001,2,1,99.5,-1.0,-1.0,-1.0,0.0,-1.0,-1.0,-1.0
DISKBUSY,T0001,81.7,0.8
DISKBSIZE,T0001,4.0,5.7
NET,T0001,0.5
TOP,0015812,T0001,39.16,29.81,9.36,5255372,2162028,4700,4842924,21100,182,1,qemu, with comma
ZZZZ,T0002,10:24:56,18-AUG-2015
DISKBUSY,T0002,46.6,1.x
";

#[test]
fn linux_its_times_processes_and_what_it_does_not_tell() {
    let all = read_as("nmon", LINUX);
    assert_eq!(all.complaints.len(), 1, "{:?}", all.complaints);
    assert_eq!(all.complaints[0].1.line, 25);
    assert_eq!(all.hosts[0].release.as_deref(), Some("4.1.3-100.fc21.x86_64"));
    let disk = all.of(Device, "sda");
    assert_eq!((disk[0].interval.length_s, disk[1].interval.length_s), (1.0, 30.0));
    assert_eq!(disk[0].value(RequestBytes), Some(4096.0));
    assert_eq!(all.of(Partition, "sda1").len(), 1);
    let host = all.of(Host, "")[0];
    assert_eq!(
        values(host, &[RunQueue, BlockedTasks, SwitchesPerS, FreeBytes]),
        [2.0, 1.0, 99.5, 67_108_864.0]
    );
    let process = all.of(Process, "qemu, with comma (15812)")[0];
    assert!(near(process.value(CpuUserPercent).unwrap(), 29.81));
    assert!(all.remarks.iter().any(|(_, r)| r.contains("NET")), "{:?}", all.remarks);
}

#[test]
fn columns_without_a_header_have_no_names() {
    let text =
        "ZZZZ,T0009,23:02:43,14-OCT-2014\nCPU_ALL,T0009,16.0,1.7,0.7,81.6,,256\nDISKBUSY,T0009,5.1,6.4\n";
    let all = read_as("nmon", text);
    assert_eq!(all.rows.len(), 1);
    assert!(all.remarks.iter().any(|(_, r)| r.contains("DISKBUSY")), "{:?}", all.remarks);
}

#[test]
fn snapshots_without_a_date_go_over_midnight() {
    let text =
        AIX.replace(",23:59:10,10-FEB-2016", ",23:59:10").replace(",00:04:10,11-FEB-2016", ",00:04:10");
    let all = read_as("nmon", &text);
    let disk = all.of(Device, "hdisk1");
    assert_eq!(disk[1].interval.at_s - disk[0].interval.at_s, 300.0);
}

proptest! {
    #[test]
    fn no_damage_panics(aix in damaged(AIX), linux in damaged(LINUX)) {
        read_any(&aix);
        read_any(&linux);
    }
}
