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
rpool       7.50G  50.0G      0      0    600    200
tank        20.0G  40.0G      5      3   300K  90.0K
----------  -----  -----  -----  -----  -----  -----
Wed Dec  1 00:00:00 EST 2021
rpool       7.50G  50.0G      0      0    600    200
tank        20.0G  40.0G      5      3   300K  90.0K
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
    let text = "# zpool iostat -Hpy 10\nrpool\t7000000000\t60000000000\t0\t0\t600\t200\ntank\t20000000000\t40000000000\t4\t1\t300000\t90000\n";
    let all = read_as("zpool-iostat", text);
    let tank = all.of(Pool, "tank")[0];
    assert_eq!(values(tank, &[UsedBytes, ReadIops, ReadBytesPerS]), [20_000_000_000.0, 4.0, 300_000.0]);
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

#[test]
fn histograms_of_times_and_sizes() {
    use record::IoClass;
    let text = "\
# zpool iostat -w
tank         total_wait     disk_wait    syncq_wait    asyncq_wait
latency      read  write   read  write   read  write   read  write  scrub   trim
----------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
1ns             0      0      0      0      0      0      0      0      0      0
131us           3      1     10      1      0      0      0      0      0      0
1ms         1.50K      2      0      0      0      0      0      0      0      0
----------------------------------------------------------------------------------
sda           sync_read    sync_write    async_read    async_write      scrub
req_size      ind    agg    ind    agg    ind    agg    ind    agg    ind    agg
----------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
4K              5      0      7      1      2      0      0      3      0      0
128K            0      1      0      0      0      4      0      0      0      0
----------------------------------------------------------------------------------
";
    let all = read_as("zpool-iostat-histogram", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let of = |quantity, class| {
        let found = all.distributions.iter().find(|d| d.quantity == quantity && d.class == Some(class));
        found.map(|d| (all.places[d.place as usize].name.as_str(), d.buckets.clone())).unwrap()
    };
    assert_eq!(
        of(ReadResponseUs, IoClass::Read),
        ("tank", vec![(0.001, 0.0), (131.0, 3.0), (1000.0, 1536.0)])
    );
    assert_eq!(of(WriteServiceUs, IoClass::Write).1[1], (131.0, 1.0));
    assert_eq!(of(RequestBytes, IoClass::Read), ("sda", vec![(8191.0, 7.0), (262_143.0, 5.0)]));
    assert_eq!(of(RequestBytes, IoClass::Write).1[0], (8191.0, 11.0));
}
