//! smaps and pmap.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::Process;
use record::imported::Quantity::*;
use record::imported::{Platform, RowsKind};
use support::{damaged, read_any, read_as, values};

const SMAPS: &str = "\
60000000-160000000 rw-s 00000000 00:0f 65538                             /SYSV00000000 (deleted)
Size:            4194304 kB
KernelPageSize:     2048 kB
MMUPageSize:        2048 kB
Rss:                   0 kB
Pss:                   0 kB
Shared_Hugetlb:  4000000 kB
Private_Hugetlb:       0 kB
Swap:                  0 kB
VmFlags: rd wr sh mr mw me ms de ht sd
7f0000000000-7f0000400000 rw-p 00000000 00:00 0 
Size:               4096 kB
KernelPageSize:        4 kB
Rss:                4096 kB
AnonHugePages:      2048 kB
ShmemPmdMapped:        0 kB
NewThing:              8 kB
THPeligible:    1
VmFlags: rd wr mr mw me ac
";

#[test]
fn pages_of_smaps() {
    let all = read_as("linux-smaps", SMAPS);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let sga = all.of(Process, "/SYSV00000000 (deleted)")[0];
    let wanted = [MappedBytes, ResidentBytes, PageBytes];
    assert_eq!(values(sga, &wanted), [4_294_967_296.0, 4_096_000_000.0, 2_097_152.0]);
    assert_eq!((sga.interval.kind, sga.origin.line), (RowsKind::Instant, 1));
    let anon = all.of(Process, "[anon]")[0];
    assert_eq!(values(anon, &[ResidentBytes, PageBytes, HugeBytes]), [4_194_304.0, 4096.0, 2_097_152.0]);
    assert!(all.remarks[0].1.contains("NewThing"));
    let all = read_as("linux-smaps", &SMAPS.replace("4194304 kB", "41943x4 kB"));
    assert_eq!((all.complaints.len(), all.complaints[0].1.line), (1, 2));
    assert_eq!(all.rows.len(), 2);
}

#[test]
fn sizes_of_maps_follow_from_addresses() {
    let all = read_as(
        "linux-smaps",
        "7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \n7f0000400000-7f0000401000 r-xp 00000000 fe:01 12 /usr/lib/a b.so\n",
    );
    assert_eq!(all.of(Process, "[anon]")[0].value(MappedBytes), Some(4_194_304.0));
    assert_eq!(all.of(Process, "/usr/lib/a b.so")[0].value(MappedBytes), Some(4096.0));
}

const SOLARIS: &str = "\
19277:\toracleDB1 (LOCAL=NO)
         Address     Kbytes        RSS       Anon     Locked Pgsz Mode   Mapped File
0000000100000000     106496      98304          -          -   4M r-x--  oracle
0000000380000000    4194304    4194304          -    4194304   4M rwxsR    [ ism shmid=0x5 ]
FFFFFFFF79780000       4096       4096       4096          -   8K rw---  dev:86,2 ino:1
FFFFFFFF7B000000         64          -          -          -    - rw---    [ anon ]
FFFFFFFF7C000000        512        512        512          - 512K rw---    [ anon ]
---------------- ---------- ---------- ---------- ----------
        total Kb    4305472    4297216       4608    4194304
";

#[test]
fn page_sizes_of_solaris() {
    let all = read_as("pmap", SOLARIS);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!((all.hosts[0].platform, all.rows.len()), (Platform::Solaris, 5));
    let wanted = [MappedBytes, ResidentBytes, PageBytes];
    let ism = all.of(Process, "19277: oracleDB1 (LOCAL=NO) [ ism shmid=0x5 ]")[0];
    assert_eq!(values(ism, &wanted), [4_294_967_296.0, 4_294_967_296.0, 4_194_304.0]);
    let anon = all.of(Process, "19277: oracleDB1 (LOCAL=NO) [ anon ]");
    assert_eq!((anon[0].value(PageBytes), anon[0].value(ResidentBytes)), (None, Some(0.0)));
    assert_eq!(values(anon[1], &wanted), [524_288.0, 524_288.0, 524_288.0]);
    assert_eq!(all.rows[2].value(PageBytes), Some(8192.0));
    // The rows alone, as they are pasted.
    let rows: Vec<&str> = SOLARIS.lines().skip(2).take(5).collect();
    let all = read_as("pmap", &rows.join("\n"));
    assert_eq!(all.of(Process, "[ anon ]")[1].value(PageBytes), Some(524_288.0));
    assert!(all.remarks[0].1.contains("Pgsz"));
}

#[test]
fn options_of_linux() {
    let plain = "812:   /usr/bin/postgres -D /data\n000055f6f8939000    188K r-x-- postgres\n00007f0000000000   4096K rw-s- zero (deleted)\n total             4284K\n";
    let all = read_as("pmap", plain);
    assert_eq!(
        all.of(Process, "812: /usr/bin/postgres -D /data zero (deleted)")[0].value(MappedBytes),
        Some(4_194_304.0)
    );
    let extended = "812:   postgres\nAddress           Kbytes     RSS   Dirty Mode  Mapping\n000055f6f8939000     188     100       0 r-x-- postgres\n---------------- ------- ------- ------- \ntotal kB             188     100       0\n";
    let all = read_as("pmap", extended);
    assert_eq!(values(&all.rows[0], &[MappedBytes, ResidentBytes]), [192_512.0, 102_400.0]);
    let all_columns = "812:   postgres\n         Address Perm   Offset Device  Inode Size KernelPageSize MMUPageSize  Rss AnonHugePages Private_Hugetlb Swap THPeligible          VmFlags Mapping\n    55f6f8939000 r--p 00000000  fe:00 246999 4096              4           4 4000          2048               0    8           0 rd mr mw me ac post gres\n                                             ==== ============== =========== ==== \n                                             4096              4           4 4000  2048 0 8 0 KB \n";
    let all = read_as("pmap", all_columns);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let row = all.of(Process, "812: postgres post gres")[0];
    let wanted = [MappedBytes, ResidentBytes, PageBytes, HugeBytes, SwapUsedBytes];
    assert_eq!(values(row, &wanted), [4_194_304.0, 4_096_000.0, 4096.0, 2_097_152.0, 8192.0]);
    let all = read_as("pmap", &extended.replace("     188     100", "     1x8     100"));
    assert_eq!((all.complaints.len(), all.complaints[0].1.line), (1, 3));
}

proptest! {
    #[test]
    fn sizes_come_back(sizes in prop::collection::vec((0u32..1 << 24, 0u32..1 << 24), 1..30)) {
        let mut text = String::from("7: x\nAddress Kbytes RSS Dirty Mode Mapping\n");
        for (n, (size, rss)) in sizes.iter().enumerate() {
            text += &format!("{n:016x} {size:7} {rss:7}       0 rw-p- [ anon ]\n");
        }
        let (all, _) = read_any(text.as_bytes());
        prop_assert_eq!(all.rows.len(), sizes.len());
        for (row, (size, rss)) in all.rows.iter().zip(&sizes) {
            prop_assert_eq!(row.value(MappedBytes), Some(f64::from(*size) * 1024.0));
            prop_assert_eq!(row.value(ResidentBytes), Some(f64::from(*rss) * 1024.0));
        }
    }

    #[test]
    fn no_damage_panics(bytes in prop_oneof![damaged(SMAPS), damaged(SOLARIS)]) {
        read_any(&bytes);
    }
}
