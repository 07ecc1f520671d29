//! Whole cases: texts of several tools of one host, through their readers, and what is found in them.

mod reading_text;

use analyze::reading::findings;
use analyze::{Finding, Severity};
use reading_text::{IOSTAT_XM, digest, iostat_xm_row, told};

fn found(texts: &[(&str, &str)], id: &str) -> Vec<Finding> {
    findings(&digest(texts)).into_iter().filter(|f| f.id == id).collect()
}

fn only(texts: &[(&str, &str)], id: &str) -> Finding {
    let mut all = found(texts, id);
    assert_eq!(all.len(), 1, "{id}: {all:#?}");
    all.remove(0)
}

#[test]
fn iostat_and_the_depth_from_another_text() {
    let mut iostat = "Linux 4.18.0-372.el8.x86_64 (db1) \t03/07/2023 \t_x86_64_\t(16 CPU)\n\n".to_owned();
    for _ in 0..6 {
        iostat += IOSTAT_XM;
        iostat += &iostat_xm_row("sdb", [8000.0, 0.0, 62.5, 0.0, 16.0, 80.0, 10.0, 10.0, 0.0, 0.12, 100.0]);
        iostat += "\n";
    }
    let depth = "/sys/block/sdb/device/queue_depth:32\n/sys/block/sdb/queue/scheduler:noop [deadline] cfq\n";
    let finding = only(&[("case/iostat", &iostat), ("case/sysfs", depth)], "PL101");
    assert!(finding.title.starts_with("at least 48.0 I/Os wait in the host for sdb"), "{}", finding.title);
    assert_eq!(finding.host.as_deref(), Some("db1"));
    assert!(
        finding.evidence.iter().any(|e| e.file.as_ref().is_some_and(|f| f.ends_with("case/sysfs"))),
        "{:?}",
        finding.evidence
    );
    assert_eq!(found(&[("case/iostat", &iostat)], "PL101").len(), 0);
}

const HDISK: &str = "\
# lsattr -El hdisk4
algorithm       fail_over         Algorithm               True
hcheck_interval 0                 Health Check Interval   True
max_transfer    0x40000           Maximum TRANSFER Size   True
queue_depth     32                Queue DEPTH             True
reserve_policy  single_path       Reserve Policy          True
";

const FCS: &str = "\
# lsattr -El fcs1
lg_term_dma   0x800000   Long term DMA                                      True
max_xfer_size 0x1000000  Maximum Transfer Size                              True
num_cmd_elems 2048       Maximum number of COMMANDS to queue to the adapter True
";

const ERRPT: &str = "\
IDENTIFIER TIMESTAMP  T C RESOURCE_NAME  DESCRIPTION
7BFEEA1F   0612101413 T H fscsi1         LINK ERROR
7BFEEA1F   0612101313 T H fscsi1         LINK ERROR
7BFEEA1F   0612101213 T H fscsi1         LINK ERROR
";

const FCSTAT: &str = "\
FIBRE CHANNEL STATISTICS REPORT: fcs1

Device Type: 8Gb PCI Express Dual Port FC Adapter (df1000f114108a03)
Seconds Since Last Reset: 864000

FC SCSI Adapter Driver Information
  No DMA Resource Count: 7200
  No Adapter Elements Count: 0
  No Command Resource Count: 0
";

#[test]
fn the_accident_of_an_aix_host() {
    let texts = [("case/hdisk", HDISK), ("case/fcs", FCS), ("case/errpt", ERRPT), ("case/fcstat", FCSTAT)];
    let accident = only(&texts, "PL108");
    assert!(
        accident
            .title
            .starts_with("fcs1 with num_cmd_elems 2048 and max_xfer_size of 16 MiB, 1 disk at a depth of 32"),
        "{}",
        accident.title
    );
    assert_eq!(accident.severity, Severity::High);
    let dma = only(&texts, "PL106");
    assert!(dma.title.starts_with("fcs1 had no DMA memory free 7200 times, in the 10 days"), "{}", dma.title);
    assert!(dma.advice[0].contains("do not raise queue_depth yet"), "{:?}", dma.advice);
    let errors = only(&texts, "PL107");
    assert!(errors.title.starts_with("3 adapter or link errors at fscsi1"), "{}", errors.title);
    // One path, as far as is known: nothing is serialised.
    assert_eq!(found(&texts, "PL115").len(), 0);
}

#[test]
fn paths_of_aix_and_settings_that_use_one() {
    let lsmpio = "\
name    path_id  status   path_status  parent  connection
hdisk4  0        Enabled  Sel          fscsi0  500507680140581e,1000000000000
hdisk4  1        Failed   Fai          fscsi1  500507680130581e,1000000000000
";
    let texts = [("case/hdisk", HDISK), ("case/lsmpio", lsmpio)];
    let failed = only(&texts, "PL109");
    assert!(failed.title.starts_with("1 of 2 paths of hdisk4 are failed or degraded"), "{}", failed.title);
    assert_eq!(failed.severity, Severity::High);
    let one = only(&texts, "PL115");
    for setting in ["algorithm=fail_over", "reserve_policy=single_path", "hcheck_interval=0"] {
        assert!(one.title.contains(setting), "{}", one.title);
    }
}

#[test]
fn multipath_maps() {
    let text = "\
mpatha (360060e80132a5c0050202a5c00000012) dm-2 HITACHI,DF600F
size=100G features='1 queue_if_no_path' hwhandler='0' wp=rw
`-+- policy='round-robin 0' prio=1 status=active
  |- 2:0:0:1 sdb 8:16 active ready running
  |- 2:0:1:1 sdc 8:32 active ready running
  `- 3:0:0:1 sdd 8:48 failed faulty running
";
    let finding = only(&[("case/multipath", text)], "PL109");
    assert!(finding.title.contains("1 of 3 paths of mpatha"), "{}", finding.title);
    assert_eq!(finding.severity, Severity::Medium);
    assert_eq!(only(&[("case/multipath", text)], "PL111").severity, Severity::Info);

    let depths = "/sys/block/sdb/device/queue_depth:64\n/sys/block/sdc/device/queue_depth:64\n/sys/block/sdd/device/queue_depth:64\n";
    let finding = only(&[("case/multipath", text), ("case/sysfs", depths)], "PL104");
    assert!(finding.title.contains("64 at once, and the array takes 32 per LUN"), "{}", finding.title);
    let shallow = depths.replace("64", "8");
    assert_eq!(found(&[("case/multipath", text), ("case/sysfs", &shallow)], "PL104").len(), 0);
}

#[test]
fn a_table_of_schedulers() {
    let table = "\
scheduler transactions per second log file sync % user calls
noop 81.20 2.9 371.02
cfq 29.70 35.1 134.11
deadline 80.10 3.0 366.80
";
    let finding = only(&[("case/table", table)], "PL304");
    assert!(
        finding.title.starts_with("noop and deadline are ahead of cfq beyond doubt")
            && finding.title.ends_with("noop against deadline (+1.4 %) is undecided"),
        "{}",
        finding.title
    );
    assert!(told(&finding).contains("cfq 35.1 %"), "{}", told(&finding));
}

#[test]
fn iostat_of_solaris_with_a_full_lun() {
    let mut text = String::new();
    for n in 0..8 {
        text += "                    extended device statistics              \n";
        text += "    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device\n";
        let rate = 400 + n;
        text += &format!("  {rate}.0    0.0 3200.0    0.0 12.0  8.0   30.0   20.0  99 100 c4t600A0B8d0\n");
    }
    let finding = only(&[("case/iostat", &text)], "PL101");
    assert!(finding.title.contains("whose own queue is full at 8"), "{}", finding.title);
    // With a throttle of 256 told, eight is somebody else's limit.
    assert_eq!(finding.severity, Severity::High);
}

#[test]
fn parameters_of_a_report() {
    let text = "\
WORKLOAD REPOSITORY report for

DB Name         DB Id    Instance     Inst Num Startup Time    Release     RAC
------------ ----------- ------------ -------- --------------- ----------- ---
SALES         2222222222 sales               1 01-Mar-13 07:00 11.2.0.3.0  NO

init.ora Parameters            DB/Inst: SALES/sales  Snaps: 10-11

                                                                End value
Parameter Name                Begin value                       (if different)
----------------------------- --------------------------------- --------------
disk_asynch_io                FALSE
          -------------------------------------------------------------

End of Report
";
    let finding = only(&[("case/awr", text)], "PL402");
    assert_eq!(
        finding.title,
        "sales runs with disk_asynch_io=false: each of its processes has one I/O outstanding at a time"
    );
    assert_eq!(found(&[("case/awr", &text.replace("FALSE", "TRUE "))], "PL402").len(), 0);
}
