//! SLOB: `awr_info.txt` and `slob.conf`.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Job, WaitEvent};
use record::imported::Quantity::*;
use support::{damaged, read_any, read_as, values};

const INFO: &str = "\
FILE|SESSIONS|ELAPSED|DB CPU|DB Tm|EXECUTES|LIO|PREADS|READ_MBS|PWRITES|WRITE_MBS|REDO_MBS|DFSR_LAT|DPR_LAT|DFPR_LAT|DFPW_LAT|LFPW_LAT|TOP WAIT|
awr.txt.32|32|604|2|17.9|1195|8845|3431|    27.5|804|      5|.4|    4659|0|0|    2414|    6375|db file sequential read 2066562 9628.3 4.66ms 88.9 User I/O|
awr.txt||300|2.1|8.0|900|7000|3000||400|2|.2|    2500|0|0|    1000|    900|log file sync|
";

const CONF: &str = "\
#### SLOB 2.5.2.4 slob.conf

UPDATE_PCT=3
RUN_TIME=300
SCALE=8G
WORK_UNIT=16
DATABASE_STATISTICS_TYPE=awr   # Permitted values: [statspack|awr]
SQLNET_SERVICE_BASE=\"sales\"
SYSDBA_PASSWD=\"secret\"
THINK_TM_MIN=.1
";

#[test]
fn rates_and_latencies_of_each_run() {
    let all = read_as("slob-awr-info", INFO);
    assert!(all.complaints.is_empty() && all.remarks.is_empty(), "{:?}", all.complaints);
    let run = all.of(Job, "awr.txt.32")[0];
    let wanted = [
        Concurrency,
        DatabaseCpuPerS,
        ActiveSessions,
        ExecutionsPerS,
        LogicalReadsPerS,
        ReadIops,
        ReadBytesPerS,
    ];
    assert_eq!(values(run, &wanted), [32.0, 2.0, 17.9, 1195.0, 8845.0, 3431.0, 27.5 * 1_048_576.0]);
    assert_eq!((run.value(WriteIops), run.interval.length_s), (Some(804.0), 604.0));
    let reads = all.of(WaitEvent, "db file sequential read");
    assert_eq!((reads.len(), reads[0].value(WaitUs), reads[0].interval.length_s), (2, Some(4659.0), 604.0));
    assert_eq!(reads[0].origin.line, run.origin.line);
    // The script writes 0 where there were no such waits.
    assert!(all.of(WaitEvent, "direct path read").is_empty());
    let second = all.of(Job, "awr.txt")[0];
    assert_eq!((second.value(Concurrency), second.value(ReadBytesPerS)), (None, None));
    assert_eq!(all.fact("awr.txt", "top_wait").unwrap().text(), "log file sync");
}

#[test]
fn the_configuration_without_its_password() {
    let all = read_as("slob-conf", CONF);
    let text = |name| all.fact("SLOB", name).map(|v| v.text());
    assert_eq!((text("update_pct").as_deref(), text("scale").as_deref()), (Some("3"), Some("8G")));
    assert_eq!(
        (text("database_statistics_type").as_deref(), text("think_tm_min").as_deref()),
        (Some("awr"), Some("0.1"))
    );
    assert_eq!(
        (text("slob_release").as_deref(), text("sqlnet_service_base").as_deref()),
        (Some("2.5.2.4"), Some("sales"))
    );
    assert_eq!(text("sysdba_passwd"), None);
}

#[test]
fn a_damaged_run_is_complained_about_and_the_rest_is_kept() {
    let all = read_as("slob-awr-info", &INFO.replace("|3431|", "|34x31|"));
    assert_eq!((all.complaints.len(), all.complaints[0].1.line), (1, 2));
    assert_eq!(all.of(Job, "awr.txt").len(), 1);
}

proptest! {
    #[test]
    fn no_damage_panics(bytes in damaged(INFO)) {
        read_any(&bytes);
    }

    #[test]
    fn no_damage_of_the_configuration_panics(bytes in damaged(CONF)) {
        read_any(&bytes);
    }
}
