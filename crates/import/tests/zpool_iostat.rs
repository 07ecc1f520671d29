//! zpool iostat.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Device, Pool};
use record::imported::Quantity::*;
use record::imported::{RowsKind, facts};
use support::{damaged, near, read_any, read_as, values};

const TEXT: &str = "\
# zpool iostat -vlq tank 5
                capacity     operations     bandwidth    total_wait     disk_wait    syncq_wait    asyncq_wait  scrub   trim   syncq_read    syncq_write
pool          alloc   free   read  write   read  write   read  write   read  write   read  write   read  write   wait   wait   pend  activ   pend  activ
------------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
tank          1.00T  3.00T    120  1.50K  1.50M  64.0M    9ms   40ms    8ms    2ms  131us    1ms    5us   38ms      -      -      0      2      4     10
  mirror-0    1.00T  3.00T    120  1.50K  1.50M  64.0M    9ms   40ms    8ms    2ms  131us    1ms    5us   38ms      -      -      0      2      4     10
    sda           -      -     60    768   768K  32.0M    9ms   40ms    8ms    2ms  131us    1ms    5us   38ms      -      -      0      1      2      5
    sdb           -      -     60    768   768K  32.0M    9ms     1s    8ms    2ms  131us    1ms    5us   38ms      -      -      0      1      2      5
logs              -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      -
  nvme0n1     1.00G  7.00G      0    100      0  4.00M      -   90us      -   80us      -    1us      -      -      -      -      0      0      0      1
------------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
tank          1.00T  3.00T      0      0      0      0      -      -      -      -      -      -      -      -      -      -      0      0      0      0
";

#[test]
fn pools_groups_and_disks_with_waits_and_queues() {
    let all = read_as("zpool-iostat", TEXT);
    assert!(all.complaints.is_empty() && all.remarks.is_empty(), "{:?} {:?}", all.complaints, all.remarks);
    let pool = all.of(Pool, "tank");
    assert_eq!((pool[0].interval.kind, pool[1].interval.kind), (RowsKind::SinceBoot, RowsKind::Interval));
    assert_eq!((pool[1].interval.length_s, pool[0].origin.line), (5.0, 5));
    let tib = 1_099_511_627_776.0;
    assert_eq!(values(pool[0], &[UsedBytes, CapacityBytes]), [tib, 4.0 * tib]);
    assert_eq!(values(pool[0], &[ReadIops, WriteIops, WriteBytesPerS]), [120.0, 1536.0, 67_108_864.0]);
    assert_eq!(
        values(pool[0], &[ReadResponseUs, WriteResponseUs, ReadServiceUs]),
        [9000.0, 40_000.0, 8000.0]
    );
    assert_eq!(values(pool[0], &[WriteServiceUs, OutstandingInstant]), [2000.0, 16.0]);
    let sdb = all.of(Device, "sdb")[0];
    assert_eq!((sdb.value(UsedBytes), sdb.value(WriteResponseUs)), (None, Some(1_000_000.0)));
    let part_of = |name: &str| all.fact(name, facts::PART_OF).map(|v| v.text());
    assert_eq!(part_of("sda").as_deref(), Some("tank/mirror-0"));
    assert_eq!(part_of("tank/mirror-0").as_deref(), Some("tank"));
    assert_eq!(part_of("nvme0n1").as_deref(), Some("tank"));
    assert_eq!(all.of(Device, "nvme0n1")[0].value(ReadResponseUs), None);
}

#[test]
fn several_pools_dates_and_old_names_of_columns() {
    let text = "\
Tue Nov 30 23:59:55 EST 2021
               capacity     operations    bandwidth
pool         used  avail   read  write   read  write
----------  -----  -----  -----  -----  -----  -----
rpool       6.05G  61.9G      0      0    786    107
tank        31.3G  36.7G      4      1   296K  86.1K
----------  -----  -----  -----  -----  -----  -----
Wed Dec  1 00:00:00 EST 2021
rpool       6.05G  61.9G      0      0    786    107
tank        31.3G  36.7G      4      1   296K  86.1K
----------  -----  -----  -----  -----  -----  -----
";
    let all = read_as("zpool-iostat", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let tank = all.of(Pool, "tank");
    assert_eq!((tank.len(), tank[1].interval.length_s, tank[1].interval.kind), (2, 5.0, RowsKind::Interval));
    assert_eq!(tank[0].interval.kind, RowsKind::SinceBoot);
    assert_eq!(all.of(Pool, "rpool")[1].interval.at_s, tank[1].interval.at_s);
}

#[test]
fn exact_numbers_between_tabs() {
    let text = "# zpool iostat -Hpy 10\nrpool\t6496768000\t66464972800\t0\t0\t786\t107\ntank\t33608220672\t39406325760\t4\t1\t303104\t88166\n";
    let all = read_as("zpool-iostat", text);
    let tank = all.of(Pool, "tank")[0];
    assert_eq!(values(tank, &[UsedBytes, ReadIops, ReadBytesPerS]), [33_608_220_672.0, 4.0, 303_104.0]);
    assert_eq!((tank.interval.kind, tank.interval.length_s), (RowsKind::Interval, 10.0));
}

#[test]
fn a_damaged_row_is_complained_about() {
    let all = read_as(
        "zpool-iostat",
        &TEXT.replace("60    768   768K  32.0M    9ms     1s", "60    768   768K  3x.0M    9ms     1s"),
    );
    assert_eq!((all.complaints.len(), all.complaints[0].1.line), (1, 8));
    assert_eq!(all.of(Pool, "tank").len(), 2);
}

proptest! {
    #[test]
    fn rows_come_back_as_they_were_printed(
        pools in prop::collection::btree_map("t[a-z0-9]{1,12}", (0u64..1 << 50, 0..1_000_000u32), 1..20)
    ) {
        let mut text = String::from("capacity operations bandwidth\npool alloc free read write read write\n");
        for (name, (bytes, n)) in &pools {
            text += &format!("{name}  {bytes}  {bytes}  {n}  {n}  {n}  {n}\n");
        }
        let (all, _) = read_any(text.as_bytes());
        prop_assert!(all.complaints.is_empty());
        prop_assert_eq!(all.rows.len(), pools.len());
        for (row, (name, (bytes, n))) in all.rows.iter().zip(&pools) {
            prop_assert_eq!(&all.places[row.place as usize].name, name);
            prop_assert!(near(row.value(CapacityBytes).unwrap(), 2.0 * *bytes as f64));
            prop_assert_eq!(row.value(WriteIops), Some(f64::from(*n)));
        }
    }

    #[test]
    fn no_damage_panics(bytes in damaged(TEXT)) {
        read_any(&bytes);
    }
}
