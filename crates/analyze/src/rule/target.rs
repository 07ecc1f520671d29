//! The target holds I/Os back: fewer are outstanding than this host would send.

use crate::bound_by::{Advice, BoundBy, BoundLayer};
use crate::case::Case;
use crate::ceiling::{Ceiling, Slots};
use crate::outlook::Model;
use crate::point::Point;
use crate::rule::device_queue::at_lun_depth;
use crate::rule::saturation::{is_at_device, line as line_of};
use crate::rule::{SCALES, STANDS, time};
use crate::split::{at_peak, queue_of};

/// A queue that never got above this share of its lowest limit did not stop there.
const BELOW_LIMIT: f64 = 0.9;

/// The response must have grown by this factor, in the mean and for the quickest.
const GREW: f64 = 1.1;
/// The quickest I/Os: this share.
const QUICKEST: f64 = 0.25;

/// A line stands at the target: below the LUN queue depth, each I/O that this host adds there makes all of them longer,
/// the quickest too. Many servers behind one LUN do not show that: some I/O always finds an idle one, and takes as
/// long as it does alone. What the host is not allowed to send then waits here instead of there, and a deeper LUN queue
/// takes a larger part of the target from whoever else stands in that line.
pub fn line(case: &Case) -> Option<BoundBy> {
    let growth = case.growth.as_ref()?;
    let devices = case.devices();
    let depths: Option<Vec<f64>> = devices.iter().map(|(seen, layer)| at_lun_depth(seen, layer)).collect();
    let depth: f64 = depths.filter(|d| !d.is_empty())?.iter().sum();
    if growth.gain >= SCALES || growth.host_queue.is_some_and(|s| s < STANDS) {
        return None;
    }
    let alone: Vec<&Point> = case.points.iter().filter(|p| is_at_device(p)).collect();
    let (first, last) = (alone.first()?, alone.last()?);
    let mean = |p: &Point| p.response.mean_ns();
    let quickest = |p: &Point| p.response.quantile_ns(QUICKEST).map(|ns| ns as f64);
    let grew = |of: &dyn Fn(&Point) -> Option<f64>| Some(of(last)? >= GREW * of(first)?);
    if f64::from(last.concurrency) < depth / 2.0 || !grew(&mean)? || !grew(&quickest)? {
        return None;
    }
    let us = |ns: Option<f64>| time(ns.unwrap_or(f64::NAN) / 1e3);
    let names = devices.iter().map(|(_, layer)| layer.name.as_str()).collect::<Vec<_>>().join(", ");
    let mut evidence = vec![format!(
        "with {} of this host's I/Os there, the device took {} for each (the quickest quarter {}), with {} {} ({}): an I/O \
         that is added waits for the others there",
        first.concurrency,
        us(mean(first)),
        us(quickest(first)),
        last.concurrency,
        us(mean(last)),
        us(quickest(last)),
    )];
    let mut deeper = format!("the LUN queue depth ({depth:.0}) keeps the rest of the wait in the host");
    if let Some(law) = line_of(case.points) {
        let others = law.at(0.0) / law.slope;
        evidence.push(format!(
            "that is as if {others:.0} I/Os of others stood in line at the target, which ends {:.0} per second in all",
            1.0 / law.slope
        ));
        let more = 2.0 * depth;
        deeper.push_str(&format!(
            "; at {more:.0} it would take a larger part of the target from the others: {:.0} IOPS",
            more / law.at(more)
        ));
    }
    Some(BoundBy {
        layer: BoundLayer::Device,
        headline: format!("bound at the target, not in this host: I/Os of {names} stand in line there"),
        evidence,
        refuted_by: "a device time that stays the same however many of this host's I/Os are there".to_owned(),
        runner_up: Some((BoundLayer::DeviceQueueLimit, deeper)),
        advice: vec![Advice::words(format!(
            "Look at the array port and at the other hosts that load it: no setting of this host makes the target end \
             more. A deeper LUN queue of {names} only takes a larger part from them."
        ))],
    })
}

/// Over iSCSI the target says how many commands a session may have outstanding (MaxCmdSN). A device queue that stands
/// at one number below every limit of this host stands at that window, or at what the target grants.
pub fn window(case: &Case) -> Option<BoundBy> {
    let growth = case.growth.as_ref()?;
    let devices = case.devices();
    let (seen, layer) = devices.first().copied()?;
    if growth.gain >= SCALES || growth.host_queue.is_none_or(|s| s < STANDS) {
        return None;
    }
    let fact = |name: &str| layer.facts.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
    if fact("transport") != Some("iscsi") {
        return None;
    }
    let ceiling = Ceiling::of(seen, layer);
    let (limit, _) = ceiling.lowest()?;
    let slots = at_peak(seen).filter(|peak| *peak < BELOW_LIMIT * limit)?;
    let depth = ceiling.value(Slots::LunDepth).unwrap_or(limit);
    let target = fact("iscsi_target").map_or("the target".to_owned(), |name| format!("the target {name}"));
    let mut evidence = vec![format!(
        "{} never had more than {slots:.0} commands at the target (mean {:.1}), though its LUN queue depth is {depth:.0} and {} I/Os were outstanding",
        layer.name,
        queue_of(&seen.device_queue).high_or_mean(),
        growth.to
    )];
    let model = Model::of(case);
    evidence.extend(model.as_ref().map(|m| {
        format!(
            "a command spends {} at the target; what is added waits in the host for the window to open",
            time(1e6 * m.service_s)
        )
    }));
    let mut wider = Advice::words(format!(
        "Widen the command window at {target} (LIO: default_cmdsn_depth or the initiator's cmdsn_depth; it holds from the next login on), or open more sessions to it. No setting of this host lets more commands out."
    ));
    wider.now = Some(format!("{slots:.0}"));
    wider.try_value = Some(format!("{:.0}", depth.min(2.0 * slots)));
    Some(BoundBy {
        layer: BoundLayer::Device,
        headline: format!(
            "bound at the target, not in this host: {target} lets {slots:.0} commands of {} be outstanding, most likely the session's command window",
            layer.name
        ),
        evidence,
        refuted_by: format!(
            "more than {slots:.0} commands at the device at once after a larger queue_depth of {}",
            layer.name
        ),
        runner_up: Some((
            BoundLayer::HostQueue,
            "added I/Os stand there, but only because the target takes no more".to_owned(),
        )),
        advice: vec![wider],
    })
}
