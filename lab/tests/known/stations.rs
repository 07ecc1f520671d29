//! Closed forms over all small cases.

use crate::truth::Model;
use crate::truth::paths::{Mode, Paths, Selector};
use crate::truth::range::{Range, Row};
use crate::truth::rate::{Cap, Waits, group_caps, null_blk_iops};
use crate::truth::scsi::fair_share;
use crate::truth::spread::{Part, Spread};
use crate::truth::station::Station;

const MS: f64 = 1000.0;

fn station(sent: u32, slots: u32, others: u32, cap: Option<Cap>) -> Model {
    Model::Station(Station { service_us: MS, sent, slots, others, cap })
}

fn near(range: Range, value: f64) -> bool {
    range.low == range.high && (range.low - value).abs() < 1e-6 * value.abs().max(1.0)
}

#[test]
fn a_lun_of_depth_four() {
    let model = station(4, u32::MAX, 0, None);
    for (n, iops, response_us, host, device) in [
        (1, 1e3, 1e3, 0.0, 1.0),
        (4, 4e3, 1e3, 0.0, 4.0),
        (5, 4e3, 1250.0, 1.0, 4.0),
        (32, 4e3, 8e3, 28.0, 4.0),
    ] {
        let row = model.at(n);
        assert!(near(row.iops, iops) && near(row.response_us, response_us), "{row:?}");
        assert!(near(row.host_queue, host) && near(row.device_queue, device), "{row:?}");
    }
    assert_eq!(model.knee(), Some(4.0));
}

#[test]
fn slots_of_the_target_are_shared_by_what_stands_there() {
    // 4 of this host and 16 of another at 16 slots of 1 ms: a fifth of 16000 is ours, and 28 of our 32 wait here.
    let row = station(4, 16, 16, None).at(32);
    assert!(near(row.iops, 3200.0) && near(row.response_us, 10_000.0), "{row:?}");
    assert!(near(row.host_queue, 28.0) && near(row.device_queue, 4.0), "{row:?}");
    // Four equal hosts get a quarter each.
    assert!(near(station(16, 16, 48, None).at(32).iops, 4000.0));
    // Beside others that leave room nothing is lost.
    assert!(near(station(4, 16, 12, None).at(32).iops, 4000.0));
}

#[test]
fn a_cap_holds_the_rest_where_it_stands() {
    let above = station(64, u32::MAX, 0, Some(Cap { iops: 2000.0, waits: Waits::Above }));
    let row = above.at(16);
    assert!(near(row.iops, 2000.0) && near(row.response_us, 8000.0), "{row:?}");
    assert!(near(row.above, 14.0) && near(row.device_queue, 2.0) && near(row.host_queue, 0.0), "{row:?}");
    assert!(near(above.at(1).iops, 1000.0), "one at a time does not reach the cap");
    assert_eq!(above.knee(), Some(2.0));
    let host = station(64, u32::MAX, 0, Some(Cap { iops: 2000.0, waits: Waits::HostQueue }));
    assert!(near(host.at(16).host_queue, 14.0) && near(host.at(16).above, 0.0));
    // A cap above what the slots can do is none.
    assert!(near(station(4, u32::MAX, 0, Some(Cap { iops: 9e3, waits: Waits::Above })).at(64).iops, 4000.0));
}

#[test]
fn tags_are_shared_in_equal_parts_of_at_least_four() {
    assert_eq!([1, 2, 3, 4, 5].map(|users| fair_share(16, users)), [16, 8, 6, 4, 4]);
    assert_eq!(fair_share(3, 2), 3, "never more than there are");
}

#[test]
fn caps_as_they_are_written() {
    assert_eq!(group_caps("wiops=5 riops=2000", 4096), Some((2000.0, 2000)));
    assert_eq!(group_caps("riops=3000 rbps=8388608", 4096), Some((2048.0, 8_388_608)), "the lower binds");
    assert_eq!(group_caps("rbps=max wbps=1", 4096), None);
    let device = crate::rig::NullBlk { mb_per_s: 20, ..crate::rig::NullBlk::default() };
    // 20971 bytes x 20 are 102 whole blocks of 4 KiB, or 6 of 64 KiB, fifty times a second.
    assert_eq!(null_blk_iops(&device, 4096), Some(5100.0));
    assert_eq!(null_blk_iops(&device, 65536), Some(300.0));
    assert_eq!(null_blk_iops(&crate::rig::NullBlk::default(), 4096), None);
}

#[test]
fn a_hot_part_binds_the_whole() {
    let model =
        Spread { service_us: MS, parts: vec![Part { share: 0.8, slots: 8 }, Part { share: 0.2, slots: 8 }] };
    assert_eq!(model.hottest(), Some(0));
    assert!((model.full_at() - 10.0).abs() < 1e-9);
    let row = model.at(200);
    assert!((row.iops.high - 10_000.0).abs() < 1e-6 && row.iops.low > 9_990.0, "{row:?}");
    assert!(near(model.at(1).iops, 1000.0));
    let equal = Spread { service_us: MS, parts: vec![Part { share: 0.5, slots: 8 }; 2] };
    assert_eq!(equal.hottest(), None);
    // Two single servers, two customers, exponential: X = 2/3 of both, by hand from G(1) / G(2).
    let singles = Spread { service_us: MS, parts: vec![Part { share: 0.5, slots: 1 }; 2] };
    assert!((singles.at(2).iops.low - 4000.0 / 3.0).abs() < 1e-6, "{:?}", singles.at(2));
}

#[test]
fn what_a_selector_does_with_a_shallow_path() {
    let paths =
        |selector, mode| Paths { service_us: MS, depths: vec![4, 16], gate: u32::MAX, selector, mode };
    assert!(near(paths(Selector::RoundRobin, Mode::Bio).at(64).iops, 8000.0));
    assert!(near(paths(Selector::Shortest, Mode::Bio).at(64).iops, 20_000.0));
    assert!((paths(Selector::Shortest, Mode::Bio).at(16).iops.high - 12_000.0).abs() < 1e-6);
    let bounded = paths(Selector::Shortest, Mode::Request).at(64).iops;
    assert!(bounded.high == 20_000.0 && bounded.low < 8_000.0);
    let wasted = [
        (Selector::RoundRobin, Mode::Bio, true),
        (Selector::Shortest, Mode::Bio, false),
        (Selector::RoundRobin, Mode::Request, false),
        (Selector::Shortest, Mode::Request, true),
    ];
    for (selector, mode, wastes) in wasted {
        assert_eq!(paths(selector, mode).wastes(), wastes, "{selector:?} {mode:?}");
        assert!(near(paths(selector, mode).at(6).iops, 6000.0), "six find room on any two paths");
    }
}

/// Every model, every N up to 300.
fn all_models() -> Vec<(Model, f64)> {
    let mut models = Vec::new();
    for sent in [1, 2, 3, 4, 8, 16, 17, 64] {
        for (slots, others) in [(u32::MAX, 0), (16, 0), (16, 3), (16, 16), (1, 40)] {
            for cap in [None, Some(Waits::Above), Some(Waits::HostQueue)] {
                let cap = cap.filter(|_| others == 0).map(|waits| Cap { iops: 2500.0, waits });
                models.push((station(sent, slots, others, cap), f64::from(sent.min(slots))));
            }
        }
        for share in [0.5, 0.8] {
            let parts = vec![Part { share, slots: sent }, Part { share: 1.0 - share, slots: 8 }];
            models.push((Model::Spread(Spread { service_us: MS, parts }), f64::from(sent) + 8.0));
        }
        for selector in [Selector::RoundRobin, Selector::Shortest] {
            for mode in [Mode::Bio, Mode::Request] {
                for (other, gate) in [(sent, u32::MAX), (16, u32::MAX), (16, 5)] {
                    let paths = Paths { service_us: MS, depths: vec![sent, other], gate, selector, mode };
                    models.push((Model::Paths(paths), f64::from(sent + other)));
                }
            }
        }
    }
    models
}

#[test]
fn the_queues_add_up_and_no_more_is_served_than_there_are_slots() {
    for (model, slots) in all_models() {
        let mut before: Option<Row> = None;
        for n in 1..=300 {
            let row = model.at(n);
            let outstanding = f64::from(n);
            let least = row.above.low + row.host_queue.low + row.device_queue.high;
            let most = row.above.high + row.host_queue.high + row.device_queue.low;
            assert!(
                (least - outstanding).abs() < 1e-6 && (most - outstanding).abs() < 1e-6,
                "{model:?} {row:?}"
            );
            assert!(row.iops.low <= row.iops.high && row.iops.low > 0.0, "{model:?} {row:?}");
            assert!(row.iops.high <= slots / MS * 1e6 + 1e-6, "{model:?} {row:?}");
            assert!(row.response_us.low >= MS - 1e-6, "{model:?} {row:?}");
            let little = row.iops.high * row.response_us.low / 1e6;
            assert!((little - outstanding).abs() < 1e-6 * outstanding, "{model:?} {row:?}");
            for queue in [row.above, row.host_queue, row.device_queue] {
                assert!(queue.low >= -1e-9 && queue.high <= outstanding + 1e-9, "{model:?} {row:?}");
            }
            if let Some(before) = before {
                assert!(row.iops.high >= before.iops.high - 1e-6, "{model:?} {before:?} {row:?}");
            }
            before = Some(row);
        }
        // Full where it says so: twice the load brings little more than that.
        if let Some(knee) = model.knee().filter(|k| *k >= 1.0) {
            let at = model.at(knee.ceil() as u32).iops.high;
            assert!((model.at(300).iops.high / at - 1.0).abs() < 1e-6, "{model:?}");
        }
    }
}
