//! Devices without a device mapper: their limits, from top to bottom.

use super::limits::{Bound, Chain, Word};
use super::rate::{Cap, Waits, null_blk_iops};
use super::settings::Settings;
use crate::outcome::Outcome;
use crate::rig::{Job, NullBlk, Rig, Scsi};
use std::collections::BTreeSet;

/// A LUN without I/O for this long gives its share of the host's tags back (block/blk-mq.c, `blk_mq_timeout_work`).
const SHARE_KEPT_S: f64 = 5.0;
/// Most requests an elevator can be given (block/blk-mq.h, `MAX_SCHED_RQ`).
const ELEVATOR_REQUESTS_MOST: u32 = 2048;
/// What an elevator is first given: twice the driver's tags, but no more than twice this (`BLKDEV_DEFAULT_RQ`).
const ELEVATOR_REQUESTS_FIRST: u32 = 128;
/// Commands LIO's loopback fabric takes (drivers/target/loopback/tcm_loop.c).
const LOOPBACK_CAN_QUEUE: u32 = 1024;
/// Commands an iSCSI session takes unless told otherwise (open-iscsi, `node.session.cmds_max`).
const ISCSI_CAN_QUEUE: u32 = 128;

/// A job in its rig, with what stood set.
pub struct Scene<'a> {
    /// The rig.
    pub rig: &'a Rig,
    /// Which job.
    pub job_index: usize,
    /// What the boot brought back.
    pub outcome: &'a Outcome,
    /// What stood set.
    pub settings: Settings,
}

/// Tags that one of `users` active queues may hold of `tags` shared ones (block/blk-mq.h, `hctx_may_queue`).
pub fn fair_share(tags: u32, users: u32) -> u32 {
    if users <= 1 { tags } else { tags.div_ceil(users).max(4).min(tags) }
}

impl Scene<'_> {
    /// The job.
    pub fn job(&self) -> &Job {
        &self.rig.job[self.job_index]
    }

    /// Block size of the probe.
    pub fn block_bytes(&self) -> u64 {
        let text = self.job().block.clone().unwrap_or_else(|| "4k".to_owned()).to_lowercase();
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        let unit = match text[digits.len()..].chars().next() {
            Some('k') => 1 << 10,
            Some('m') => 1 << 20,
            _ => 1,
        };
        digits.parse::<u64>().unwrap_or(4).max(1) * unit
    }

    /// How a file below a device's folder ends.
    pub fn file(&self, device: &str, rest: &str) -> String {
        match self.outcome.devices.get(device) {
            Some(kernel) => format!("/{kernel}/{rest}"),
            None => format!("/{rest}"),
        }
    }

    /// Devices at the bottom of a device of the rig.
    pub fn leaves(&self, device: &str) -> Vec<String> {
        match self.rig.dm.iter().find(|dm| dm.name == device) {
            Some(dm) => dm.on.iter().flat_map(|below| self.leaves(below)).collect(),
            None => vec![device.to_owned()],
        }
    }

    /// The limits of a device that is no device mapper's.
    pub fn chain(&self, device: &str) -> Result<Chain, String> {
        let index = |prefix: &str| device.strip_prefix(prefix)?.parse::<u32>().ok();
        match (index("lun"), index("null"), index("port"), &self.rig.iscsi) {
            (Some(lun), ..) => self.lun(device, lun),
            (_, Some(null), ..) => {
                self.null(device, self.rig.null.get(null as usize).ok_or("no such null_blk")?)
            }
            (_, _, Some(_), _) => self.port(device),
            (_, _, _, Some(iscsi)) if device == "iscsi0" => {
                let below = self.chain(&iscsi.backend)?;
                let depth = self.settings.number(device, "queue_depth").unwrap_or(iscsi.queue_depth);
                let mut bounds = self.requests(device, ISCSI_CAN_QUEUE, 1)?;
                bounds.push(self.lun_depth(device, depth, ISCSI_CAN_QUEUE));
                // The initiator sends no more than the target's window lets it (RFC 7143, 4.2.2.1): slots of the target.
                bounds.push(Bound { slots: iscsi.cmdsn_window, word: Word::Device, file: None });
                Ok(Chain { bounds, slots: below.sent(), ..below })
            }
            _ => Err(format!("{device}: the rig does not say how long it serves")),
        }
    }

    fn lun(&self, device: &str, lun: u32) -> Result<Chain, String> {
        let scsi = self.rig.scsi.as_ref().ok_or("no scsi_debug in this rig")?;
        if let Some(state) = self.settings.text(device, "state").filter(|state| state != "running") {
            return Err(format!("{device} is {state}"));
        }
        let active = self.active_luns(scsi, host_of(scsi, lun));
        let users = u32::try_from(active.len()).unwrap_or(u32::MAX);
        let taken: u32 = self.loads_beside(scsi, lun, fair_share(scsi.can_queue, users));
        let share = fair_share(scsi.can_queue, users);
        if users > 1 && taken + share > scsi.can_queue {
            return Err("shares of the host's tags add up to more than it has".to_owned());
        }
        let mut bounds = self.requests(device, scsi.can_queue, users)?;
        let depth = self.settings.number(device, "queue_depth").unwrap_or(scsi.can_queue);
        bounds.push(self.lun_depth(device, depth, scsi.can_queue));
        let service_us = self.scsi_service_us(scsi)?;
        Ok(Chain { service_us, bounds, slots: u32::MAX, others: 0, cap: None })
    }

    fn lun_depth(&self, device: &str, slots: u32, most: u32) -> Bound {
        let file = self.file(device, "device/queue_depth");
        Bound { slots, word: Word::DeviceQueueLimit, file: Some((file, most)) }
    }

    /// Requests and tags. Without an elevator a request is a tag, and nr_requests can only be lowered below the tags;
    /// with one, requests wait in it for tags, and reads may take all of either (block/mq-deadline.c, `dd_limit_depth`).
    fn requests(&self, device: &str, tags: u32, users: u32) -> Result<Vec<Bound>, String> {
        let scheduler = self.settings.text(device, "scheduler").unwrap_or_else(|| "mq-deadline".to_owned());
        let set = self.settings.number(device, "nr_requests");
        let requests = |slots, most| Bound {
            slots,
            word: Word::HostQueue,
            file: Some((self.file(device, "queue/nr_requests"), most)),
        };
        let shared = |tags| Bound { slots: fair_share(tags, users), word: Word::HostQueue, file: None };
        match scheduler.as_str() {
            "none" => Ok(match set.filter(|nr| *nr < tags) {
                Some(nr) if users <= 1 => vec![requests(nr, tags)],
                Some(nr) => vec![shared(nr)],
                None => vec![shared(tags)],
            }),
            "mq-deadline" => {
                let nr = set.unwrap_or(2 * tags.min(ELEVATOR_REQUESTS_FIRST));
                Ok(vec![shared(tags), requests(nr, ELEVATOR_REQUESTS_MOST)])
            }
            other => Err(format!("scheduler {other} of {device} holds I/Os back by rules of its own")),
        }
    }

    fn null(&self, device: &str, null: &NullBlk) -> Result<Chain, String> {
        let cap = null_blk_iops(null, self.block_bytes());
        Ok(Chain {
            service_us: f64::from(null.service_us),
            bounds: self.requests(device, null.hw_queue_depth, 1)?,
            slots: u32::MAX,
            others: 0,
            cap: cap.map(|iops| Cap { iops, waits: Waits::HostQueue }),
        })
    }

    fn port(&self, device: &str) -> Result<Chain, String> {
        let fan_in = self.rig.fan_in.as_ref().ok_or("no fan-in in this rig")?;
        let below = self.chain(&fan_in.backend)?;
        let depth = |port: &str| self.settings.number(port, "queue_depth").unwrap_or(LOOPBACK_CAN_QUEUE);
        let mut others = 0;
        for beside in &self.job().beside {
            match beside.every_ms {
                Some(_) => {}
                None if beside.probe.starts_with("port") => {
                    others += beside.concurrency.min(depth(&beside.probe));
                }
                None => return Err(format!("{} is loaded beside the ports", beside.probe)),
            }
        }
        if others > 0 && below.cap.is_some() {
            return Err("a cap shared with other hosts".to_owned());
        }
        let mut bounds = self.requests(device, LOOPBACK_CAN_QUEUE, 1)?;
        bounds.push(self.lun_depth(device, depth(device), LOOPBACK_CAN_QUEUE));
        Ok(Chain { bounds, slots: below.sent(), others, ..below })
    }

    /// Service time by parameter, or by the file that changes it live. `random=1` draws evenly from 0 to it.
    fn scsi_service_us(&self, scsi: &Scsi) -> Result<f64, String> {
        let live = self.settings.files().find(|(file, _)| file.ends_with("/scsi_debug/ndelay"));
        let full = match live {
            Some((_, ns)) => ns.trim().parse::<f64>().map_err(|_| "ndelay is no number")? / 1e3,
            None => f64::from(scsi.service_us),
        };
        Ok(if scsi.options.iter().any(|o| o == "random=1") { full / 2.0 } else { full })
    }

    /// LUNs of a host that hold a share of its tags: those under this probe, those loaded beside it, and those that did
    /// I/O a short while ago (at the boot all were read).
    fn active_luns(&self, scsi: &Scsi, host: u32) -> BTreeSet<u32> {
        let mut names: Vec<String> = self.job_leaves(self.job_index);
        let mut ago_s = self.job().settle_s;
        let mut index = self.job_index;
        while ago_s < SHARE_KEPT_S && index > 0 {
            index -= 1;
            names.extend(self.job_leaves(index));
            let took_s = self.outcome.jobs.get(index).map_or(0.0, |o| o.to_s - o.from_s);
            ago_s += took_s.max(0.0) + self.rig.job[index].settle_s;
        }
        let all = scsi.hosts * scsi.targets * scsi.luns;
        let mut luns: BTreeSet<u32> =
            names.iter().filter_map(|n| n.strip_prefix("lun")?.parse().ok()).collect();
        if ago_s < SHARE_KEPT_S {
            luns.extend(0..all);
        }
        luns.into_iter().filter(|lun| *lun < all && host_of(scsi, *lun) == host).collect()
    }

    fn job_leaves(&self, index: usize) -> Vec<String> {
        let job = &self.rig.job[index];
        job.probe.iter().chain(job.beside.iter().map(|b| &b.probe)).flat_map(|d| self.leaves(d)).collect()
    }

    /// Tags that loads beside hold on the same host, each no more than its share.
    fn loads_beside(&self, scsi: &Scsi, lun: u32, share: u32) -> u32 {
        let same_host = |name: &String| {
            name.strip_prefix("lun")
                .and_then(|n| n.parse().ok())
                .is_some_and(|other: u32| other != lun && host_of(scsi, other) == host_of(scsi, lun))
        };
        let loads = self.job().beside.iter().filter(|b| b.every_ms.is_none());
        loads.filter(|b| self.leaves(&b.probe).iter().any(same_host)).map(|b| b.concurrency.min(share)).sum()
    }
}

fn host_of(scsi: &Scsi, lun: u32) -> u32 {
    lun / (scsi.targets * scsi.luns).max(1)
}
