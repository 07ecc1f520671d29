//! The bounds, against the same systems run event by event with constant service times.

use crate::truth::paths::{Mode, Paths, Selector};
use crate::truth::spread::{Part, Spread};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Runs `n` I/Os over stations with `slots`, each served one tick of 1000, first come first served; `choose` is given what
/// stands at each. Returns the mean number in service.
fn run(n: u32, slots: &[u32], mut choose: impl FnMut(&[u32]) -> usize) -> f64 {
    const SERVICE: u64 = 1000;
    const IOS: u64 = 200_000;
    let mut present = vec![0_u32; slots.len()];
    let mut waiting: Vec<VecDeque<()>> = vec![VecDeque::new(); slots.len()];
    let mut events = BinaryHeap::new();
    // Starts one after another, so that nothing runs in lockstep.
    let mut arrive = |now: u64, present: &mut Vec<u32>, waiting: &mut Vec<VecDeque<()>>| {
        let to = choose(present);
        present[to] += 1;
        if present[to] <= slots[to] {
            Some((now + SERVICE, to))
        } else {
            waiting[to].push_back(());
            None
        }
    };
    for i in 0..n {
        let offset = u64::from(i) * 617 % SERVICE;
        events.extend(arrive(offset, &mut present, &mut waiting).map(Reverse));
    }
    let (mut done, mut now, mut began) = (0, 0, 0);
    while let Some(Reverse((at, from))) = events.pop() {
        now = at;
        done += 1;
        if done == IOS / 10 {
            began = now;
        }
        present[from] -= 1;
        if waiting[from].pop_front().is_some() {
            events.push(Reverse((now + SERVICE, from)));
        }
        events.extend(arrive(now, &mut present, &mut waiting).map(Reverse));
        if done == IOS {
            break;
        }
    }
    (done - IOS / 10) as f64 * SERVICE as f64 / (now - began) as f64
}

#[test]
fn random_placement_lies_between_product_form_and_asymptote() {
    let mut seed = 7_u64;
    for (shares, slots) in
        [([0.5, 0.5], [16, 16]), ([0.8, 0.2], [8, 8]), ([0.7, 0.3], [4, 16]), ([0.5, 0.5], [4, 16])]
    {
        let parts = shares.iter().zip(slots).map(|(share, slots)| Part { share: *share, slots }).collect();
        let model = Spread { service_us: 1e6, parts };
        for n in [1, 4, 8, 16, 32, 64, 128] {
            let busy = run(n, &slots, |_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                usize::from((seed >> 11) as f64 / (1_u64 << 53) as f64 >= shares[0])
            });
            let range = model.at(n).iops;
            assert!(range.distance(busy) < 0.02 * busy, "{shares:?} {slots:?} N {n}: {busy} in {range:?}");
        }
    }
}

#[test]
fn selectors_that_choose_for_good_do_as_the_closed_form_says() {
    for depths in [[4, 16], [16, 16], [2, 8], [1, 3]] {
        for selector in [Selector::RoundRobin, Selector::Shortest] {
            let paths =
                Paths { service_us: 1e6, depths: depths.to_vec(), gate: u32::MAX, selector, mode: Mode::Bio };
            for n in [1, 2, 4, 6, 8, 12, 16, 20, 24, 32, 33, 64, 100] {
                let mut turn = 0;
                let busy = run(n, &depths, |present| {
                    turn += 1;
                    match selector {
                        Selector::RoundRobin => turn % 2,
                        Selector::Shortest => usize::from(present[1] < present[0]),
                    }
                });
                let range = paths.at(n).iops;
                assert!(
                    range.distance(busy) < 0.02 * busy,
                    "{depths:?} {selector:?} N {n}: {busy} in {range:?}"
                );
            }
        }
    }
}
