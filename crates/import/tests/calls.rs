//! strace and truss.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Call, DatabaseFile};
use record::imported::Quantity::*;
use record::imported::{Basis, Platform, RowsKind};
use support::{damaged, near, read_any, read_as, values};

const STRACE: &str = "\
strace: Process 4711 attached
[pid 4711] 1700000000.000100 openat(AT_FDCWD, \"/u01/oradata/system01.dbf\", O_RDWR|O_DIRECT|O_DSYNC) = 256 <0.000040>
[pid 4711] 1700000000.000500 pread64(256, \"\\6\\242, (x) = 3\"..., 8192, 1048576) = 8192 <0.000512>
[pid 4712] 1700000000.000600 fdatasync(257 <unfinished ...>
[pid 4711] 1700000000.001000 pwrite64(256, \"\"..., 16384, 0) = -1 EIO (Input/output error) <0.010000>
[pid 4712] 1700000000.004600 <... fdatasync resumed>) = 0 <0.004000>
[pid 4711] 1700000000.005000 io_submit(0x7f2a8c0e1000, 2, [{aio_data=0x1, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=256, aio_buf=0x7f2a8b000000, aio_nbytes=8192, aio_offset=65536}, {aio_data=0x2, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=256, aio_buf=0x7f2a8b002000, aio_nbytes=131072, aio_offset=0}]) = 2 <0.000080>
[pid 4711] 1700000000.005200 io_getevents(0x7f2a8c0e1000, 1, 128, [{data=0x1, obj=0x1, res=8192, res2=0}], {tv_sec=600, tv_nsec=0}) = 1 <0.000700>
[pid 4711] 1700000000.006000 mmap(NULL, 2097152, PROT_NONE, MAP_PRIVATE|MAP_NORESERVE, 7, 0) = 0x7f2a8a000000 <0.000010>
[pid 4711] 1700000000.006100 mmap(NULL, 4194304, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS|MAP_HUGETLB|21<<MAP_HUGE_SHIFT, -1, 0) = 0x7f2a8a000000 <0.000010>
[pid 4711] 1700000000.006200 madvise(0x7f2a8a000000, 65536, MADV_HUGEPAGE) = 0 <0.000005>
[pid 4711] 1700000000.006300 futex(0x7f2a8c, FUTEX_WAIT, 2, NULL) = 0 <0.000100>
[pid 4711] 1700000000.006500 futex(0x7f2a8c, FUTEX_WAIT, 2, NULL) = 0 <0.000300>
--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED} ---
[pid 4711] +++ exited with 0 +++
";

#[test]
fn reads_writes_and_memory_of_strace() {
    let all = read_as("strace", STRACE);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let read = all.of(Call, "pread64")[0];
    assert_eq!(values(read, &[CallBytes, OffsetBytes, IsWrite]), [8192.0, 1_048_576.0, 0.0]);
    assert!(near(read.value(CallUs).unwrap(), 512.0));
    assert_eq!(
        (read.interval.basis, read.interval.kind, read.origin.line),
        (Basis::Utc, RowsKind::Request, 3)
    );
    let write = all.of(Call, "pwrite64")[0];
    assert_eq!((write.value(CallBytes), write.value(Failures)), (None, Some(1.0)));
    // Joined: begun on line 4.
    let sync = all.of(Call, "fdatasync")[0];
    assert!(near(sync.value(CallUs).unwrap(), 4000.0) && sync.origin.line == 4);
    assert!(near(sync.interval.at_s, 1_700_000_000.000_6));
    let submit = all.of(Call, "io_submit")[0];
    assert_eq!(values(submit, &[Ios, CallBytes, OffsetBytes, IsWrite]), [2.0, 139_264.0, 65_536.0, 0.0]);
    assert_eq!(all.of(Call, "io_getevents")[0].value(Ios), Some(1.0));
    assert_eq!(all.of(Call, "mmap(PROT_NONE)")[0].value(CallBytes), Some(2_097_152.0));
    assert_eq!(values(all.of(Call, "mmap")[0], &[CallBytes, PageBytes]), [4_194_304.0, 2_097_152.0]);
    assert_eq!(all.of(Call, "madvise(MADV_HUGEPAGE)")[0].value(CallBytes), Some(65_536.0));
    let futex = all.of(Call, "futex")[0];
    assert_eq!((futex.value(Calls), futex.interval.kind), (Some(2.0), RowsKind::Period));
    assert!(near(futex.value(CallUs).unwrap(), 200.0));
    let flags = all.fact("/u01/oradata/system01.dbf", "open_flags").unwrap();
    assert_eq!(flags.text(), "O_RDWR|O_DIRECT|O_DSYNC");
    assert!(all.places.iter().any(|p| p.kind == DatabaseFile));
    assert_eq!(all.hosts[0].platform, Platform::Linux);
}

#[test]
fn times_of_strace() {
    for (text, at_s, basis) in [
        (
            "4711 12:00:01.500000 read(3, \"\"..., 10) = 10 <0.1>\n[pid 1] close(3) = 0\n",
            43_201.5,
            Basis::TimeOfDay,
        ),
        (
            "     0.250000 openat(AT_FDCWD, \"/x\", O_RDONLY) = 3\n     0.500000 read(3, \"\", 10) = 0\n",
            0.75,
            Basis::SinceStart,
        ),
    ] {
        let all = read_as("strace", text);
        let row = all.of(Call, "read")[0];
        assert_eq!((row.interval.at_s, row.interval.basis), (at_s, basis), "{text}");
    }
}

const TRUSS: &str = "\
2213/1:\t3.1006\tmmap(0x00000000, 6815744, PROT_NONE, MAP_PRIVATE|MAP_NORESERVE, 8, 0) = 0xFFFFFFFF6A100000
2213/1:\t3.1007\tmunmap(0xFFFFFFFF6A500000, 524288)\t\t= 0
2213/1:\t3.1008\tmmap(0xFFFFFFFF6A100000, 524288, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_FIXED, 8, 0) = 0xFFFFFFFF6A100000
2213/1:\t3.1009\tmemcntl(0xFFFFFFFF6A100000, 524288, MC_HAT_ADVISE, 0xFFFFFFFF7FFFA120, 0, 0) = 0
2213/1:\t3.2000\tkaio(AIOWRITE, 259, 0x380A00000, 8192, 0x0023F400) = 0
2213/1:\t3.2100\tpread(259, \"06A2\\0\\0 @\".., 16384, 0x00100000)\t= 16384
2213/1:\t3.2200\tlwp_sema_wait(0xFE20A010)\t(sleeping...)
2213/1:\t    Received signal #14, SIGALRM, in lwp_sema_wait() [caught]
2213/1:\t3.2300\twrite(3, \" l o g :\".., 14)\tErr#9 EBADF
2213/1:\t3.2400\t_exit(0)
";

#[test]
fn chunks_and_advice_of_truss() {
    let all = read_as("truss", TRUSS);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(all.hosts[0].platform, Platform::Solaris);
    assert_eq!(all.of(Call, "mmap(PROT_NONE)")[0].value(CallBytes), Some(6_815_744.0));
    let chunk = all.of(Call, "mmap")[0];
    assert_eq!(
        (chunk.value(CallBytes), chunk.interval.at_s, chunk.origin.line),
        (Some(524_288.0), 3.1008, 3)
    );
    let advice = all.of(Call, "memcntl(MC_HAT_ADVISE)")[0];
    assert_eq!((advice.value(CallBytes), advice.value(PageBytes)), (Some(524_288.0), None));
    assert_eq!(
        values(all.of(Call, "kaio(AIOWRITE)")[0], &[CallBytes, OffsetBytes, IsWrite]),
        [8192.0, 2_356_224.0, 1.0]
    );
    assert_eq!(values(all.of(Call, "pread")[0], &[CallBytes, OffsetBytes]), [16_384.0, 1_048_576.0]);
    assert_eq!(all.of(Call, "write")[0].value(Failures), Some(1.0));
    let timed = "4711:\t0.1034:\tkpread(5, \" a\", 4096, 8192)\t= 4096\n";
    assert_eq!(read_as("truss", timed).rows[0].interval.at_s, 0.1034);
    let aix = "kpread(5, \" a b c\", 4096, 8192)\t= 4096\nkfsync(5)\t= 0\n";
    assert_eq!(read_as("truss", aix).hosts[0].platform, Platform::Aix);
    let sized = TRUSS.replace("0xFFFFFFFF7FFFA120,", "{cmd=MHA_MAPSIZE_VA flags=0 pagesize=4194304},");
    assert_eq!(
        read_as("truss", &sized).of(Call, "memcntl(MC_HAT_ADVISE)")[0].value(PageBytes),
        Some(4_194_304.0)
    );
}

#[test]
fn a_page_size_can_be_an_excerpt_of_either() {
    let linux = "mmap2(NULL, 33554432, PROT_NONE, MAP_PRIVATE|MAP_NORESERVE, 7, 0x1200) = 0xa1000000\nmmap2(0xa1000000, 4194304, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_FIXED, 7, 0) = 0xa1000000\n";
    assert_eq!(read_as("strace", linux).of(Call, "mmap2")[0].value(CallBytes), Some(4_194_304.0));
    let either = "read(3, \"x\", 4096) = 4096\nwrite(1, \"x\", 1) = 1\n";
    assert!(read_as("strace", either).remarks[0].1.contains("truss"));
}

#[test]
fn tables_of_counts() {
    let strace = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 75.00    0.030000         300       100           pread64
 25.00    0.010000        1000        10         2 futex
------ ----------- ----------- --------- --------- ----------------
100.00    0.040000         363       110         2 total
";
    let all = read_as("strace", strace);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let row = all.of(Call, "pread64")[0];
    assert_eq!(
        (row.value(Calls), row.value(Failures), row.interval.kind),
        (Some(100.0), Some(0.0), RowsKind::Period)
    );
    assert!(near(row.value(CallUs).unwrap(), 300.0));
    assert_eq!((all.of(Call, "futex")[0].value(Failures), all.rows.len()), (Some(2.0), 2));
    let truss = "\
syscall               seconds   calls  errors
_exit                    .000       1
kaio                     .250     100      1
                     --------  ------   ----
sys totals:              .250     101      1
usr time:                .100
elapsed:                1.000
";
    let all = read_as("truss", truss);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let row = all.of(Call, "kaio")[0];
    assert!(near(row.value(CallUs).unwrap(), 2500.0) && row.value(Failures) == Some(1.0));
}

#[test]
fn a_damaged_call_is_complained_about() {
    let all = read_as("strace", &STRACE.replace(", 8192, 1048576) = 8192 <0.000512>", ", 8192, 1048"));
    assert_eq!((all.complaints.len(), all.complaints[0].1.line), (1, 3));
    assert_eq!(all.of(Call, "pread64").len(), 0);
}

proptest! {
    #[test]
    fn calls_come_back(calls in prop::collection::vec((0u64..1 << 40, 0u32..1 << 20, "[ -~]{0,30}"), 1..30)) {
        let text: String = calls.iter().map(|(offset, bytes, data)| {
            format!("[pid 7] pread64(9, \"{}\"..., {bytes}, {offset}) = {bytes} <0.000100>\n", data.replace(['\\', '"'], "_"))
        }).collect();
        let (all, _) = read_any(text.as_bytes());
        prop_assert_eq!(all.rows.len(), calls.len());
        for (row, (offset, bytes, _)) in all.rows.iter().zip(&calls) {
            prop_assert_eq!(row.value(OffsetBytes), Some(*offset as f64));
            prop_assert_eq!(row.value(CallBytes), Some(f64::from(*bytes)));
        }
    }

    #[test]
    fn no_damage_panics(bytes in prop_oneof![damaged(STRACE), damaged(TRUSS)]) {
        read_any(&bytes);
    }
}
