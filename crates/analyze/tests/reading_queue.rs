//! Rules about queues and their limits: each trips on its case and stays silent on one near it.

mod reading_support;

use analyze::Severity;
use reading_support::Made;
use record::imported::PlaceKind::{Adapter, Device, Path};
use record::imported::Quantity::{
    DeviceQueue, HostQueue, HostQueueBusyPercent, HostWaitUs, Iops, Outstanding, QueueFullPerS, ReadIops,
    ReadResponseUs, ServiceUs,
};
use record::imported::{EventKind, Host, Platform, facts};

#[test]
fn linux_tells_the_sum_and_a_setting_tells_how_much_of_it_waits() {
    let mut made = Made::new(Platform::Linux);
    made.rows(Device, "sdb", 10, &[(ReadIops, 8000.0), (ReadResponseUs, 10e3), (Outstanding, 80.0)]);
    assert_eq!(made.found("PL101").len(), 0, "without a depth nobody can tell");
    made.fact(Device, "sdb", facts::QUEUE_DEPTH, 32.0);
    let finding = made.only("PL101");
    assert!(finding.title.contains("at least 48.0 I/Os wait in the host for sdb"), "{}", finding.title);
    assert_eq!(finding.severity, Severity::High);

    let mut made = Made::new(Platform::Linux);
    made.rows(Device, "sdb", 10, &[(ReadIops, 3000.0), (ReadResponseUs, 10e3), (Outstanding, 30.0)]);
    made.fact(Device, "sdb", facts::QUEUE_DEPTH, 32.0);
    assert_eq!(made.found("PL101").len(), 0, "30 of 32 may all be at the device");
}

#[test]
fn a_split_queue_at_its_depth_is_told_with_its_numbers() {
    let row = [(Iops, 1000.0), (HostQueue, 8.0), (DeviceQueue, 8.0), (HostWaitUs, 8e3), (ServiceUs, 8e3)];
    let mut made = Made::new(Platform::Solaris);
    made.rows(Device, "c1t0d0", 10, &row).fact(Device, "c1t0d0", facts::QUEUE_DEPTH, 8.0);
    let finding = made.only("PL101");
    assert!(finding.title.starts_with("8.0 I/Os wait in the host for c1t0d0"), "{}", finding.title);
    assert!(finding.advice.iter().any(|a| a.contains("sd_max_throttle")));
}

#[test]
fn a_host_queue_above_a_device_queue_with_room_is_held_by_something_else() {
    let row = |occupied: f64| {
        [
            (Iops, 1000.0),
            (HostQueue, 8.0),
            (DeviceQueue, 5.0),
            (HostWaitUs, 8e3),
            (ServiceUs, 5e3),
            (HostQueueBusyPercent, occupied),
        ]
    };
    let case = |occupied: f64| {
        let mut made = Made::new(Platform::Solaris);
        for at in 1..=10 {
            let mut row = row(occupied);
            // Not at the same number all the time: no limit shows itself in it.
            row[2].1 = 3.0 + f64::from(at % 5);
            made.row(Device, "c1t0d0", f64::from(at), &row);
        }
        made.fact(Device, "c1t0d0", facts::QUEUE_DEPTH, 64.0);
        made
    };
    let finding = case(95.0).only("PL101");
    assert!(finding.title.contains("something between them holds back"), "{}", finding.title);
    assert!(finding.advice.iter().all(|a| !a.contains("raise")), "{:?}", finding.advice);
    // Occupied for a tenth of the time: bursts that fill the queue for a moment.
    assert_eq!(case(10.0).found("PL101").len(), 0);
}

#[test]
fn aix_counts_that_no_queue_was_full() {
    let case = |full: f64| {
        let mut made = Made::new(Platform::Aix);
        for at in 1..=10 {
            let device = 2.0 + f64::from(at % 4);
            let row = [(Iops, 500.0), (HostQueue, 6.0), (DeviceQueue, device), (QueueFullPerS, full)];
            made.row(Device, "hdisk4", f64::from(at), &row);
        }
        made.fact(Device, "hdisk4", facts::QUEUE_DEPTH, 32.0);
        made
    };
    assert!(case(0.0).only("PL101").title.contains("holds back"));
    assert_eq!(case(200.0).found("PL101").len(), 0, "bursts filled it");
    assert_eq!(case(200.0).found("PL102").len(), 1);
    assert_eq!(case(0.2).found("PL102").len(), 0);
}

#[test]
fn many_disks_with_the_same_trouble_are_one_finding_and_a_full_queue_is_told_once() {
    let mut made = Made::new(Platform::Aix);
    for disk in 0..20 {
        let name = format!("hdisk{disk}");
        let row =
            [(Iops, 500.0), (HostQueue, 6.0 + f64::from(disk)), (DeviceQueue, 16.0), (QueueFullPerS, 300.0)];
        made.rows(Device, &name, 5, &row).fact(Device, &name, facts::QUEUE_DEPTH, 16.0);
    }
    let finding = made.only("PL101");
    assert!(finding.title.contains("hdisk19") && finding.title.contains("19 more"), "{}", finding.title);
    assert_eq!(made.found("PL102").len(), 0, "the same cause");
}

#[test]
fn depths_are_counted_per_port_of_the_array() {
    let case = |luns: usize, depth: f64| {
        let mut made = Made::new(Platform::Linux);
        for lun in 0..luns {
            let disk = format!("sd{}", char::from(b'a' + lun as u8));
            made.fact(Device, &disk, facts::VENDOR, "HITACHI")
                .fact(Device, &disk, facts::PRODUCT, "DF600F")
                .fact(Device, &disk, facts::SCSI_ADDRESS, format!("2:0:0:{lun}"))
                .fact(Device, &disk, facts::QUEUE_DEPTH, depth);
        }
        made
    };
    let finding = case(20, 32.0).only("PL104");
    assert!(finding.title.contains("sum to 640 at one port, which takes 512"), "{}", finding.title);
    assert!(finding.evidence.iter().any(|e| e.text.contains("per port of 512")), "{:?}", finding.evidence);
    assert!(finding.evidence.iter().any(|e| e.text.contains("a depth of 21")), "{:?}", finding.evidence);
    assert_eq!(finding.severity, Severity::Medium);
    assert_eq!(case(10, 32.0).found("PL104").len(), 0);
    // A depth above what the array takes per LUN.
    let finding = case(4, 64.0).only("PL104");
    assert!(finding.title.contains("64 at once, and the array takes 32 per LUN"), "{}", finding.title);

    let mut refused = case(20, 32.0);
    refused.event(Device, "sda", EventKind::QueueFull, 10.0, "tsk set full");
    assert_eq!(refused.only("PL104").severity, Severity::High);
}

#[test]
fn hosts_of_one_array_are_counted_together() {
    let mut made = Made::new(Platform::Aix);
    for host in 0..3 {
        if host > 0 {
            made.text(&format!("other{host}/text"));
            made.host(Host {
                name: Some(format!("db{}", host + 1)),
                platform: Platform::Aix,
                ..Host::default()
            });
        }
        for disk in 0..8 {
            let name = format!("hdisk{disk}");
            made.fact(Device, &name, facts::VENDOR, "IBM")
                .fact(Device, &name, facts::PRODUCT, "2810XIV")
                .fact(Device, &name, facts::WWID, format!("lun{disk}"))
                .fact(Device, &name, facts::QUEUE_DEPTH, 64.0);
        }
    }
    let finding = made.only("PL104");
    assert!(finding.title.contains("of 3 hosts, which share LUNs, sum to 1536"), "{}", finding.title);
}

#[test]
fn paths_of_a_map_add_up_at_the_lun() {
    let case = |paths: usize| {
        let mut made = Made::new(Platform::Linux);
        made.fact(Device, "mpatha", facts::VENDOR, "HITACHI").fact(
            Device,
            "mpatha",
            facts::PRODUCT,
            "OPEN-V",
        );
        for path in 0..paths {
            let disk = format!("sd{}", char::from(b'a' + path as u8));
            made.fact(Path, &disk, facts::PART_OF, "mpatha").fact(Path, &disk, facts::QUEUE_DEPTH, 16.0);
        }
        made
    };
    let finding = case(4).only("PL104");
    assert!(finding.title.contains("16 over each of 4 paths, 64 together"), "{}", finding.title);
    assert_eq!((finding.severity, case(2).found("PL104").len()), (Severity::Low, 0));
}

#[test]
fn adapters_that_take_less_than_their_luns() {
    let case = |elements: f64, queue: f64| {
        let mut made = Made::new(Platform::Aix);
        made.fact(Adapter, "fcs0", facts::ADAPTER_COMMANDS, elements);
        for disk in 0..40 {
            let name = format!("hdisk{disk}");
            made.fact(Device, &name, facts::QUEUE_DEPTH, 20.0);
            made.rows(Device, &name, 2, &[(Iops, 100.0), (HostQueue, 0.0), (DeviceQueue, queue)]);
        }
        made
    };
    let finding = case(200.0, 1.0).only("PL105");
    assert!(
        finding.title.contains("40 LUNs sum to 800, and fcs0 take 200 (num_cmd_elems)"),
        "{}",
        finding.title
    );
    assert_eq!(finding.severity, Severity::Low);
    assert_eq!(case(200.0, 5.0).only("PL105").severity, Severity::Medium, "200 of 200 are used");
    assert_eq!(case(1024.0, 1.0).found("PL105").len(), 0);
    let mut untold = case(200.0, 1.0);
    untold.fact(Adapter, "fcs1", facts::NO_DMA_RESOURCE, 0.0);
    assert_eq!(untold.found("PL105").len(), 0, "nobody knows what fcs1 takes");

    let mut linux = Made::new(Platform::Linux);
    linux.fact(Adapter, "host3", facts::ADAPTER_COMMANDS, 100.0);
    for (disk, address) in [("sda", "3:0:0:1"), ("sdb", "3:0:1:1"), ("sdc", "33:0:0:1")] {
        linux.fact(Device, disk, facts::QUEUE_DEPTH, 64.0).fact(Device, disk, facts::SCSI_ADDRESS, address);
    }
    assert!(linux.only("PL105").title.contains("2 LUNs sum to 128"));
}

#[test]
fn a_queue_that_stands_below_its_depth_has_a_hidden_limit() {
    let row = |queue: f64| {
        [(Iops, 3000.0), (HostQueue, 9.0), (DeviceQueue, queue), (HostWaitUs, 3e3), (ServiceUs, 10e3)]
    };
    let mut made = Made::new(Platform::Esxi);
    made.rows(Device, "naa.60", 10, &row(32.0));
    let finding = made.only("PL112");
    assert!(finding.advice.iter().any(|a| a.contains("competing worlds")), "{:?}", finding.advice);
    assert_eq!(made.found("PL101").len(), 0, "one cause is told once");
    // With a depth of 32 it is the device's own.
    made.fact(Device, "naa.60", facts::QUEUE_DEPTH, 32.0);
    assert_eq!((made.found("PL112").len(), made.found("PL101").len()), (0, 1));

    let mut made = Made::new(Platform::Solaris);
    made.rows(Device, "ssd3", 10, &row(16.0)).fact(Device, "ssd3", facts::QUEUE_DEPTH, 256.0);
    assert!(made.only("PL112").title.contains("stands at 16, below its depth of 256"));
}

#[test]
fn a_lun_in_use_with_hardly_a_queue() {
    let case = |depth: f64, iops: f64| {
        let mut made = Made::new(Platform::Aix);
        made.rows(Device, "hdisk7", 5, &[(Iops, iops), (HostQueue, 0.2), (DeviceQueue, 0.9)]);
        made.fact(Device, "hdisk7", facts::QUEUE_DEPTH, depth);
        made
    };
    let finding = case(3.0, 120.0).only("PL114");
    assert!(
        finding.title.contains("hdisk7 does 120 I/Os per second and has a queue depth of 3"),
        "{}",
        finding.title
    );
    assert_eq!((case(3.0, 2.0).found("PL114").len(), case(20.0, 120.0).found("PL114").len()), (0, 0));
    let mut untagged = case(20.0, 120.0);
    untagged.fact(Device, "hdisk7", "q_type", "none");
    assert!(untagged.only("PL114").title.contains("no tagged queue"));
}
