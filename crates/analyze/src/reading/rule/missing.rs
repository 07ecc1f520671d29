//! What else to collect, where a verdict is near and a text is missing for it.

use super::words::time;
use crate::finding::Finding;
use crate::reading::case::{ReadCase, computed};
use crate::reading::point::DevicePoint;
use crate::rulebook::Rule;
use record::imported::{HostId, PlaceId, PlaceKind, Platform, facts};

/// PL606: the commands that would settle it, one finding per host.
pub(super) fn missing(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    case.hosts().filter_map(|host| of_host(case, rule, host)).collect()
}

fn of_host(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    let platform = case.platform(host);
    let told = |name: &str| case.digest.facts_named(name).any(|f| case.host(f.place) == host);
    let mut wanted: Vec<String> = Vec::new();
    let queued = longest_queue(case, host).filter(|(_, p)| p.outstanding >= rule.threshold("outstanding"));
    if let Some((place, _)) = queued {
        let name = &case.digest.place_of(place).name;
        if case.queue_depth(place).is_none() {
            wanted.extend(depth(platform, name));
        }
        if platform == Platform::Aix {
            if !told(facts::ADAPTER_COMMANDS) {
                wanted.push("lsattr -El fcsN of each adapter: num_cmd_elems and max_xfer_size".to_owned());
            }
            if !told(facts::NO_COMMAND_RESOURCE) {
                wanted.push(
                    "fcstat fcsN twice, some minutes apart: whether commands or DMA memory ran out"
                        .to_owned(),
                );
            }
        }
        if platform == Platform::Linux
            && case.digest.place_of(place).name.starts_with("dm-")
            && !told(facts::PATH_STATE)
        {
            wanted.push("multipath -ll: the paths of each map and their state".to_owned());
        }
        let is_host_told = case.processors_told(host);
        if !is_host_told {
            wanted.extend(processors(platform));
        }
    }
    wanted.extend(database(case, host, rule));
    let first = wanted.first()?;
    let title = match queued {
        Some((place, point)) => format!(
            "to tell why {:.1} I/Os stand at {} ({}), collect: {}",
            point.outstanding,
            case.digest.place_of(place).name,
            time(point.response_us),
            short(first)
        ),
        None => format!("to tell where the database's I/O waits, collect: {}", short(first)),
    };
    let evidence = queued.map(|(_, p)| case.line(p.origin)).into_iter();
    let evidence = evidence.chain(wanted.iter().map(|w| computed(format!("collect: {w}")))).collect();
    let mut finding = case.finding_of_host(rule, host, title, evidence);
    finding.advice = wanted.into_iter().chain(finding.advice).collect();
    Some(finding)
}

fn short(text: &str) -> &str {
    text.split(": ").next().unwrap_or(text)
}

fn longest_queue(case: &ReadCase<'_>, host: HostId) -> Option<(PlaceId, DevicePoint)> {
    let disks = case.devices().filter(|(p, kind, _)| {
        matches!(kind, PlaceKind::Device | PlaceKind::Volume | PlaceKind::Path) && case.host(*p) == host
    });
    let longest = disks.filter_map(|(place, _, s)| {
        Some((place, DevicePoint::together(s.busy())?, *s.most_outstanding().first()?))
    });
    let best = longest.max_by(|a, b| a.1.outstanding.total_cmp(&b.1.outstanding))?;
    Some((best.0, DevicePoint { origin: best.2.origin, ..best.1 }))
}

fn depth(platform: Platform, name: &str) -> Option<String> {
    let text = match platform {
        Platform::Linux => "grep -H . /sys/block/*/device/queue_depth /sys/block/*/queue/{nr_requests,scheduler,max_sectors_kb}: the depth of each LUN queue".to_owned(),
        Platform::Aix => format!("lsattr -El {name} (and of its like): queue_depth, max_transfer"),
        Platform::Solaris => "prtconf -v, /etc/system and sd.conf or ssd.conf (sd_max_throttle, throttle-max), lpfc.conf or emlxs.conf: the throttle of each LUN".to_owned(),
        Platform::HpUx => format!("scsictl -m queue_depth {name} (or scsimgr get_attr -a max_q_depth): the depth of each LUN queue"),
        Platform::FreeBsd => format!("camcontrol tags {name} -v: the openings of each LUN"),
        Platform::Esxi => "esxcli storage core device list: Device Max Queue Depth and No of outstanding IOs with competing worlds".to_owned(),
        Platform::Unknown => return None,
    };
    Some(text)
}

fn processors(platform: Platform) -> Option<String> {
    let text = match platform {
        Platform::Linux => "mpstat -P ALL 1: whether a processor is full",
        Platform::Solaris => "mpstat 1 and vmstat 1: whether a processor is full",
        Platform::Aix => "mpstat 1 or lparstat 1: whether a processor is full, and what the hypervisor gives",
        Platform::HpUx => "sar -Mu 1: whether a processor is full",
        _ => return None,
    };
    Some(text.to_owned())
}

/// A database's report whose host told nothing of its disks.
fn database(case: &ReadCase<'_>, host: HostId, rule: &Rule) -> Option<String> {
    let is_database = |kind: PlaceKind| matches!(kind, PlaceKind::Database | PlaceKind::WaitEvent);
    let rows = case
        .digest
        .reports
        .iter()
        .filter(|r| is_database(case.digest.place_of(r.place).kind) && case.host(r.place) == host);
    let has_disks = case.devices().any(|(p, _, _)| case.host(p) == host);
    if (rows.count() as f64) < rule.threshold("rows") || has_disks {
        return None;
    }
    let command = match case.platform(host) {
        Platform::Linux => "iostat -xmt 5 over the time of the report",
        Platform::Solaris => "iostat -xnT d 5 over the time of the report",
        Platform::Aix => "iostat -DlRTV 5 over the time of the report",
        Platform::HpUx => "sar -d 5 over the time of the report",
        _ => "iostat with times (Linux -xmt 5, Solaris -xnT d 5, AIX -DlRTV 5) over the time of the report",
    };
    Some(format!("{command}: whether the waits of the database stand at the disks"))
}
