//! From a rig and a job to what must come out.

use super::limits::{Chain, Word};
use super::paths::{Mode, Paths, Selector};
use super::rate::{Cap, Waits, group_caps};
use super::scsi::Scene;
use super::settings::Settings;
use super::spread::{Part, Spread};
use super::{AdviceTruth, FileAdvice, Model, Truth};
use crate::outcome::Outcome;
use crate::rig::{Clock, Dm, DmTarget, Rig};

/// Options of scsi_debug that change neither service nor answers.
const HARMLESS_OPTIONS: [&str; 12] = [
    "random",
    "fake_rw",
    "sector_size",
    "vpd_use_hostno",
    "no_rwlock",
    "virtual_gb",
    "physblk_exp",
    "scsi_level",
    "statistics",
    "per_host_store",
    "removable",
    "no_uld",
];
/// Arguments of the probe that change neither what is read nor how.
const HARMLESS_ARGS: [&str; 5] = ["--engine", "--out", "--workers", "--quiet", "--no-color"];
/// Requests of a request-based device mapper without an elevator (drivers/md/dm-rq.c, `dm_mq_queue_depth`).
const DM_REQUESTS: u32 = 2048;

/// What must come out of a job's probe; empty for jobs that do not probe.
///
/// A watch sees what a probe of its device at the concurrency beside it would.
pub fn of(rig: &Rig, job_index: usize, outcome: &Outcome) -> Truth {
    if let Some(device) = rig.job.get(job_index).and_then(|job| job.watch.clone()) {
        let mut probed = rig.clone();
        let job = &mut probed.job[job_index];
        job.beside.retain(|b| b.probe != device);
        job.args.clear();
        job.watch = None;
        job.probe = Some(device);
        return of(&probed, job_index, outcome);
    }
    let Some(device) = rig.job.get(job_index).and_then(|job| job.probe.clone()) else {
        return Truth::default();
    };
    let settings = Settings::before(rig, job_index, outcome);
    let scene = Scene { rig, job_index, outcome, settings };
    let found = match scene.obstacle(&device) {
        Some(why) => Err(why),
        None => scene.truth(&device),
    };
    let mut truth = found.unwrap_or_else(|why| Truth {
        bound_by: scene.word_without_numbers(),
        notes: vec![format!("not computed: {why}")],
        ..Truth::default()
    });
    truth.device = device;
    truth.notes.extend(scene.settings.departures());
    truth
}

impl Scene<'_> {
    /// What makes the closed forms say nothing about this job.
    fn obstacle(&self, device: &str) -> Option<String> {
        let job = self.job();
        let group = self.rig.cgroup.as_ref();
        let scsi_options = self.rig.scsi.iter().flat_map(|s| &s.options);
        let mut options =
            scsi_options.filter(|o| !HARMLESS_OPTIONS.contains(&o.split('=').next().unwrap_or_default()));
        let mut args = job.args.iter().filter(|a| a.starts_with("--"));
        let leaves = self.leaves(device);
        let mut shared =
            job.beside.iter().filter(|b| self.leaves(&b.probe).iter().any(|l| leaves.contains(l)));
        let mut files = self.settings.files().filter(|(f, _)| !f.ends_with("/scsi_debug/ndelay"));
        let changed = self.changed_meanwhile(&leaves);
        if self.rig.clock == Clock::Real {
            Some("real clock: only the direction is certain".to_owned())
        } else if job.expect.direction_only {
            Some("only the direction is declared".to_owned())
        } else if !job.during.is_empty() {
            Some("something is changed while the probe runs".to_owned())
        } else if let Some(what) = changed {
            Some(what)
        } else if group.is_some_and(|g| !g.cost_model.is_empty() || !g.cost_qos.is_empty()) {
            Some("blk-iocost's vtime is no closed form: only the direction is certain".to_owned())
        } else if let Some(option) = options.next() {
            Some(format!("scsi_debug option {option}"))
        } else if let Some(arg) =
            args.find(|a| !HARMLESS_ARGS.contains(&a.split('=').next().unwrap_or_default()))
        {
            Some(format!("argument {arg}"))
        } else if let Some(beside) = shared.next() {
            Some(format!("{} is loaded beside the probe and is part of its path", beside.probe))
        } else {
            files.next().map(|(file, _)| format!("{file} was set"))
        }
    }

    /// A limit that read otherwise after the probe than before.
    fn changed_meanwhile(&self, leaves: &[String]) -> Option<String> {
        let seen = self.outcome.jobs.get(self.job_index)?;
        seen.settings_before.iter().find_map(|(key, before)| {
            let (device, knob) = key.split_once('.')?;
            let counts = ["queue_depth", "nr_requests", "scheduler", "state"].contains(&knob)
                && leaves.iter().any(|l| l == device);
            let after = seen.settings_after.get(key)?;
            (counts && before.trim() != after.trim())
                .then(|| format!("{key} went from {} to {} during the probe", before.trim(), after.trim()))
        })
    }

    fn word_without_numbers(&self) -> Vec<Word> {
        let costs = self.rig.cgroup.as_ref().is_some_and(|g| !g.cost_qos.is_empty());
        if costs { vec![Word::Throttle] } else { Vec::new() }
    }

    fn truth(&self, device: &str) -> Result<Truth, String> {
        let mut truth = match self.rig.dm.iter().find(|dm| dm.name == device) {
            None => of_chain(&self.chain(device)?),
            Some(dm) => self.mapped(dm)?,
        };
        let caps = self.rig.cgroup.iter().flat_map(|g| &g.io_max);
        for (capped, line) in caps {
            if capped == device {
                self.cap(&mut truth, line)?;
            } else if self.leaves(device).contains(capped) {
                return Err(format!("a cap on {capped} below {device}"));
            }
        }
        Ok(truth)
    }

    /// A control group's cap: throughput stands at it, and what waits is held above the block layer.
    fn cap(&self, truth: &mut Truth, line: &str) -> Result<(), String> {
        let Some((iops, written)) = group_caps(line, self.block_bytes()) else { return Ok(()) };
        let Some(Model::Station(station)) = &mut truth.model else {
            return Err("a cap on a device of several stations".to_owned());
        };
        if station.cap.is_some_and(|other| other.iops <= iops) {
            return Ok(());
        }
        station.cap = Some(Cap { iops, waits: Waits::Above });
        if station.binding_cap().is_some() {
            let mut after = *station;
            after.cap = Some(Cap { iops: 2.0 * iops, waits: Waits::Above });
            truth.bound_by = vec![Word::Throttle];
            truth.advice = AdviceTruth::File(FileAdvice {
                files: vec!["io.max".to_owned()],
                value: Some(2 * written),
                after: Some(Box::new(Model::Station(after))),
            });
        }
        Ok(())
    }

    fn mapped(&self, dm: &Dm) -> Result<Truth, String> {
        let chains = dm.on.iter().map(|below| self.chain(below)).collect::<Result<Vec<_>, _>>()?;
        let first = chains.first().ok_or("a map of nothing")?;
        let alike = |c: &Chain| c.service_us == first.service_us && c.cap.is_none() && c.others == 0;
        if !chains.iter().all(|c| alike(c) && c.slots >= c.sent()) {
            return Err("devices below that serve differently".to_owned());
        }
        if chains.len() == 1 && dm.target != DmTarget::Multipath {
            return Ok(of_chain(first));
        }
        match dm.target {
            DmTarget::Multipath => self.multipath(dm, &chains),
            DmTarget::Striped => spread(&chains, &vec![1.0; chains.len()]),
            DmTarget::Linear => {
                let percent = dm.percent.clone().unwrap_or_else(|| vec![1; chains.len()]);
                spread(&chains, &percent.iter().copied().map(f64::from).collect::<Vec<_>>())
            }
        }
    }

    fn multipath(&self, dm: &Dm, chains: &[Chain]) -> Result<Truth, String> {
        let selector_word = dm.selector.as_deref().unwrap_or("service-time");
        let selector = match selector_word {
            "round-robin" => Selector::RoundRobin,
            "queue-length" | "service-time" => Selector::Shortest,
            other => return Err(format!("selector {other}")),
        };
        let mode = match dm.queue_mode.as_deref() {
            Some("bio") => Mode::Bio,
            _ => Mode::Request,
        };
        let set = self.settings.number(&dm.name, "nr_requests").filter(|_| mode == Mode::Request);
        let gate = match mode {
            Mode::Bio => u32::MAX,
            Mode::Request => set.unwrap_or(DM_REQUESTS),
        };
        let depths: Vec<u32> = chains.iter().map(Chain::sent).collect();
        let paths = Paths { service_us: chains[0].service_us, depths, gate, selector, mode };
        let mut truth = Truth { model: Some(Model::Paths(paths.clone())), ..Truth::default() };
        if paths.gate_binds() {
            let mut after = paths.clone();
            after.gate = 2 * paths.gate;
            truth.bound_by = vec![Word::HostQueue];
            truth.advice = AdviceTruth::File(FileAdvice {
                files: vec![self.file(&dm.name, "queue/nr_requests")],
                value: Some(u64::from(after.gate)),
                after: Some(Box::new(Model::Paths(after))),
            });
        } else if paths.wastes() {
            truth.bound_by = vec![Word::Path];
            truth.advice = even_out(&paths, dm, |name| self.file(name, "device/queue_depth"));
            truth.says = vec![selector_word.to_owned()];
        } else {
            truth.bound_by = words_of(chains);
            truth.advice = any_of(chains);
            if !paths.even() {
                truth.bound_by.push(Word::Path);
            }
        }
        if !paths.even() {
            truth.whole_iops = Some(paths.whole_iops());
            truth.notes.push(
                "paths of unequal depth: bounds only, where the selector does not fix the rate".to_owned(),
            );
        }
        Ok(truth)
    }
}

/// The shallow path gets the depth of the deepest.
fn even_out(paths: &Paths, dm: &Dm, file: impl Fn(&str) -> String) -> AdviceTruth {
    let least = paths.depths.iter().copied().min().unwrap_or(0);
    let most = paths.depths.iter().copied().max().unwrap_or(0);
    let shallow: Vec<&String> =
        dm.on.iter().zip(&paths.depths).filter(|(_, depth)| **depth == least).map(|(name, _)| name).collect();
    let after = Paths { depths: vec![most; paths.depths.len()], ..paths.clone() };
    AdviceTruth::File(FileAdvice {
        files: shallow.iter().map(|name| file(name)).collect(),
        value: Some(u64::from(most)),
        // With more than one path to change, one file alone does not make them even.
        after: (shallow.len() == 1 && paths.depths.len() == 2).then(|| Box::new(Model::Paths(after))),
    })
}

fn of_chain(chain: &Chain) -> Truth {
    let station = chain.station();
    let mut truth = Truth {
        model: Some(Model::Station(station)),
        bound_by: chain.words(),
        advice: chain.advice(),
        ..Truth::default()
    };
    if station.binding_cap().is_some() {
        // No file shows the device's own cap: a throttle it is, the device it lies in, or not to be told.
        truth.bound_by = vec![Word::Throttle, Word::Device, Word::Unknown];
        truth.advice = AdviceTruth::NoFile;
        truth.notes.push("the cap stands in no file".to_owned());
    } else if truth.bound_by.len() > 1 {
        truth.notes.push("equal limits bind together: either may be named".to_owned());
    }
    truth
}

fn spread(chains: &[Chain], weights: &[f64]) -> Result<Truth, String> {
    if weights.len() != chains.len() {
        return Err("shares and devices differ in number".to_owned());
    }
    let whole: f64 = weights.iter().sum();
    let parts = chains.iter().zip(weights).map(|(c, w)| Part { share: w / whole, slots: c.sent() }).collect();
    let model = Spread { service_us: chains[0].service_us, parts };
    let hottest = model.hottest();
    let mut truth = Truth::default();
    match hottest {
        Some(hot) => {
            truth.bound_by = chains[hot].words();
            truth.advice = match chains[hot].advice() {
                AdviceTruth::File(FileAdvice { files, value, .. }) => {
                    let after = value.and_then(|v| u32::try_from(v).ok()).map(|v| {
                        let mut after = model.clone();
                        after.parts[hot].slots = chains[hot].with(&files[0], v).sent();
                        Box::new(Model::Spread(after))
                    });
                    AdviceTruth::File(FileAdvice { files, value, after })
                }
                other => other,
            };
        }
        None => {
            truth.bound_by = words_of(chains);
            truth.advice = any_of(chains);
        }
    }
    truth
        .notes
        .push("random placement: throughput lies between the product form's and the asymptotes'".to_owned());
    truth.model = Some(Model::Spread(model));
    Ok(truth)
}

fn words_of(chains: &[Chain]) -> Vec<Word> {
    let mut words = Vec::new();
    for word in chains.iter().flat_map(Chain::words) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// All bind alike: the first advice may name the file of any of them, and one alone promises no rate.
fn any_of(chains: &[Chain]) -> AdviceTruth {
    let mut files = Vec::new();
    let mut values = Vec::new();
    for chain in chains {
        match chain.advice() {
            AdviceTruth::File(file) => {
                files.extend(file.files);
                values.push(file.value);
            }
            other => return other,
        }
    }
    let same = values.windows(2).all(|pair| pair[0] == pair[1]);
    AdviceTruth::File(FileAdvice {
        files,
        value: values.first().copied().flatten().filter(|_| same),
        after: None,
    })
}
