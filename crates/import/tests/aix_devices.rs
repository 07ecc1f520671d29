//! fcstat, lsattr, lsmpio and errpt of AIX.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::{EventKind, Gathered, PlaceKind, Value, facts};
use support::{damaged, read_any, read_as};

fn number(all: &Gathered, place: &str, name: &str) -> f64 {
    all.fact(place, name).and_then(Value::number).unwrap_or(f64::NAN)
}

const FCSTAT: &str = "\
FIBRE CHANNEL STATISTICS REPORT: fcs2

Device Type: 8Gb PCI Express Dual Port FC Adapter (df1000f114108a03) (adapter/pciex/df1000f114108a0)
Serial Number: 1C12345678
World Wide Node Name: 0x20000120FA000001
World Wide Port Name: 0x10000120FA000001

FC-4 TYPES:
  Supported: 0x0000012000000000000000000000000000000000000000000000000000000000
  Active:    0x0000010000000000000000000000000000000000000000000000000000000000
Class of Service: 3
Port Speed (supported): 8 GBIT
Port Speed (running):   4 GBIT
Port FC ID: 0x010700
Port Type: Fabric

Seconds Since Last Reset: 86400

        Transmit Statistics     Receive Statistics
        -------------------     ------------------
Frames: 1000                    2000
Words:  10000                   20000

Error Frames:  7
Loss of Sync Count: 6

IP over FC Adapter Driver Information
  No DMA Resource Count: 1
  No Adapter Elements Count: 2

FC SCSI Adapter Driver Information
  No DMA Resource Count: 30
  No Adapter Elements Count: 40
  No Command Resource Count: 50

FC SCSI Traffic Statistics
  Input Requests:   16289
  Output Requests:  48930
  Input Bytes:  128349517
";

#[test]
fn shortages_of_the_scsi_driver_and_speed() {
    let all = read_as("aix-fcstat", FCSTAT);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    for (name, wanted) in [
        (facts::NO_DMA_RESOURCE, 30.0),
        (facts::NO_ADAPTER_ELEMENTS, 40.0),
        (facts::NO_COMMAND_RESOURCE, 50.0),
        (facts::SINCE_RESET_S, 86_400.0),
        (facts::PORT_SPEED_BITS_PER_S, 4e9),
        ("ip_no_dma_resource_count", 1.0),
        ("transmit_frames", 1000.0),
        ("receive_words", 20_000.0),
        ("error_frames", 7.0),
        ("scsi_input_requests", 16_289.0),
    ] {
        assert_eq!(number(&all, "fcs2", name), wanted, "{name}");
    }
    assert_eq!(all.fact("fcs2", facts::WWID), Some(&Value::from("0x10000120FA000001")));
    assert_eq!(all.places[0].kind, PlaceKind::Adapter);
}

#[test]
fn older_words_and_errors_of_fcstat() {
    let old = FCSTAT
        .replace("FC-4 TYPES:", "FC4 Types")
        .replace("World Wide Node Name", "Node WWN")
        .replace("World Wide Port Name", "Port WWN")
        .replace("Frames: 1000                    2000", "Frames: 1000              Frames: 2000");
    let all = read_as("aix-fcstat", &old);
    assert_eq!(number(&all, "fcs2", "receive_frames"), 2000.0);
    assert!(all.fact("fcs2", facts::WWID).is_some());
    let all = read_as("aix-fcstat", "Error opening device: /dev/fscsi3\n\nerrno: 00000046\n");
    assert_eq!(all.complaints.len(), 2);
    let all = read_as("aix-fcstat", &FCSTAT.replace("Count: 40", "Count: 4x"));
    assert_eq!((all.complaints.len(), number(&all, "fcs2", facts::NO_COMMAND_RESOURCE)), (1, 50.0));
}

const LSATTR: &str = "\
$ lsattr -El hdisk16
PCM             PCM/friend/fcpother                Path Control Module              False
algorithm       round_robin                        Algorithm                        True
hcheck_interval 60                                 Health Check Interval            True+
location                                           Location Label                   True+
lun_id          0x1000000000000                    Logical Unit Number ID           False
max_transfer    0x80000                            Maximum TRANSFER Size            True
pvid            00c123456789abcd0000000000000000   Physical volume identifier       False
queue_depth     20                                 Queue DEPTH                      True
reserve_policy  no_reserve                         Reserve Policy                   True
$ lsattr -El fcs0
lg_term_dma   0x800000   Long term DMA                                      True
max_xfer_size 0x1000000  Maximum Transfer Size                              True
num_cmd_elems 2048       Maximum number of COMMANDS to queue to the adapter True
";

#[test]
fn attributes_belong_to_the_device_of_the_command() {
    let all = read_as("aix-lsattr", LSATTR);
    assert!(all.complaints.is_empty() && all.remarks.is_empty(), "{:?} {:?}", all.complaints, all.remarks);
    assert_eq!(number(&all, "hdisk16", facts::QUEUE_DEPTH), 20.0);
    assert_eq!(number(&all, "hdisk16", facts::MAX_TRANSFER_BYTES), 524_288.0);
    assert_eq!(number(&all, "hdisk16", "hcheck_interval_s"), 60.0);
    assert_eq!(all.fact("hdisk16", facts::PATH_SELECTOR), Some(&Value::from("round_robin")));
    assert_eq!(all.fact("hdisk16", "location"), Some(&Value::from("")));
    assert_eq!(number(&all, "fcs0", facts::MAX_TRANSFER_BYTES), 16_777_216.0);
    assert_eq!(number(&all, "fcs0", facts::ADAPTER_COMMANDS), 2048.0);
}

#[test]
fn attributes_of_no_device_are_said_to_be_so() {
    let text = "queue_depth 16 Queue DEPTH True\nrw_timeout 30 READ/WRITE time out value True\nqueue_depth 32 Queue DEPTH True\n";
    let all = read_as("aix-lsattr", text);
    assert_eq!((all.facts.len(), all.remarks.len()), (3, 2), "{:?}", all.remarks);
    assert_eq!(all.places[0].name, "");
    let looped = "hdisk1\nqueue_depth 16 Queue DEPTH True\nhdisk2\nqueue_depth 32 Queue DEPTH True\n";
    let all = read_as("aix-lsattr", looped);
    assert_eq!((number(&all, "hdisk1", "queue_depth"), number(&all, "hdisk2", "queue_depth")), (16.0, 32.0));
    let all = read_as("aix-lsattr", &LSATTR.replace("2048 ", "many "));
    assert_eq!(all.complaints.len(), 1);
}

const LSMPIO: &str = "\
name    path_id  status   path_status  parent  connection
==========================================================
hdisk0  0        Enabled  Opt,Sel      fscsi0  500a098186a7d4ca,8000000000000
hdisk0  1        Failed                fscsi1  500a098196a7d4ca,8000000000000
";

#[test]
fn paths_and_their_disks() {
    let all = read_as("aix-lsmpio", LSMPIO);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(all.fact("hdisk0/Path0", facts::PART_OF), Some(&Value::from("hdisk0")));
    assert_eq!(all.fact("hdisk0/Path1", facts::PATH_STATE), Some(&Value::from("Failed")));
    assert_eq!(all.fact("hdisk0/Path1", "adapter"), Some(&Value::from("fscsi1")));
    let all = read_as("aix-lsmpio", &LSMPIO.replace("hdisk0  0 ", "hdisk0  x "));
    assert_eq!(all.complaints.len(), 1);
}

const ERRPT: &str = "\
IDENTIFIER TIMESTAMP  T C RESOURCE_NAME  DESCRIPTION
DE3B8540   1120101513 P H hdisk4         PATH HAS FAILED
F31FFAC3   1120101613 I H hdisk4         PATH HAS RECOVERED
B6048838   1120101713 P S SYSPROC        SOFTWARE PROGRAM ABNORMALLY TERMINATED
7B3B1D2E   1120101813 T H fcs1           LINK ERROR
DCB47997   1120101913 T H hdisk4         DISK OPERATION ERROR
2BFA76F6   1120102013 T S SYSPROC        SYSTEM SHUTDOWN BY USER
";

#[test]
fn entries_and_what_they_mean() {
    let all = read_as("aix-errpt", ERRPT);
    let kinds: Vec<EventKind> = all.events.iter().map(|e| e.kind).collect();
    use EventKind::*;
    assert_eq!(kinds, [PathFailed, PathRestored, Other, AdapterError, DiskError, Restart]);
    // 2013-11-20 10:15 on the host's clock.
    assert_eq!(all.events[0].at_s, 1_384_942_500.0);
    let bad = read_as("aix-errpt", &ERRPT.replace("1120101913", "1320101913"));
    assert_eq!((bad.events.len(), bad.complaints.len()), (5, 1), "{:?}", bad.complaints);
}

const DETAIL: &str = "\
---------------------------------------------------------------------------
LABEL:          FCP_ERR4
IDENTIFIER:     7BFEEA1F

Date/Time:       Wed Nov 20 15:29:45 CST 2013
Sequence Number: 25
Node Id:         db1
Class:           H
Type:            TEMP
Resource Name:   fscsi1

Description
LINK ERROR

Detail Data
SENSE DATA
0000 0020 0000 0327 0000 0000
---------------------------------------------------------------------------
LABEL:          SC_DISK_ERR4
IDENTIFIER:     DCB47997

Date/Time:       Wed Nov 20 15:30:45 2013
Resource Name:   hdisk3

Description
DISK OPERATION ERROR
";

#[test]
fn detailed_entries() {
    let all = read_as("aix-errpt", DETAIL);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(all.hosts[0].name.as_deref(), Some("db1"));
    let told: Vec<_> = all.events.iter().map(|e| (e.kind, e.at_s, e.text.as_str())).collect();
    assert_eq!(
        told,
        [
            (EventKind::AdapterError, 1_384_961_385.0, "FCP_ERR4 LINK ERROR"),
            (EventKind::DiskError, 1_384_961_445.0, "SC_DISK_ERR4 DISK OPERATION ERROR"),
        ]
    );
}

#[test]
fn one_capture_of_several_commands() {
    let text = format!(
        "root@db1:/# fcstat fcs2\n\n{FCSTAT}root@db1:/# lsattr -El hdisk16\n{}",
        &LSATTR[LSATTR.find("PCM").unwrap()..]
    );
    let (all, reading) = read_any(text.as_bytes());
    assert_eq!(reading.read[0].1, ["aix-fcstat", "aix-lsattr"]);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(number(&all, "hdisk16", facts::QUEUE_DEPTH), 20.0);
}

proptest! {
    #[test]
    fn no_damage_panics(
        a in damaged(FCSTAT), b in damaged(LSATTR), c in damaged(LSMPIO), d in damaged(ERRPT), e in damaged(DETAIL)
    ) {
        for bytes in [a, b, c, d, e] {
            read_any(&bytes);
        }
    }
}
