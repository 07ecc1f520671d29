//! The target holds I/Os back: fewer are outstanding than this host would send.

use crate::bound_by::{Advice, BoundBy, BoundLayer};
use crate::case::Case;
use crate::ceiling::{Ceiling, Slots};
use crate::outlook::Model;
use crate::rule::{SCALES, STANDS, time};
use crate::split::{at_peak, queue_of};

/// A queue that never got above this share of its lowest limit did not stop there.
const BELOW_LIMIT: f64 = 0.9;

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
