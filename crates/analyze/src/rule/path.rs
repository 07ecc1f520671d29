//! Multipath: one path is full while another has room.

use crate::bound_by::{Advice, BoundBy, BoundLayer};
use crate::case::{Case, device_limit};
use crate::rule::SCALES;
use crate::rule::device_queue::is_pinned;
use crate::split::queue_of;
use record::{LayerKind, LayerSeen};

/// A path with this share of its limit in use or less has room.
const ROOM: f64 = 0.7;

/// Under a multipath device, at least one path stands at its limit and at least one is far from its own.
pub fn uneven(case: &Case) -> Option<BoundBy> {
    let path = case.path()?;
    let multipath = path.layers.iter().find(|l| l.kind == LayerKind::Multipath)?;
    if case.growth.as_ref()?.gain >= SCALES {
        return None;
    }
    let used: Vec<(&LayerSeen, f64)> = case
        .devices()
        .iter()
        .filter_map(|(seen, layer)| Some((*seen, device_limit(seen, layer)?.0)))
        .collect();
    let full: Vec<&(&LayerSeen, f64)> = used.iter().filter(|(seen, limit)| is_pinned(seen, *limit)).collect();
    let roomy: Vec<&(&LayerSeen, f64)> = used
        .iter()
        .filter(|(seen, limit)| queue_of(&seen.device_queue).high_or_mean() < ROOM * limit)
        .collect();
    let ((narrow, limit), (wide, wide_limit)) = (full.first()?, roomy.first()?);
    let selector = multipath.tunable("path_selector").map_or("the path selector", |t| t.value.as_str());
    let standing = |seen: &LayerSeen| queue_of(&seen.device_queue).high_or_mean();
    Some(BoundBy {
        layer: BoundLayer::Path,
        headline: format!(
            "multipath {}: path {} is full while {} has room",
            multipath.name, narrow.name, wide.name
        ),
        evidence: vec![
            format!(
                "{}: device queue {:.1} of {limit:.0}; {}: {:.1} of {wide_limit:.0}",
                narrow.name,
                standing(narrow),
                wide.name,
                standing(wide)
            ),
            format!("{} spreads the I/Os over the paths", selector),
        ],
        refuted_by: format!("the same throughput when {} is taken out of the map", narrow.name),
        runner_up: None,
        advice: vec![Advice {
            text: format!(
                "Give all paths of {} the same queue depth ({} has {limit:.0}, {} has {wide_limit:.0}).",
                multipath.name, narrow.name, wide.name
            ),
            file: path
                .layer(&narrow.name)
                .and_then(|l| l.limit(record::LimitKind::LunQueueDepth))
                .map(|l| l.file.clone()),
            now: Some(format!("{limit:.0}")),
            try_value: Some(format!("{wide_limit:.0}")),
            expected: None,
        }],
    })
}
