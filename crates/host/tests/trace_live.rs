//! The tracer on real devices, where root and eBPF are at hand: counts are exact, the split agrees with the kernel's
//! own events of the same run, and nothing stays behind.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::events::Events;
use common::live::{LoopDevice, Readers};
use host::Root;
use host::trace::{Class, ClassWindow, Options, TraceWindow, Tracer, Why};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const BYTES: usize = 64 << 20;

fn tracer(options: Options) -> Option<Tracer> {
    match Tracer::start(&Root::system(), options) {
        Ok(tracer) => Some(tracer),
        Err(error) if error.why == Why::Unsupported => panic!("{error}"),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

/// Reads or writes `count` blocks of 8 KiB with dd, direct.
fn blocks(device: &Path, count: u32, write: bool) {
    let device = device.display();
    let plain = match write {
        true => ["if=/dev/zero".to_owned(), format!("of={device}"), "oflag=direct".to_owned()],
        false => [format!("if={device}"), "of=/dev/null".to_owned(), "iflag=direct".to_owned()],
    };
    let done = Command::new("dd")
        .args(plain)
        .args(["bs=8k", &format!("count={count}"), "conv=notrunc", "status=none"])
        .status();
    assert!(done.unwrap().success());
}

fn is_whole(class: &ClassWindow) {
    assert_eq!(class.host_wait.count() + class.untimed, class.ios, "{:?}: waits", class.class);
    assert_eq!(class.service.count() + class.untimed, class.ios, "{:?}: services", class.class);
    assert_eq!(class.sizes.iter().sum::<u64>(), class.ios, "{:?}: sizes", class.class);
}

/// Nothing is lost but what the kernel did not hand to any eBPF program; that is told and found again.
fn nothing_lost(window: &TraceWindow) {
    let lost = window.lost;
    println!("lost: {lost:?}");
    assert_eq!((lost.ios_of_unfollowed_devices, lost.scsi), (0, 0), "{lost:?}");
}

/// Requests completed, with those that seem to be in flight because their completion was not handed to us.
fn all_of(class: &ClassWindow) -> u64 {
    class.ios + class.device_queue_at_end
}

#[test]
fn an_odd_number_of_ios_is_counted_exactly_under_every_scheduler() {
    let Some(device) = LoopDevice::new(BYTES) else { return };
    for scheduler in ["none", "mq-deadline", "kyber", "bfq"] {
        if !device.set("scheduler", scheduler) {
            println!("skipped: no scheduler {scheduler}");
            continue;
        }
        for (ignore_stamps, before_6_1) in [(false, false), (true, false), (false, true)] {
            let options = Options { ignore_stamps, before_6_1, ..Options::default() };
            let Some(mut tracer) = tracer(options) else { return };
            blocks(&device.device, 501, false);
            blocks(&device.device, 253, true);
            let window = tracer.read().unwrap();
            nothing_lost(&window);
            let seen = window.device(&device.name).unwrap();
            let (reads, writes) = (seen.class(Class::Read).unwrap(), seen.class(Class::Write).unwrap());
            let case = format!("{scheduler}, ignore_stamps {ignore_stamps}, before_6_1 {before_6_1}");
            // Of a completion that no program was given nothing is left on an idle device but that it is told.
            let told = window.lost.completions;
            for (class, count) in [(reads, 501), (writes, 253)] {
                let all = all_of(class);
                assert!(all <= count && all + told >= count, "{case}: {all} and {told} lost of {count}");
            }
            for (class, count) in [(reads, 501), (writes, 253)] {
                assert_eq!(class.bytes, class.ios * 8192, "{case}");
                assert_eq!(class.sizes[4], class.ios, "8 KiB is the fifth bucket");
                assert_eq!(class.errors, 0, "{case}");
                // Nearly all that the kernel handed to us were timed; exactly all where it handed all.
                assert!(
                    class.untimed + class.device_queue_at_end <= count / 20 + told,
                    "{case}, {told} lost"
                );
                if window.lost.completions == 0 && class.device_queue_at_end == 0 {
                    assert_eq!((class.ios, class.untimed), (count, 0), "{case}");
                }
            }
            seen.classes.iter().for_each(is_whole);
            let asked = window.askers.as_ref().unwrap();
            let asked =
                |reads| asked.iter().any(|a| a.device == device.name && a.comm == "dd" && a.reads == reads);
            assert!(asked(501), "{:?}", window.askers);

            // Nothing more is counted when nothing more happens.
            let window = tracer.read().unwrap();
            assert_eq!(window.device(&device.name).map_or(0, |d| d.ios()), 0, "{case}");
        }
    }
}

#[test]
fn an_odd_number_of_ios_is_found_among_those_of_others() {
    // The device below the scratch folder; others use it meanwhile.
    let folder = tempfile::Builder::new().prefix("plimsoll-host-").tempdir_in("/var/tmp").unwrap();
    let file = folder.path().join("data");
    std::fs::write(&file, vec![7_u8; 301 * 8192]).unwrap();
    std::fs::File::open(&file).unwrap().sync_all().unwrap();
    let Some(mut tracer) = tracer(Options { askers_max: 4096, ..Options::default() }) else { return };
    blocks(&file, 301, false);
    let window = tracer.read().unwrap();
    let askers = window.askers.as_ref().unwrap();
    let ours: Vec<_> = askers.iter().filter(|a| a.comm == "dd" && a.read_bytes >= 301 * 8192).collect();
    if ours.is_empty() {
        println!("skipped: /var/tmp is not on a block device with direct I/O");
        return;
    }
    // dd itself may have been read from the disk.
    assert!((301..340).contains(&ours[0].reads), "{ours:?}");
    let device = window.device(&ours[0].device).unwrap();
    assert!(device.class(Class::Read).is_some_and(|r| r.ios >= 301), "{}", device.name);
    device.classes.iter().for_each(is_whole);
}

/// Random reads deeper than the device takes, so that some wait in the host.
fn random_reads(device: &Path, count: u32, depth: u32) {
    let done = Command::new("fio")
        .args(["--name=t", "--rw=randread", "--bs=4k", "--direct=1", "--ioengine=libaio", "--norandommap=0"])
        .args([format!("--filename={}", device.display()), format!("--iodepth={depth}")])
        .args([format!("--number_ios={count}"), "--size=64m".to_owned()])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn close(what: &str, ours: f64, truth: f64, of: f64) {
    println!("{what}: {ours:.6} against {truth:.6}");
    assert!((ours - truth).abs() <= 0.05 * of, "{what}: {ours} against {truth}");
}

#[test]
fn the_split_agrees_with_the_kernels_own_events() {
    if Command::new("fio").arg("--version").output().is_err() {
        println!("skipped: fio is not installed");
        return;
    }
    let Some(device) = LoopDevice::new(BYTES) else { return };
    let number = std::fs::read_to_string(format!("/sys/block/{}/dev", device.name)).unwrap();
    let (major, minor) = number.trim().split_once(':').unwrap();
    let number = (major.parse().unwrap(), minor.parse().unwrap());
    // Requests without times of the kernel's: by our own table; queues without statistics: the same.
    let ways = [("stamps", false, true), ("no stamps", true, true), ("stamps alone", false, false)];
    for scheduler in ["mq-deadline", "none"] {
        assert!(device.set("scheduler", scheduler));
        for (way, ignore_stamps, in_flight) in ways {
            let Some(mut tracer) = tracer(Options { ignore_stamps, in_flight, ..Options::default() }) else {
                return;
            };
            let Some(events) = Events::start(number) else { return };
            tracer.read().unwrap();
            random_reads(&device.device, 12_001, 200);
            let window = tracer.read().unwrap();
            let truth = events.split();
            let seen = window.device(&device.name).unwrap();
            let reads = seen.class(Class::Read).unwrap();
            is_whole(reads);
            nothing_lost(&window);
            println!("{scheduler}, {way}: {} I/Os", truth.ios);
            // Neighbours may have been merged into one request, but every block was read.
            assert_eq!(truth.bytes, 12_001 * 4096);
            match in_flight {
                true => assert_eq!(all_of(reads), truth.ios, "{scheduler}, {way}"),
                // Without the table nothing finds what the kernel did not hand to us: 2 % on a busy machine.
                false => assert!(truth.ios - reads.ios <= truth.ios / 20, "{} of {truth:?}", reads.ios),
            }
            assert!(reads.ios > 11_000, "{truth:?}");
            let (wait_s, service_s) =
                (reads.host_wait.sum_ns() as f64 / 1e9, reads.service.sum_ns() as f64 / 1e9);
            // Each within 5 % of itself where it is a real part of the whole, and within 5 % of the whole anyway.
            let whole = truth.host_wait_s + truth.service_s;
            let of = |part: f64| if part > 0.2 * whole && in_flight { part } else { whole };
            close("host wait, s", wait_s, truth.host_wait_s, of(truth.host_wait_s));
            close("service, s", service_s, truth.service_s, of(truth.service_s));
            // All began and ended within the window, so the queues are the sums over its length.
            close(
                "host queue",
                reads.host_queue,
                truth.host_wait_s / window.seconds(),
                whole / window.seconds(),
            );
            close(
                "device queue",
                reads.device_queue,
                truth.service_s / window.seconds(),
                whole / window.seconds(),
            );
        }
    }
}

#[test]
fn queues_are_exact_across_the_ends_of_windows() {
    let Some(device) = LoopDevice::new(BYTES) else { return };
    assert!(device.set("scheduler", "mq-deadline"));
    // Two tracers see the same load: one in windows not much longer than a request, one in a single long window.
    let Some(mut one) = tracer(Options::default()) else { return };
    let Some(mut many) = tracer(Options::default()) else { return };
    let readers = Readers::start(&device.device, BYTES, 8);
    std::thread::sleep(Duration::from_millis(200));
    for round in 1.. {
        let (mut sum, mut ios, mut at_ends) = (0.0, 0, 0);
        let began = many.read().unwrap().end_monotonic_ns;
        one.read().unwrap();
        let mut ended = began;
        for _ in 0..100 {
            std::thread::sleep(Duration::from_millis(4));
            let window = many.read().unwrap();
            ended = window.end_monotonic_ns;
            if let Some(seen) = window.device(&device.name) {
                let inside = seen.host_queue() + seen.device_queue();
                sum += inside * window.seconds();
                ios += seen.ios();
                at_ends +=
                    seen.classes.iter().map(|c| c.host_queue_at_end + c.device_queue_at_end).sum::<u64>();
            }
        }
        let window = one.read().unwrap();
        // The two read one after the other; a busy machine may come in between, and then they saw different times.
        let apart_ns = window.start_monotonic_ns - began + window.end_monotonic_ns - ended;
        let apart = apart_ns as f64 / 1e9 / window.seconds();
        let seen = window.device(&device.name).unwrap();
        let (truth, ios_truth) = ((seen.host_queue() + seen.device_queue()) * window.seconds(), seen.ios());
        println!(
            "100 windows: {ios} I/Os, {sum:.4} I/O seconds, {at_ends} at ends; one: {ios_truth}, {truth:.4}; \
             {apart:.4} of the time apart"
        );
        // Readers that have not begun yet, or that another took the processor from, try nothing.
        if (at_ends <= 50 || apart > 0.005) && round < 20 {
            continue;
        }
        assert!(at_ends > 50, "nothing was in flight at the ends, so nothing was tried");
        let within = 0.01 + apart;
        // What the kernel hands to one program and not to the other is found again later, in a window of its own.
        let agree = ios.abs_diff(ios_truth) as f64 <= within * ios_truth as f64 + 8.0
            && (sum - truth).abs() <= within * truth;
        if !agree && round < 5 {
            continue;
        }
        assert!(ios.abs_diff(ios_truth) as f64 <= within * ios_truth as f64 + 8.0, "{ios}, {ios_truth}");
        assert!((sum - truth).abs() <= within * truth, "{sum} against {truth}");
        break;
    }
    drop(readers);
}

#[test]
fn more_askers_than_a_processor_has_cells_are_all_counted() {
    let Some(device) = LoopDevice::new(BYTES) else { return };
    let Some(mut tracer) = tracer(Options { askers_max: 4096, ..Options::default() }) else { return };
    for _ in 0..2 {
        (0..150).for_each(|_| blocks(&device.device, 3, false));
        let window = tracer.read().unwrap();
        let askers = window.askers.as_ref().unwrap();
        let ours: Vec<_> = askers.iter().filter(|a| a.device == device.name && a.comm == "dd").collect();
        let lost = window.lost.asked;
        println!("{} askers, {lost} lost", ours.len());
        let reads: u64 = ours.iter().map(|a| a.reads).sum();
        assert!(reads <= 450 && reads + lost >= 450, "{reads}");
        assert!(ours.len() as u64 + lost >= 150, "{ours:?}");
    }
}

#[test]
fn nothing_stays_behind() {
    let Some(tracer) = tracer(Options::default()) else { return };
    let ids = tracer.program_ids();
    assert!(ids.len() >= 5, "{ids:?}");
    let loaded = || -> Vec<u32> {
        let all = aya::programs::loaded_programs().filter_map(Result::ok).map(|p| p.id());
        all.filter(|id| ids.contains(id)).collect()
    };
    assert_eq!(loaded().len(), ids.len());
    drop(tracer);
    // The kernel frees programs after a grace period.
    let deadline = Instant::now() + Duration::from_secs(10);
    while !loaded().is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(loaded(), Vec::<u32>::new());
}

#[test]
fn a_kernel_without_type_information_is_a_typed_reason() {
    let empty = tempfile::tempdir().unwrap();
    let error = Tracer::start(&Root::at(empty.path()), Options::default()).err().unwrap();
    assert_eq!(error.why, Why::NoBtf);
    assert!(error.enables.contains("CONFIG_DEBUG_INFO_BTF"), "{error}");
    std::fs::create_dir_all(empty.path().join("sys/kernel/btf")).unwrap();
    std::fs::write(empty.path().join("sys/kernel/btf/vmlinux"), b"not type information").unwrap();
    assert_eq!(Tracer::start(&Root::at(empty.path()), Options::default()).err().unwrap().why, Why::NoBtf);
}

const CHILD: &str = "PLIMSOLL_TEST_WITHOUT_RIGHTS";

#[test]
fn missing_rights_are_a_typed_reason() {
    use std::os::unix::process::CommandExt;
    if std::env::var_os(CHILD).is_some() {
        let error = Tracer::start(&Root::system(), Options::default()).err().unwrap();
        assert_eq!(error.why, Why::NotPermitted, "{error}");
        assert!(error.enables.contains("root"), "{error}");
        return;
    }
    if !rustix::process::geteuid().is_root() {
        println!("skipped: needs root, to give it up in a child");
        return;
    }
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        println!("skipped: this kernel has no type information, which is told first");
        return;
    }
    // A copy, because nobody may not read the folder of the build.
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    for path in [folder.path(), &copy] {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let child = Command::new(&copy)
        .args(["--exact", "missing_rights_are_a_typed_reason", "--nocapture"])
        .env(CHILD, "1")
        .current_dir("/")
        .uid(65534)
        .gid(65534)
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
}
