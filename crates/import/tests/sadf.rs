//! sadf of sysstat: semicolons, tabs, JSON, XML.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Cpu, Device, Host, Partition};
use record::imported::Quantity::*;
use record::imported::{Basis, EventKind, RowsKind};
use support::{damaged, near, read_any, read_as, values};

const CSV: &str = "\
# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle
db1;600;2024-03-13 00:10:00 UTC;-1;10.00;0.00;5.00;20.00;0.00;65.00
db1;600;2024-03-13 00:10:00 UTC;0;11.00;0.00;5.00;20.00;0.00;64.00
db1;-1;2024-03-13 00:15:00 UTC;LINUX-RESTART\t(4 CPU)
db1;-1;2024-03-13 00:16:00 UTC;COM a load test begins
# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util
db1;600;2024-03-13 00:10:00 UTC;sda;100.00;800.00;200.00;4.00;10.00;0.50;5.00;40.00
db1;600;2024-03-13 00:10:00 UTC;sda1;100.00;800.00;200.00;4.00;10.00;0.50;5.00;40.00
db1;590;2024-03-13 00:19:50 UTC;sda;18446744073709551.00;8.00;2.00;0.00;10.00;0.00;5.00;4.00
# hostname;interval;timestamp;IFACE;rxpck/s;txpck/s;rxkB/s;txkB/s;rxcmp/s;txcmp/s;rxmcst/s;%ifutil
db1;600;2024-03-13 00:10:00 UTC;eth0;1.00;1.00;1.00;1.00;0.00;0.00;0.00;0.00
# hostname;interval;timestamp;INTR;CPU*
db1;600;2024-03-13 00:10:00 UTC;sum;500.00;250.00;250.00
db1;600;2024-03-13 00:10:00 UTC;8;1.00;0.00;1.00
";

#[test]
fn semicolons_of_several_tables() {
    let all = read_as("sadf-csv", CSV);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(all.hosts[0].name.as_deref(), Some("db1"));
    let sda = all.of(Device, "sda");
    let interval = sda[0].interval;
    assert_eq!((interval.at_s, interval.length_s, interval.basis), (1_710_288_600.0, 600.0, Basis::Utc));
    let wanted = [Iops, ReadBytesPerS, DiscardBytesPerS, RequestBytes, Outstanding, ResponseUs, BusyPercent];
    assert_eq!(values(sda[0], &wanted), [100.0, 819_200.0, 4096.0, 10_240.0, 0.5, 5000.0, 40.0]);
    // A counter that went back gives no rate.
    assert_eq!(
        (sda[1].value(Iops), sda[1].value(ReadBytesPerS), sda[1].origin.line),
        (None, Some(8192.0), 9)
    );
    assert_eq!(all.of(Partition, "sda1").len(), 1);
    assert_eq!(all.of(Cpu, "0")[0].value(CpuUserPercent), Some(11.0));
    assert!(all.of(Host, "").iter().any(|r| r.value(InterruptsPerS) == Some(500.0)));
    let kinds: Vec<_> = all.events.iter().map(|e| (e.kind, e.at_s)).collect();
    assert_eq!(kinds, [(EventKind::Restart, 1_710_288_900.0), (EventKind::Other, 1_710_288_960.0)]);
    assert_eq!(all.events[1].text, "a load test begins");
}

#[test]
fn all_items_on_one_line() {
    let text = "\
# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle;runq-sz;plist-sz;ldavg-1;ldavg-5;ldavg-15;blocked;DEV;tps;rd_sec/s;wr_sec/s;avgrq-sz;avgqu-sz;await;svctm;%util[...]
db1;5;1306544864;-1;10.00;0.00;5.00;20.00;0.00;65.00;3;200;1.50;1.00;0.50;2;dev8-0;10.00;80.00;0.00;8.00;0.01;1.00;1.00;1.00;dev8-16;20.00;160.00;0.00;8.00;0.02;1.00;1.00;2.00
";
    let all = read_as("sadf-csv", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(values(all.of(Device, "dev8-16")[0], &[Iops, ReadBytesPerS]), [20.0, 81_920.0]);
    assert!(
        all.of(Host, "").iter().any(|r| r.value(BlockedTasks) == Some(2.0) && r.value(Load1) == Some(1.5))
    );
    assert_eq!(all.rows[0].interval.at_s, 1_306_544_864.0);
}

#[test]
fn tabs_become_rows() {
    let mut text = String::new();
    for (time, tps) in [("01:07:44", "2.20"), ("01:07:49", "3.20")] {
        for (name, value) in [("tps", tps), ("rd_sec/s", "16.00"), ("await", "4.00"), ("%util", "0.50")] {
            text += &format!("db1\t5\t2011-05-28 {time} UTC\tsda\t{name}\t{value}\n");
        }
        for (name, value) in [("pgscank/s", "1.00"), ("pgscand/s", "2.00"), ("pgpgin/s", "4.00")] {
            text += &format!("db1\t5\t2011-05-28 {time} UTC\t-\t{name}\t{value}\n");
        }
        text += &format!("db1\t5\t2011-05-28 {time} UTC\tall\t%idle\t90.00\n");
    }
    text += "db1\t-1\t2011-05-28 01:08:00 UTC\tLINUX-RESTART\n";
    let all = read_as("sadf-tabs", &text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let sda = all.of(Device, "sda");
    assert_eq!((sda.len(), sda[1].interval.at_s), (2, 1_306_544_869.0));
    assert_eq!(values(sda[1], &[Iops, ReadBytesPerS, ResponseUs, BusyPercent]), [3.2, 8192.0, 4000.0, 0.5]);
    assert!(all.of(Host, "").iter().any(|r| r.value(PagesScannedPerS) == Some(3.0)));
    assert_eq!(all.events.len(), 1);
}

const JSON: &str = r#"{"sysstat": {
	"hosts": [
		{
			"nodename": "db1",
			"sysname": "Linux",
			"release": "5.14.0",
			"machine": "x86_64",
			"number-of-cpus": 4,
			"file-date": "2024-03-13",
			"statistics": [
				{
					"timestamp": {"date": "2024-03-13", "time": "00:10:00", "utc": 1, "interval": 600},
					"cpu-load": [
						{"cpu": "all", "user": 10.00, "system": 5.00, "iowait": 20.00, "idle": 65.00}
					],
					"swap-pages": {"pswpin": 2.00, "pswpout": 0.00},
					"io": {"tps": 20.00, "io-reads": {"rtps": 12.00, "bread": 50.00}, "io-writes": {"wtps": 8.00, "bwrtn": 30.00}},
					"disk": [
						{"disk-device": "sda", "tps": 100.00, "rd_sec": 1599.00, "rkB": 800.00, "avgrq-sz": 20.01, "areq-sz": 10.00, "avgqu-sz": 0.51, "aqu-sz": 0.50, "await": 5.00, "util-percent": 40.00}
					]
				}
			],
			"restarts": [
				{
					"boot": {"date": "2024-03-13", "time": "00:05:00", "tz": "UTC", "cpu_count": 4}
				}
			]
		}
	]
}}
"#;

#[test]
fn json_takes_kilobytes_where_both_units_stand() {
    let all = read_as("sadf-json", JSON);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let row = all.of(Device, "sda")[0];
    assert_eq!((row.interval.at_s, row.interval.length_s, row.origin.line), (1_710_288_600.0, 600.0, 19));
    let wanted = [ReadBytesPerS, RequestBytes, Outstanding, ResponseUs, BusyPercent];
    assert_eq!(values(row, &wanted), [819_200.0, 10_240.0, 0.5, 5000.0, 40.0]);
    let host = all.of(Host, "");
    assert!(host.iter().any(|r| values(r, &[WriteIops, WriteBytesPerS]) == [8.0, 15_360.0]));
    assert!(host.iter().any(|r| r.value(SwapInBytesPerS) == Some(8192.0)));
    assert_eq!((all.events[0].kind, all.events[0].at_s), (EventKind::Restart, 1_710_288_300.0));
    assert_eq!((all.hosts[0].processors, all.hosts[0].release.as_deref()), (Some(4), Some("5.14.0")));
}

const XML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE Configure PUBLIC "DTD v1.0 sysstat //EN"
"http://perso.orange.fr/sebastien.godard/sysstat.dtd">
<sysstat>
	<sysdata-version>1.0</sysdata-version>
	<host nodename="db&amp;1">
		<release>2.6.18-308.el5</release>
		<machine>x86_64</machine>
		<statistics>
			<timestamp date="2012-09-20" time="14-35-01" interval="60">
				<cpu-load>
					<cpu number="all" user="2,53" nice="0,00" system="0,80" iowait="11,04" steal="0,00" idle="85,63"/>
				</cpu-load>
				<interrupts><int-global per="second"><irq intr="sum" value="1144,86"/></int-global></interrupts>
				<io per="second">
					<tps>482,39</tps>
					<io-reads rtps="446,99" bread="7576,00"/>
				</io>
				<memory per="second" unit="kB">
					<memfree>4</memfree>
					<buffers>1</buffers>
					<cached>2</cached>
				</memory>
				<disk per="second">
					<disk-device dev="sda" tps="10,00" rd_sec="16,00" wr_sec="0,00" avgrq-sz="8,00" avgqu-sz="0,01" await="1,50" svctm="1,00" util-percent="1,00"/>
				</disk>
			</timestamp>
		</statistics>
		<restarts><boot date="2012-09-20" time="14:29:37"/></restarts>
	</host>
</sysstat>
"#;

#[test]
fn xml_of_the_first_version_with_decimal_commas() {
    let all = read_as("sadf-xml", XML);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(all.hosts[0].name.as_deref(), Some("db&1"));
    let row = all.of(Device, "sda")[0];
    assert_eq!((row.interval.basis, row.interval.length_s, row.origin.line), (Basis::Local, 60.0, 25));
    assert_eq!(values(row, &[Iops, ReadBytesPerS, RequestBytes, ResponseUs]), [10.0, 8192.0, 4096.0, 1500.0]);
    let host = all.of(Host, "");
    assert!(host.iter().any(|r| values(r, &[Iops, ReadBytesPerS]) == [482.39, 7576.0 * 512.0]));
    assert!(host.iter().any(|r| values(r, &[FreeBytes, CacheBytes]) == [4096.0, 3072.0]));
    assert!(host.iter().any(|r| r.value(CpuIowaitPercent) == Some(11.04)));
    assert!(host.iter().any(|r| r.value(InterruptsPerS) == Some(1144.86)));
    assert_eq!(all.events[0].kind, EventKind::Restart);
}

#[test]
fn a_damaged_row_is_complained_about_and_the_rest_is_kept() {
    let all = read_as("sadf-csv", &CSV.replace("sda1;100.00;800.00", "sda1;100.00;8x0.00"));
    assert_eq!((all.complaints.len(), all.complaints[0].1.line), (1, 8));
    assert_eq!(all.of(Device, "sda").len(), 2);
    let cut = &XML[..XML.find("<disk per").unwrap() + 30];
    let all = read_as("sadf-xml", cut);
    assert!(all.of(Host, "").len() > 2);
    let kinds = read_as("sadf-json", &JSON[..JSON.find("\"restarts\"").unwrap() - 20]);
    assert_eq!(kinds.of(Device, "sda")[0].interval.kind, RowsKind::Interval);
}

proptest! {
    #[test]
    fn rows_come_back_as_they_were_printed(
        devices in prop::collection::vec(("[a-z]{1,3}[a-z0-9_:-]{0,20}", prop::collection::vec(0.0..1e6f64, 8)), 1..20)
    ) {
        let mut text = String::from("# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util\n");
        for (name, numbers) in &devices {
            let cells: Vec<String> = numbers.iter().map(|n| format!("{n:.2}")).collect();
            text += &format!("h;5;2024-03-13 00:10:00;{name};{}\n", cells.join(";"));
        }
        let (all, _) = read_any(text.as_bytes());
        prop_assert_eq!(all.rows.len(), devices.len());
        let order = [(Iops, 1.0), (ReadBytesPerS, 1024.0), (WriteBytesPerS, 1024.0), (DiscardBytesPerS, 1024.0),
            (RequestBytes, 1024.0), (Outstanding, 1.0), (ResponseUs, 1e3), (BusyPercent, 1.0)];
        for (row, (name, numbers)) in all.rows.iter().zip(&devices) {
            prop_assert_eq!(&all.places[row.place as usize].name, name);
            for ((quantity, factor), printed) in order.iter().zip(numbers) {
                let printed: f64 = format!("{printed:.2}").parse().unwrap();
                prop_assert!(near(row.value(*quantity).unwrap(), printed * factor));
            }
        }
    }

    #[test]
    fn no_damage_panics(csv in damaged(CSV), json in damaged(JSON), xml in damaged(XML)) {
        read_any(&csv);
        read_any(&json);
        read_any(&xml);
    }
}

#[test]
fn devices_and_interfaces_on_one_line() {
    let text = "\
# hostname;interval;timestamp;INTR;CPU*[...];pswpin/s;pswpout/s;DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util[...];IFACE;rxpck/s;txpck/s;rxkB/s;txkB/s;rxcmp/s;txcmp/s;rxmcst/s;%ifutil[...]
db1;5;2024-03-13 00:10:00;sum;5.00;2.00;3.00;8;1.00;1.00;0.00;1.00;2.00;loop0;1.00;0.00;0.00;0.00;0.00;0.00;0.00;0.00;sda;9.00;0.00;0.00;0.00;0.00;0.00;0.00;0.00;lo;1.00;1.00;0.00;0.00;0.00;0.00;0.00;0.00;eth0;1.00;1.00;0.00;0.00;0.00;0.00;0.00;0.00
";
    let all = read_as("sadf-csv", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!((all.rows.len(), all.of(Device, "sda")[0].value(Iops)), (4, Some(9.0)));
    let host = all.of(Host, "");
    assert!(host.iter().any(|r| r.value(InterruptsPerS) == Some(5.0)));
    assert!(host.iter().any(|r| r.value(SwapOutPagesPerS) == Some(2.0)));
}
