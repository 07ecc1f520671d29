//! Rules about answers of a full queue, exhausted adapters, errors, accidents and paths.

mod reading_support;

use analyze::Severity;
use reading_support::Made;
use record::imported::PlaceKind::{Adapter, Database, DatabaseFile, Device, Path, Volume};
use record::imported::Quantity::{DeviceQueue, HostQueue, Iops, ReadIops, ReadResponseUs, Timeouts};
use record::imported::{EventKind, Platform, facts};

#[test]
fn queue_full_in_the_log() {
    let mut made = Made::new(Platform::Linux);
    for n in 0..20 {
        made.event(Device, "sdb", EventKind::QueueFull, 1000.0 + f64::from(n) * 30.0, "tsk set full");
    }
    let finding = made.only("PL103");
    assert!(finding.title.contains("20 times at sdb, within 10 minutes"), "{}", finding.title);
    assert_eq!((finding.severity, finding.evidence.len()), (Severity::High, 7));
    assert_eq!(made.found("PL107").len(), 0);

    let mut made = Made::new(Platform::Linux);
    made.event(Device, "sdb", EventKind::DeviceAdded, 1.0, "attached");
    assert_eq!(made.found("PL103").len(), 0);
}

#[test]
fn a_depth_that_fell_by_itself() {
    let case = |platform, later: f64| {
        let mut made = Made::new(platform);
        made.fact(Device, "sdb", facts::QUEUE_DEPTH, 64.0);
        made.text("case/later").fact(Device, "sdb", facts::QUEUE_DEPTH, later);
        made
    };
    assert!(case(Platform::Linux, 37.0).only("PL103").title.contains("from 64 to 37"));
    assert_eq!(case(Platform::Linux, 64.0).found("PL103").len(), 0);
    assert_eq!(case(Platform::Aix, 16.0).found("PL103").len(), 0, "AIX does not do that");
}

#[test]
fn counters_of_fcstat_by_two_readings() {
    let mut made = Made::new(Platform::Aix);
    made.fact(Adapter, "fcs0", facts::SINCE_RESET_S, 1e6).fact(
        Adapter,
        "fcs0",
        facts::NO_COMMAND_RESOURCE,
        100.0,
    );
    let alone = made.only("PL106");
    assert!(
        alone.title.contains("fcs0 had no command element free 100 times, in the 12 days"),
        "{}",
        alone.title
    );
    assert_eq!(alone.severity, Severity::Medium);
    made.text("case/later");
    made.fact(Adapter, "fcs0", facts::SINCE_RESET_S, 1e6 + 3600.0).fact(
        Adapter,
        "fcs0",
        facts::NO_COMMAND_RESOURCE,
        4100.0,
    );
    let twice = made.only("PL106");
    assert!(twice.title.contains("4000 of them in the 60 minutes between two readings"), "{}", twice.title);
    assert_eq!(twice.severity, Severity::High);
    assert!(twice.advice[0].contains("raise num_cmd_elems"), "{:?}", twice.advice);
}

#[test]
fn command_elements_and_dma_have_opposite_cures() {
    let mut made = Made::new(Platform::Aix);
    made.fact(Adapter, "fcs0", facts::SINCE_RESET_S, 1e8)
        .fact(Adapter, "fcs0", facts::NO_COMMAND_RESOURCE, 0.0)
        .fact(Adapter, "fcs0", facts::NO_ADAPTER_ELEMENTS, 0.0)
        .fact(Adapter, "fcs0", facts::NO_DMA_RESOURCE, 5.0);
    let finding = made.only("PL106");
    assert!(
        finding.advice[0].contains("do not raise num_cmd_elems; raise max_xfer_size"),
        "{:?}",
        finding.advice
    );
    assert_eq!(finding.severity, Severity::Low, "five in three years");
    let mut well = Made::new(Platform::Aix);
    well.fact(Adapter, "fcs0", facts::NO_DMA_RESOURCE, 0.0).fact(Adapter, "fcs0", facts::SINCE_RESET_S, 1e8);
    assert_eq!(well.found("PL106").len(), 0);
}

#[test]
fn errors_in_the_log_are_one_finding_of_the_host() {
    let mut made = Made::new(Platform::Aix);
    for n in 0..12 {
        made.event(Adapter, "fscsi0", EventKind::AdapterError, f64::from(n) * 60.0, "FCP_ERR4 LINK ERROR");
    }
    made.event(Device, "hdisk4", EventKind::DiskError, 700.0, "SC_DISK_ERR2 DISK OPERATION ERROR");
    let finding = made.only("PL107");
    assert!(
        finding.title.starts_with("12 adapter or link errors at fscsi0; 1 disk error at hdisk4"),
        "{}",
        finding.title
    );
    assert_eq!(finding.severity, Severity::High);

    let mut other = Made::new(Platform::Aix);
    other.event(Device, "cd0", EventKind::DiskError, 1.0, "NO MEDIA").event(
        Device,
        "hdisk1",
        EventKind::Other,
        2.0,
        "x",
    );
    assert_eq!(other.found("PL107").len(), 0);
}

#[test]
fn counts_of_iostat_e() {
    let case = |hard: f64, absent: f64, transport: f64, media: f64, product: &str| {
        let mut made = Made::new(Platform::Solaris);
        for (name, value) in [
            (facts::HARD_ERRORS, hard),
            (facts::TRANSPORT_ERRORS, transport),
            ("media_errors", media),
            ("no_device_errors", absent),
        ] {
            made.fact(Device, "c0t0d0", name, value);
        }
        made.fact(Device, "c0t0d0", facts::PRODUCT, product);
        made
    };
    assert_eq!(case(0.0, 0.0, 0.0, 0.0, "SUN146G").found("PL107").len(), 0);
    assert_eq!(case(3.0, 3.0, 1.0, 0.0, "SUN146G").found("PL107").len(), 0, "no device, no error of it");
    assert_eq!(case(9.0, 0.0, 0.0, 0.0, "DVD-ROM").found("PL107").len(), 0);
    assert_eq!(case(0.0, 0.0, 40.0, 0.0, "SUN146G").only("PL107").severity, Severity::Medium);
    let dying = case(2.0, 0.0, 0.0, 2.0, "SUN146G").only("PL107");
    assert_eq!(
        (dying.severity, dying.title.as_str()),
        (Severity::High, "c0t0d0 has counted 2 hard, 2 media errors since boot")
    );
}

#[test]
fn the_accident_of_deep_adapters_stands_before_advice_to_raise_depths() {
    let case = |elements: f64, mib: f64| {
        let mut made = Made::new(Platform::Aix);
        made.fact(Adapter, "fcs1", facts::ADAPTER_COMMANDS, elements)
            .fact(Adapter, "fcs1", facts::MAX_TRANSFER_BYTES, mib * 1_048_576.0)
            .fact(Device, "hdisk4", facts::QUEUE_DEPTH, 32.0);
        made.rows(Device, "hdisk4", 5, &[(Iops, 500.0), (HostQueue, 20.0), (DeviceQueue, 32.0)]);
        made
    };
    let mut made = case(2048.0, 16.0);
    let finding = made.only("PL108");
    assert!(
        finding.title.starts_with(
            "fcs1 with num_cmd_elems 2048 and max_xfer_size of 16 MiB, and 1 disk at a depth of 32"
        ),
        "{}",
        finding.title
    );
    assert_eq!(finding.severity, Severity::High);
    assert!(made.only("PL101").advice[0].contains("do not raise queue_depth yet"));
    made.event(Adapter, "fscsi1", EventKind::AdapterError, 5.0, "FCP_ERR4");
    assert!(made.only("PL108").title.contains("1 adapter error in the log"));

    for well in [case(2048.0, 2.0), case(200.0, 16.0)] {
        assert_eq!(well.found("PL108").len(), 0);
        assert!(!well.only("PL101").advice[0].contains("do not raise"));
    }
}

#[test]
fn virtual_adapters_of_affected_levels() {
    let case = |release: Option<&str>, elements: f64, product: &str| {
        let mut made = Made::new(Platform::Aix);
        made.fact(Adapter, "fcs0", facts::ADAPTER_COMMANDS, elements).fact(
            Adapter,
            "fcs0",
            facts::PRODUCT,
            product,
        );
        if let Some(release) = release {
            made.release(release);
        }
        made
    };
    assert_eq!(case(Some("6.1"), 1024.0, "FC Virtual Adapter").only("PL108").severity, Severity::High);
    assert_eq!(case(None, 1024.0, "FC Virtual Adapter").only("PL108").severity, Severity::Low);
    assert_eq!(case(Some("7.2"), 1024.0, "FC Virtual Adapter").found("PL108").len(), 0);
    assert_eq!(case(Some("6.1"), 200.0, "FC Virtual Adapter").found("PL108").len(), 0);
    assert_eq!(case(Some("6.1"), 1024.0, "FC Adapter").found("PL108").len(), 0);
}

#[test]
fn failed_paths_and_what_is_left() {
    let case = |states: &[&str]| {
        let mut made = Made::new(Platform::Linux);
        for (n, state) in states.iter().enumerate() {
            let path = format!("sd{}", char::from(b'a' + n as u8));
            made.fact(Path, &path, facts::PART_OF, "mpatha").fact(Path, &path, facts::PATH_STATE, *state);
        }
        made
    };
    let well = "active ready running";
    assert_eq!(case(&[well, "active ghost running"]).found("PL109").len(), 0);
    let finding = case(&[well, well, well, "failed faulty running"]).only("PL109");
    assert!(
        finding.title.starts_with("1 of 4 paths of mpatha are failed or degraded (sdd: failed faulty"),
        "{}",
        finding.title
    );
    assert_eq!(finding.severity, Severity::Medium);
    let finding = case(&[well, "failed faulty offline"]).only("PL109");
    assert!(finding.title.contains("left with one path or none: mpatha"), "{}", finding.title);
    assert_eq!(finding.severity, Severity::High);
}

#[test]
fn a_path_failure_is_open_until_it_is_restored() {
    let mut made = Made::new(Platform::Aix);
    made.event(Device, "hdisk4", EventKind::PathFailed, 100.0, "PATH HAS FAILED");
    assert_eq!(made.found("PL109").len(), 1);
    made.event(Device, "hdisk4", EventKind::PathRestored, 200.0, "PATH HAS RECOVERED");
    assert_eq!(made.found("PL109").len(), 0);
    // Newest first, both within one minute.
    let mut made = Made::new(Platform::Aix);
    made.event(Device, "hdisk9", EventKind::Other, 400.0, "x");
    made.event(Device, "hdisk4", EventKind::PathRestored, 200.0, "PATH HAS RECOVERED");
    made.event(Device, "hdisk4", EventKind::PathFailed, 200.0, "PATH HAS FAILED");
    assert_eq!(made.found("PL109").len(), 0);
}

#[test]
fn paths_with_unlike_loads_and_times() {
    let case = |iops: [f64; 2], ms: [f64; 2], selector: &str| {
        let mut made = Made::new(Platform::Linux);
        for (n, disk) in ["sda", "sdb"].into_iter().enumerate() {
            made.fact(Path, disk, facts::PART_OF, "mpatha").fact(
                Path,
                disk,
                facts::PATH_STATE,
                "active ready running",
            );
            made.rows(Device, disk, 5, &[(ReadIops, iops[n]), (ReadResponseUs, ms[n] * 1e3)]);
        }
        made.fact(Volume, "mpatha", facts::PATH_SELECTOR, selector);
        made
    };
    let slow = case([500.0, 500.0], [1.0, 6.0], "round-robin 0").only("PL109");
    assert!(slow.title.contains("path sdb of mpatha answers in 6.0 ms"), "{}", slow.title);
    assert_eq!(slow.severity, Severity::Medium);
    let uneven = case([900.0, 100.0], [1.0, 1.1], "service-time 0").only("PL109");
    assert_eq!((uneven.severity, uneven.title.contains("unlike loads")), (Severity::Low, true));
    assert_eq!(case([500.0, 450.0], [1.0, 1.2], "round-robin 0").found("PL109").len(), 0);
    assert_eq!(
        case([500.0, 0.0], [1.0, 0.0], "round-robin 0").found("PL109").len(),
        0,
        "the other controller's path"
    );
}

#[test]
fn transfers_of_a_map_and_its_paths() {
    let case = |map: f64, paths: [f64; 2]| {
        let mut made = Made::new(Platform::Linux);
        made.fact(Volume, "mpatha", facts::MAX_TRANSFER_BYTES, map * 1024.0);
        for (disk, kib) in ["sda", "sdb"].into_iter().zip(paths) {
            made.fact(Path, disk, facts::PART_OF, "mpatha").fact(
                Path,
                disk,
                facts::MAX_TRANSFER_BYTES,
                kib * 1024.0,
            );
        }
        made
    };
    let finding = case(1280.0, [1280.0, 512.0]).only("PL110");
    assert!(
        finding.title.starts_with("mpatha sends up to 1280 KiB at once, and its path sdb takes only 512 KiB")
    );
    assert_eq!(finding.severity, Severity::High);
    assert_eq!(case(512.0, [1280.0, 512.0]).only("PL110").severity, Severity::Medium);
    assert_eq!(case(512.0, [512.0, 512.0]).found("PL110").len(), 0);
    assert_eq!(case(512.0, [1280.0, 1280.0]).found("PL110").len(), 0);

    let mut large = Made::new(Platform::Linux);
    large.fact(Device, "sdc", facts::MAX_TRANSFER_BYTES, 4096.0 * 1024.0);
    assert_eq!(large.found("PL110").len(), 0);
    large.event(Device, "sdc", EventKind::Timeout, 5.0, "abort");
    assert!(large.only("PL110").title.contains("1 command timeout at sdc"));
}

#[test]
fn disks_that_send_more_than_the_adapter_takes() {
    let case = |disk: f64| {
        let mut made = Made::new(Platform::Aix);
        made.fact(Adapter, "fcs0", facts::MAX_TRANSFER_BYTES, 1_048_576.0);
        made.fact(Device, "hdisk4", facts::MAX_TRANSFER_BYTES, disk);
        made
    };
    assert!(case(4_194_304.0).only("PL110").title.starts_with("hdisk4 may send 4096 KiB at once"));
    assert_eq!(case(262_144.0).found("PL110").len(), 0);
}

#[test]
fn intervals_that_count_failures() {
    let case = |failures: f64| {
        let mut made = Made::new(Platform::Aix);
        made.rows(Device, "hdisk4", 4, &[(Iops, 10.0), (Timeouts, failures)]);
        made
    };
    assert!(case(3.0).only("PL107").title.starts_with("12 I/Os failed, were aborted or timed out at hdisk4"));
    assert_eq!(case(0.0).found("PL107").len(), 0);
}

#[test]
fn maps_that_queue_for_ever() {
    let mut made = Made::new(Platform::Linux);
    made.fact(Volume, "mpatha", "features", "1 queue_if_no_path");
    assert_eq!(made.only("PL111").severity, Severity::Info);
    made.place(DatabaseFile, "+DATA/orcl/users.dbf");
    assert_eq!(made.only("PL111").severity, Severity::Medium);
    made.fact(Volume, "mpatha", "no_path_retry", 12.0);
    assert_eq!(made.found("PL111").len(), 0, "only for twelve tries");
}

#[test]
fn timeouts_and_the_heartbeat_of_asm() {
    let case = |release: &str, file: &str| {
        let mut made = Made::new(Platform::Aix);
        made.fact(Device, "hdisk4", "rw_timeout_s", 30.0).fact(
            Database,
            "orcl",
            facts::DATABASE_RELEASE,
            release,
        );
        made.place(DatabaseFile, file);
        made
    };
    assert!(case("11.2.0.4.0", "+DATA/a.dbf").only("PL111").title.contains("given up after 30 s"));
    assert_eq!(case("19.0.0.0.0", "+DATA/a.dbf").found("PL111").len(), 0);
    assert_eq!(case("11.2.0.4.0", "/u02/a.dbf").found("PL111").len(), 0);
}

#[test]
fn settings_of_aix_that_use_one_path() {
    let case = |paths: usize, algorithm: &str| {
        let mut made = Made::new(Platform::Aix);
        for n in 0..paths {
            made.fact(Path, &format!("hdisk4/Path{n}"), facts::PART_OF, "hdisk4");
        }
        made.fact(Device, "hdisk4", facts::PATH_SELECTOR, algorithm);
        made
    };
    let finding = case(4, "fail_over").only("PL115");
    assert!(finding.title.starts_with("hdisk4 has 4 paths and algorithm=fail_over"), "{}", finding.title);
    assert_eq!(
        (case(1, "fail_over").found("PL115").len(), case(4, "shortest_queue").found("PL115").len()),
        (0, 0)
    );
}
