//! From a rig's text to its truth.

use crate::outcome::{Applied, JobOutcome};
use crate::truth::limits::Word;
use crate::truth::{self, AdviceTruth, FileAdvice, Truth};
use crate::{boot, rig_of};

fn truth_of(text: &str) -> Truth {
    truth::of(
        &rig_of(text),
        0,
        &boot(&[("lun0", "sda"), ("lun1", "sdb"), ("null0", "nullb0"), ("mp0", "dm-0")]),
    )
}

fn iops(truth: &Truth, n: u32) -> f64 {
    let row = truth.model.as_ref().expect("computed").at(n);
    assert_eq!(row.iops.low, row.iops.high);
    row.iops.low
}

fn file(truth: &Truth) -> &FileAdvice {
    match &truth.advice {
        AdviceTruth::File(file) => file,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_lun_depth_binds_and_doubling_it_doubles_the_rate() {
    let truth = truth_of(
        "scsi = {}\nset = { \"lun0.scheduler\" = \"none\", \"lun0.queue_depth\" = \"4\" }\njob = [{ name = \"p\", probe = \"lun0\" }]",
    );
    assert_eq!(truth.bound_by, [Word::DeviceQueueLimit]);
    assert_eq!(iops(&truth, 64), 4000.0);
    let advice = file(&truth);
    assert_eq!((advice.files[0].as_str(), advice.value), ("/sda/device/queue_depth", Some(8)));
    assert_eq!(advice.after.as_ref().expect("certain").at(64).iops.low, 8000.0);
    // Too little load to fill it, just past it, and well past it.
    assert_eq!(truth.bound_by_at(4), [Word::Concurrency]);
    assert_eq!(truth.bound_by_at(6), [Word::DeviceQueueLimit, Word::Concurrency]);
    assert_eq!(truth.bound_by_at(8), [Word::DeviceQueueLimit]);
    assert_eq!(truth.advice_at(4), AdviceTruth::NoFile);
}

#[test]
fn nr_requests_binds_below_the_lun_depth() {
    for (scheduler, most) in [("none", 16), ("[mq-deadline] none", 16)] {
        let truth = truth_of(&format!(
            "scsi = {{}}\nset = {{ \"lun0.scheduler\" = \"{scheduler}\", \"lun0.nr_requests\" = \"8\", \"lun0.queue_depth\" = \"64\" }}\njob = [{{ name = \"p\", probe = \"lun0\" }}]"
        ));
        assert_eq!(truth.bound_by, [Word::HostQueue]);
        assert_eq!(
            (file(&truth).files[0].as_str(), file(&truth).value),
            ("/sda/queue/nr_requests", Some(most))
        );
        assert_eq!(iops(&truth, 32), 8000.0);
    }
}

#[test]
fn the_hosts_own_tags_are_raised_by_no_file() {
    let truth = truth_of("scsi = { can_queue = 16 }\njob = [{ name = \"p\", probe = \"lun0\" }]");
    assert_eq!(truth.bound_by, [Word::HostQueue, Word::DeviceQueueLimit], "the LUN depth is as large");
    assert_eq!(truth.advice, AdviceTruth::NoFile);
    let lower = truth_of(
        "scsi = { can_queue = 16 }\nset = { \"lun0.queue_depth\" = \"12\" }\njob = [{ name = \"p\", probe = \"lun0\" }]",
    );
    assert_eq!(file(&lower).value, Some(16), "no more than the host takes");
}

#[test]
fn a_sibling_takes_its_share_of_the_tags() {
    let shared = |job: &str| {
        truth_of(&format!(
            "scsi = {{ can_queue = 16, luns = 4 }}\njob = [{{ name = \"p\", probe = \"lun0\"{job} }}]"
        ))
    };
    assert_eq!(iops(&shared(""), 64), 16_000.0);
    let beside = shared(", beside = [{ probe = \"lun1\", every_ms = 1000 }]");
    assert_eq!(iops(&beside, 64), 8_000.0);
    assert_eq!((beside.bound_by, beside.advice), (vec![Word::HostQueue], AdviceTruth::NoFile));
    assert_eq!(iops(&shared(", settle_s = 0.0"), 64), 4_000.0, "all four were read at the boot");
    // A LUN of another host has tags of its own.
    let other = truth_of(
        "scsi = { can_queue = 16, hosts = 2 }\njob = [{ name = \"p\", probe = \"lun0\", beside = [{ probe = \"lun1\", concurrency = 32 }] }]",
    );
    assert_eq!(iops(&other, 64), 16_000.0);
}

#[test]
fn null_blk_shows_its_slots_as_tags() {
    let truth = truth_of(
        "null = [{ hw_queue_depth = 8 }]\nset = { \"null0.scheduler\" = \"none\" }\njob = [{ name = \"p\", probe = \"null0\" }]",
    );
    assert_eq!((truth.bound_by.clone(), truth.advice.clone()), (vec![Word::HostQueue], AdviceTruth::NoFile));
    assert_eq!(iops(&truth, 32), 8000.0);
    let fewer = truth_of(
        "null = [{ hw_queue_depth = 8 }]\nset = { \"null0.scheduler\" = \"none\", \"null0.nr_requests\" = \"4\" }\njob = [{ name = \"p\", probe = \"null0\" }]",
    );
    assert_eq!(file(&fewer).value, Some(8));
    let capped = truth_of("null = [{ mb_per_s = 20 }]\njob = [{ name = \"p\", probe = \"null0\" }]");
    assert_eq!((iops(&capped, 32), capped.bound_by[0]), (5100.0, Word::Throttle));
}

#[test]
fn fan_in_is_bound_at_the_target_unless_the_depths_leave_room() {
    let rig = |depth: u32, beside: &str| {
        truth_of(&format!(
            "null = [{{ hw_queue_depth = 16, service_us = 2000 }}]\nfan_in = {{ backend = \"null0\", hosts = 4 }}\nset = {{ \"port0.queue_depth\" = \"{depth}\", \"port1.queue_depth\" = \"16\" }}\njob = [{{ name = \"p\", probe = \"port0\", beside = [{beside}] }}]"
        ))
    };
    let other = "{ probe = \"port1\", concurrency = 32 }";
    let full = rig(4, other);
    // A depth below the target's slots fixes this host's part of them: both are true.
    let both = [Word::DeviceQueueLimit, Word::Device];
    assert_eq!((full.bound_by.as_slice(), full.advice.clone()), (both.as_slice(), AdviceTruth::Open));
    assert_eq!(iops(&full, 32), 1600.0, "4 of 20 at 8000");
    let alone = rig(4, "");
    assert_eq!((alone.bound_by.clone(), file(&alone).value), (vec![Word::DeviceQueueLimit], Some(8)));
    assert_eq!(rig(16, "").bound_by, [Word::DeviceQueueLimit, Word::Device], "as many as the target has");
    assert_eq!(rig(64, "").bound_by, [Word::Device]);
    assert_eq!(full.bound_by_at(32), both);
    let deep = rig(16, other);
    assert_eq!((deep.bound_by.clone(), deep.advice.clone()), (vec![Word::Device], AdviceTruth::NoFile));
}

#[test]
fn an_iscsi_window_is_the_targets() {
    let rig = |window: u32| {
        truth_of(&format!(
            "null = [{{ service_us = 5000 }}]\niscsi = {{ backend = \"null0\", cmdsn_window = {window}, queue_depth = 32 }}\njob = [{{ name = \"p\", probe = \"iscsi0\" }}]"
        ))
    };
    let truth = rig(16);
    assert_eq!((truth.bound_by.clone(), truth.advice.clone()), (vec![Word::Device], AdviceTruth::NoFile));
    assert_eq!(iops(&truth, 64), 3200.0);
    assert_eq!(rig(64).bound_by, [Word::DeviceQueueLimit]);
}

#[test]
fn a_groups_cap_waits_above_and_its_file_is_named() {
    let truth = truth_of(
        "scsi = {}\ncgroup = { io_max = { lun0 = \"riops=2000\" } }\njob = [{ name = \"p\", probe = \"lun0\" }]",
    );
    assert_eq!((truth.bound_by.clone(), iops(&truth, 32)), (vec![Word::Throttle], 2000.0));
    assert_eq!((file(&truth).files[0].as_str(), file(&truth).value), ("io.max", Some(4000)));
    assert_eq!(truth.model.as_ref().expect("computed").at(32).above.low, 30.0);
    let costs = truth_of(
        "scsi = {}\ncgroup = { cost_qos = { lun0 = \"enable=1\" } }\njob = [{ name = \"p\", probe = \"lun0\" }]",
    );
    assert!(costs.model.is_none() && costs.bound_by == [Word::Throttle]);
}

#[test]
fn maps() {
    let dm = |dm: &str, set: &str| {
        truth_of(&format!(
            "scsi = {{ hosts = 2, can_queue = 64 }}\ndm = [{{ name = \"mp0\", on = [\"lun0\", \"lun1\"], {dm} }}]\nset = {{ \"lun0.queue_depth\" = \"4\", \"lun1.queue_depth\" = \"{set}\" }}\njob = [{{ name = \"p\", probe = \"mp0\" }}]"
        ))
    };
    let even = dm("target = \"multipath\", selector = \"round-robin\", queue_mode = \"mq\"", "4");
    assert_eq!((even.bound_by.clone(), iops(&even, 64)), (vec![Word::DeviceQueueLimit], 8000.0));
    assert_eq!(file(&even).files, ["/sda/device/queue_depth", "/sdb/device/queue_depth"]);
    let uneven = dm("target = \"multipath\", selector = \"service-time\", queue_mode = \"mq\"", "16");
    assert_eq!((uneven.bound_by.clone(), uneven.whole_iops), (vec![Word::Path], Some(20_000.0)));
    assert_eq!((file(&uneven).files[0].as_str(), file(&uneven).value), ("/sda/device/queue_depth", Some(16)));
    assert_eq!(uneven.says, ["service-time"]);
    let both = dm("target = \"multipath\", selector = \"round-robin\", queue_mode = \"mq\"", "16");
    assert_eq!(both.bound_by, [Word::DeviceQueueLimit, Word::Path]);
    let hot = dm("target = \"linear\", percent = [80, 20]", "4");
    assert_eq!((hot.bound_by.clone(), file(&hot).files.len()), (vec![Word::DeviceQueueLimit], 1));
    assert_eq!(hot.model.as_ref().expect("computed").at(256).iops.high, 5000.0);
}

#[test]
fn what_the_guest_read_counts_more_than_what_was_asked() {
    let rig = rig_of(
        "scsi = {}\nset = { \"lun0.queue_depth\" = \"4\" }\njob = [{ name = \"a\", probe = \"lun0\" }, { name = \"b\", apply_advice_of = \"a\" }, { name = \"c\", probe = \"lun0\" }]",
    );
    let mut outcome = boot(&[("lun0", "sda")]);
    outcome.jobs = vec![JobOutcome::default(); 3];
    outcome.jobs[1].applied = Some(Applied {
        file: "/sys/block/sda/device/queue_depth".to_owned(),
        before: "4".to_owned(),
        written: "8".to_owned(),
        after: "8\n".to_owned(),
    });
    assert_eq!(iops(&truth::of(&rig, 0, &outcome), 64), 4000.0);
    assert_eq!(iops(&truth::of(&rig, 2, &outcome), 64), 8000.0, "the advice was followed");
    outcome.jobs[2].settings_before.insert("lun0.queue_depth".to_owned(), "6\n".to_owned());
    let clipped = truth::of(&rig, 2, &outcome);
    assert_eq!(iops(&clipped, 64), 6000.0);
    assert!(clipped.notes.iter().any(|n| n.contains("reads 6")), "{:?}", clipped.notes);
    outcome.jobs[2].settings_after.insert("lun0.queue_depth".to_owned(), "3".to_owned());
    assert!(truth::of(&rig, 2, &outcome).model.is_none(), "lowered under way");
}

#[test]
fn what_is_not_certain_is_not_computed() {
    for text in [
        "clock = \"real\"\nscsi = {}\njob = [{ name = \"p\", probe = \"lun0\" }]",
        "scsi = { options = [\"every_nth=50\"] }\njob = [{ name = \"p\", probe = \"lun0\" }]",
        "scsi = {}\nset = { \"lun0.scheduler\" = \"bfq\" }\njob = [{ name = \"p\", probe = \"lun0\" }]",
        "scsi = {}\nset = { \"lun0.state\" = \"offline\" }\njob = [{ name = \"p\", probe = \"lun0\" }]",
        "scsi = {}\njob = [{ name = \"p\", probe = \"lun0\", during = [{ at_s = 1.0 }] }]",
        "scsi = {}\njob = [{ name = \"p\", probe = \"lun0\", beside = [{ probe = \"lun0\" }] }]",
        "scsi = {}\njob = [{ name = \"p\", probe = \"lun0\", args = [\"--write\", \"30\"] }]",
        "scsi = {}\nset = { \"/sys/kernel/debug/scsi_debug/{lun0:hctl}/error\" = \"2 -9 0x28\" }\njob = [{ name = \"p\", probe = \"lun0\" }]",
    ] {
        let truth = truth_of(text);
        assert!(truth.model.is_none() && truth.bound_by.is_empty() && !truth.notes.is_empty(), "{text}");
    }
}
