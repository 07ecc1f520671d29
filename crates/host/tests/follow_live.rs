//! The follower on a real loop device, where root is at hand. Tolerances are wide and no time is absolute: the
//! machine may be busy with something else.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::live::{BLOCK, LoopDevice, Readers};
use host::Root;
use host::path::{Target, trace};
use host::sample::PathFollower;
use record::{DoubtId, Follow, Followed, LayerKind, Window};
use std::time::{Duration, Instant};

const BYTES: usize = 32 << 20;

/// One window of `readers` closed-loop readers.
fn followed(device: &LoopDevice, readers: usize) -> (Followed, Window, f64) {
    let root = Root::system();
    let path = trace(&root, &Target::at(&device.device).unwrap());
    let mut follower = PathFollower::new(&root, &path, &[]).unwrap();
    let load = Readers::start(&device.device, BYTES, readers);
    std::thread::sleep(Duration::from_millis(300));
    let (ios, began) = (load.ios(), Instant::now());
    follower.begin();
    std::thread::sleep(Duration::from_millis(800));
    let ios = load.ios() - ios;
    let window = Window {
        length_s: began.elapsed().as_secs_f64(),
        ios,
        bytes: ios * BLOCK as u64,
        outstanding_mean: readers as f64,
    };
    let followed = follower.end(&window);
    drop(load);
    (followed, window, follower.cost().core_share().unwrap())
}

fn show(what: &str, followed: &Followed, cost: f64) {
    for l in &followed.layers {
        eprintln!(
            "{what} {}: X {:.0}/s inside {:.2} [{:.2} {:.2}] host {:?} [{:.2} {:.2}] device {:?} [{:.2} {:.2}] peak {:?} limit {:?} little {:?} R {:?}",
            l.name,
            l.requests_per_s,
            l.inside.mean.unwrap(),
            l.inside.low,
            l.inside.high,
            l.host_queue.mean,
            l.host_queue.low,
            l.host_queue.high,
            l.device_queue.mean,
            l.device_queue.low,
            l.device_queue.high,
            l.device_queue_peak,
            l.device_queue_limit,
            l.little_error,
            l.response_us
        );
    }
    eprintln!("{what}: sampler {:.2} % of a core; {:?}; {:?}", 100.0 * cost, followed.host, followed.doubts);
}

#[test]
fn a_loop_device_is_followed_to_the_device_of_its_file() {
    let Some(device) = LoopDevice::new(1 << 20) else { return };
    let root = Root::system();
    let path = trace(&root, &Target::at(&device.device).unwrap());
    let below_file = trace(&root, &Target::at(&device.file).unwrap());
    let names = |path: &record::IoPath| path.layers.iter().map(|l| l.name.clone()).collect::<Vec<_>>();
    assert_eq!(path.layers[0].kind, LayerKind::Loop);
    assert_eq!(path.layers[0].name, device.name);
    assert_eq!(path.layers[0].label.as_deref(), device.file.to_str());
    assert_eq!(names(&path)[1..], names(&below_file)[..], "{path:#?}");
    assert_eq!(path.complaints, [] as [&str; 0]);
}

#[test]
fn what_is_inside_is_what_the_readers_keep_outstanding_under_each_scheduler() {
    let Some(device) = LoopDevice::new(BYTES) else { return };
    for scheduler in ["none", "mq-deadline", "kyber", "bfq"] {
        if !device.set("scheduler", scheduler) {
            eprintln!("skipped: this kernel has no scheduler {scheduler}");
            continue;
        }
        let (followed, window, cost) = followed(&device, 8);
        show(scheduler, &followed, cost);
        let layer = followed.layers.iter().find(|l| l.name == device.name).unwrap();
        let inside = layer.inside.mean.unwrap();
        assert!((1.0..=8.8).contains(&inside), "{scheduler}: {inside} inside of 8");
        let parts = layer.host_queue.low + layer.device_queue.low;
        assert!(parts <= inside * 1.25 + 0.5, "{scheduler}: the parts are more than the whole: {layer:?}");
        let per_s = window.ios as f64 / window.length_s;
        assert!((layer.requests_per_s / per_s - 1.0).abs() < 0.2, "{scheduler}: {layer:?}, {per_s} read");
        assert_eq!(layer.device_queue_limit, Some(128.0), "{scheduler}");
    }
}

#[test]
fn readers_beyond_nr_requests_are_said_to_wait_where_no_counter_looks() {
    let Some(device) = LoopDevice::new(BYTES) else { return };
    assert!(device.set("scheduler", "none"));
    if !device.set("nr_requests", "4") {
        eprintln!("skipped: nr_requests cannot be lowered here");
        return;
    }
    let (followed, _, cost) = followed(&device, 24);
    show("nr_requests 4", &followed, cost);
    let layer = followed.layers.iter().find(|l| l.name == device.name).unwrap();
    assert!(layer.inside.mean.unwrap() < 4.6, "{layer:?}");
    assert_eq!(layer.device_queue_limit, Some(4.0));
    assert_eq!(layer.host_queue.mean, None, "{layer:?}");
    assert!(layer.host_queue.high > 15.0, "{layer:?}");
    assert!(followed.doubts.iter().any(|d| d.id == DoubtId::SplitUnknown), "{:?}", followed.doubts);
}

#[test]
fn a_device_without_accounting_gives_no_numbers() {
    let Some(device) = LoopDevice::new(BYTES) else { return };
    assert!(device.set("iostats", "0"));
    let (followed, _, _) = followed(&device, 2);
    assert!(followed.layers.iter().all(|l| l.name != device.name));
    let off = followed.doubts.iter().find(|d| d.id == DoubtId::CountersOff).unwrap();
    assert!(off.text.contains(&device.name) && off.text.contains("iostats"), "{off:?}");
}

#[test]
fn what_the_driver_has_no_tag_for_stands_in_the_host_queue() {
    let Some(device) = LoopDevice::new(BYTES) else { return };
    if !device.set("scheduler", "mq-deadline") {
        eprintln!("skipped: this kernel has no scheduler mq-deadline");
        return;
    }
    let (followed, _, cost) = followed(&device, 200);
    show("200 readers", &followed, cost);
    let layer = followed.layers.iter().find(|l| l.name == device.name).unwrap();
    let inside = layer.inside.mean.unwrap();
    // On a busy machine the readers themselves wait for a core; only what got past the 128 tags is asked for.
    if inside < 150.0 {
        eprintln!("skipped: only {inside:.0} of 200 I/Os were inside, this machine is too slow or too busy");
        return;
    }
    assert!(layer.device_queue.mean.unwrap() <= 129.0, "{layer:?}");
    assert!(layer.host_queue.mean.unwrap() >= inside - 135.0, "{layer:?}");
    assert!(layer.host_wait_us.unwrap() > 0.0);
}

#[test]
fn following_costs_about_one_percent_of_a_core_at_most() {
    let root = Root::system();
    let target = Target::at("/var/tmp").unwrap();
    let path = trace(&root, &target);
    let mut follower = PathFollower::new(&root, &path, &[]).unwrap();
    let nothing = Window { length_s: 1.0, ios: 0, bytes: 0, outstanding_mean: 0.0 };
    follower.begin();
    std::thread::sleep(Duration::from_secs(1));
    follower.end(&nothing);
    let cost = follower.cost();
    eprintln!(
        "{} layers, {cost:?}: {:.3} % of a core",
        path.layers.len(),
        100.0 * cost.core_share().unwrap()
    );
    // It paces itself to 0.8 %; cold caches of a busy machine come on top.
    assert!(cost.core_share().unwrap() < 0.015, "{cost:?}");
    assert!(cost.rounds >= 10, "{cost:?}");
}

/// A control group of our own, removed when dropped.
struct Group(std::path::PathBuf);

impl Drop for Group {
    fn drop(&mut self) {
        if let Err(e) = std::fs::remove_dir(&self.0) {
            eprintln!("{}: could not be removed: {e}", self.0.display());
        }
    }
}

/// Set for the second process of the test below: the device whose path it traces.
const CAPPED_DEVICE: &str = "PLIMSOLL_TEST_CAPPED_DEVICE";

#[test]
fn a_cap_of_a_real_control_group_stands_above_its_device() {
    if let Some(device) = std::env::var_os(CAPPED_DEVICE) {
        let path = trace(&Root::system(), &Target::at(device).unwrap());
        let cap = path.layers.iter().find(|l| l.kind == LayerKind::Cgroup).unwrap();
        assert_eq!(cap.limit(record::LimitKind::ReadIops).unwrap().value, 777.0);
        assert_eq!(cap.below, [path.layers[1].name.clone()]);
        return;
    }
    let Some(device) = LoopDevice::new(1 << 20) else { return };
    let hierarchy = std::path::Path::new("/sys/fs/cgroup/blkio");
    let group = Group(hierarchy.join(format!("plimsoll-test-{}", std::process::id())));
    if let Err(e) = std::fs::create_dir(&group.0) {
        std::mem::forget(group);
        eprintln!("skipped: no control group of our own in cgroup v1 blkio: {e}");
        return;
    }
    let number = std::fs::read_to_string(format!("/sys/block/{}/dev", device.name)).unwrap();
    let cap = format!("{} 777", number.trim());
    std::fs::write(group.0.join("blkio.throttle.read_iops_device"), cap).unwrap();
    // The second process enters the group by itself, so that this one and its neighbours never do.
    let enter = format!("echo $$ > {}/cgroup.procs && exec \"$0\" \"$@\"", group.0.display());
    let child = std::process::Command::new("sh")
        .arg("-c")
        .arg(enter)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "a_cap_of_a_real_control_group_stands_above_its_device", "--nocapture"])
        .env(CAPPED_DEVICE, &device.device)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout).into_owned() + &String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success() && text.contains("1 passed"), "{text}");
}
