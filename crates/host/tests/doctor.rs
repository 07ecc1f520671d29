//! What the doctor and the host facts say, of invented hosts and of this one.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::tree::Tree;
use host::doctor::{Check, State, examine, examine_target};
use host::{Root, facts};

fn find<'c>(checks: &'c [Check], id: &str) -> &'c Check {
    checks.iter().find(|c| c.id == id).unwrap_or_else(|| panic!("no check {id}"))
}

fn server() -> Tree {
    let tree = Tree::of(
        "/proc/sys/kernel/hostname = db1
         /proc/sys/kernel/osrelease = 5.14.0-503.el9.x86_64
         /proc/sys/kernel/io_uring_disabled = 2
         /proc/sys/fs/aio-nr = 65000
         /proc/sys/fs/aio-max-nr = 65536
         /proc/self/status = Name:x\\nUid:\\t1000\\t1000\\t1000\\t1000\\nCpus_allowed_list:\\t0-3,6
         /proc/self/mountinfo = 1 0 8:1 / / rw - xfs /dev/sda1 rw\\n2 1 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw
         /proc/stat = cpu  1 2 3 4 5 6 7 8 9 0
         /proc/meminfo = MemTotal:       65536000 kB\\nMemFree: 1 kB\\nMemAvailable:   32768000 kB
         /proc/cpuinfo = processor : 0\\nmodel name : Some CPU @ 2.00GHz\\nflags : fpu sse hypervisor
         /proc/1/cgroup = 0::/init.scope
         /sys/devices/system/cpu/online = 0-7
         /sys/class/dmi/id/sys_vendor = VMware, Inc.
         /sys/fs/cgroup/cgroup.controllers = cpu io memory
         /etc/os-release = NAME=\"Red Hat\"\\nPRETTY_NAME=\"Red Hat Enterprise Linux 9.5 (Plow)\"
         /etc/tuned/active_profile = throughput-performance",
    );
    tree.scsi(0, "sda", "8:0", "queue/iostats = 0");
    tree
}

#[test]
fn facts_of_a_host_come_from_its_files() {
    let facts = facts::read(&server().root());
    assert_eq!(facts.hostname.as_deref(), Some("db1"));
    assert_eq!(facts.kernel.as_deref(), Some("5.14.0-503.el9.x86_64"));
    assert_eq!(facts.distribution.as_deref(), Some("Red Hat Enterprise Linux 9.5 (Plow)"));
    assert_eq!(facts.cpu_model.as_deref(), Some("Some CPU @ 2.00GHz"));
    assert_eq!((facts.cpus_online, facts.cpus_allowed), (Some(8), vec![0, 1, 2, 3, 6]));
    assert_eq!(facts.memory_bytes, Some(65_536_000 * 1024));
    assert_eq!(facts.memory_available_bytes, Some(32_768_000 * 1024));
    assert_eq!(facts.virtualization.as_deref(), Some("VMware"));
    assert_eq!(facts.tuned_profile.as_deref(), Some("throughput-performance"));
    assert!(!facts.root);
}

#[test]
fn a_container_on_a_virtual_machine_is_told_as_both() {
    let tree = server();
    tree.write("proc/1/cgroup", "0::/kubepods/burstable/pod1\n");
    assert_eq!(facts::read(&tree.root()).virtualization.as_deref(), Some("container (kubepods) on VMware"));
}

#[test]
fn an_empty_host_has_no_facts() {
    assert_eq!(facts::read(&Tree::new().root()), record::HostFacts::default());
}

#[test]
fn the_doctor_says_what_is_missing_and_what_would_enable_it() {
    let checks = examine(&server().root());
    let ring = find(&checks, "io-uring");
    assert_eq!(ring.state, State::No);
    assert!(ring.remedy.as_ref().unwrap().contains("io_uring_disabled"));
    let aio = find(&checks, "libaio");
    assert_eq!(aio.state, State::Partly, "{aio:?}");
    assert!(aio.why.contains("65000 of 65536") && aio.remedy.as_ref().unwrap().contains("aio-max-nr"));
    let counters = find(&checks, "counters");
    assert_eq!((counters.state, counters.why.as_str()), (State::Partly, "accounting is off on sda"));
    assert_eq!(find(&checks, "lun-queue").state, State::Yes);
    assert_eq!(find(&checks, "queue-split").state, State::Partly);
    assert_eq!(find(&checks, "pressure").state, State::Partly);
    assert_eq!(find(&checks, "caps").state, State::Yes);
    assert_eq!(find(&checks, "tracing").state, State::No);
    assert!(find(&checks, "hardware").why.contains("VMware"));
}

#[test]
fn lockdown_ends_tracing_also_for_root() {
    let tree = server();
    tree.write("proc/self/status", "Uid:\t0\t0\t0\t0\n");
    tree.add("/sys/kernel/btf/vmlinux = x\n/sys/kernel/security/lockdown = none [integrity] confidentiality");
    let checks = examine(&tree.root());
    assert_eq!(find(&checks, "tracing").state, State::Yes);
    let blktrace = find(&checks, "blktrace");
    assert_eq!(blktrace.state, State::No);
    assert!(blktrace.why.contains("'integrity'"), "{}", blktrace.why);
    tree.write("sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
    assert_eq!(find(&examine(&tree.root()), "tracing").state, State::No);
}

#[test]
fn an_empty_root_is_examined_without_a_panic_and_every_no_has_a_reason() {
    for check in examine(&Tree::new().root()) {
        assert!(!check.why.is_empty() && !check.gives.is_empty(), "{check:?}");
    }
}

#[test]
fn this_host_is_examined_and_the_answer_is_json() {
    let mut checks = examine(&Root::system());
    checks.extend(examine_target(&Root::system(), std::path::Path::new("/var/tmp")));
    for check in &checks {
        eprintln!("{:?} {}: {} ({:?})", check.state, check.id, check.why, check.remedy);
    }
    let mut ids: Vec<&str> = checks.iter().map(|c| c.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), checks.len(), "ids are unique");
    let text = serde_json::to_string(&checks).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Check>>(&text).unwrap(), checks);
    assert_ne!(find(&checks, "counters").state, State::No);
}

#[test]
fn a_target_that_is_not_there_is_said() {
    let checks = examine_target(&Root::system(), std::path::Path::new("/no/such/place"));
    assert_eq!(find(&checks, "path").state, State::No);
    assert_eq!(find(&checks, "direct-io").state, State::No);
}
