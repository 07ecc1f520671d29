//! Multipath: one path is full while another has room, because of how the selector shares the I/O out.

use crate::bound_by::{Advice, BoundBy, BoundLayer};
use crate::case::Case;
use crate::ceiling::{Ceiling, Slots};
use crate::outlook::Model;
use crate::rule::SCALES;
use crate::rule::device_queue::ROOM;
use crate::split::{is_pinned, queue_of};
use record::{Layer, LayerKind, LayerSeen, LimitKind};

/// Throughput below this share of what all slots together would carry is worth a verdict.
const LOST: f64 = 0.9;

/// Under a multipath device, at least one path stands at its limit and at least one is far from its own.
pub fn uneven(case: &Case) -> Option<BoundBy> {
    let path = case.path()?;
    let multipath = path.layers.iter().find(|l| l.kind == LayerKind::Multipath)?;
    if case.growth.as_ref()?.gain >= SCALES {
        return None;
    }
    let used: Vec<(&LayerSeen, &Layer, f64)> = case
        .devices()
        .iter()
        .filter_map(|(seen, layer)| Some((*seen, *layer, Ceiling::of(seen, layer).lowest()?.0)))
        .collect();
    let standing = |seen: &LayerSeen| queue_of(&seen.device_queue).high_or_mean();
    let (narrow, layer, limit) = used.iter().find(|(seen, _, limit)| is_pinned(seen, *limit))?;
    let (wide, _, wide_limit) = used.iter().find(|(seen, _, limit)| standing(seen) < ROOM * limit)?;
    let model = Model::of(case);
    let iops = case.last()?.iops;
    let all = model.as_ref().map(Model::all_slots_iops);
    if all.is_some_and(|all| iops > LOST * all) {
        return None;
    }
    let lost = all.map_or(String::new(), |all| {
        format!(", which costs {:.0} % of the throughput", 100.0 * (1.0 - iops / all))
    });
    let mut evidence = vec![
        format!(
            "{}: device queue {:.1} of {limit:.0}; {}: {:.1} of {wide_limit:.0}",
            narrow.name,
            standing(narrow),
            wide.name,
            standing(wide)
        ),
        selector_words(multipath),
    ];
    evidence.extend(all.zip(model.as_ref()).map(|(all, model)| {
        format!(
            "{iops:.0} IOPS, where the paths together could carry {all:.0} ({:.0} I/Os at once, each {}): {:.0} IOPS are lost",
            model.slots(),
            crate::rule::time(1e6 * model.service_s),
            all - iops
        )
    }));
    Some(BoundBy {
        layer: BoundLayer::Path,
        headline: format!(
            "multipath {}: path {} is full while {} has room{lost} ({})",
            multipath.name,
            narrow.name,
            wide.name,
            selector(multipath).unwrap_or("selector not known")
        ),
        evidence,
        refuted_by: format!("the same throughput when {} is taken out of the map", narrow.name),
        runner_up: None,
        advice: advice(multipath, model.as_ref(), (narrow, layer, *limit), (wide, *wide_limit)),
    })
}

/// The name of the path selector, where it could be read.
fn selector(multipath: &Layer) -> Option<&str> {
    multipath.facts.iter().find(|(name, _)| name == "path_selector").map(|(_, value)| value.as_str())
}

fn selector_words(multipath: &Layer) -> String {
    let kind = multipath.facts.iter().find(|(n, _)| n == "queue_kind").map_or("", |(_, v)| v.as_str());
    let Some(selector) = selector(multipath) else {
        return format!(
            "the path selector of {} ({kind}) spreads the I/Os; its name cannot be read without root (dmsetup table)",
            multipath.name
        );
    };
    let how = match (selector, kind) {
        ("round-robin", "bio-based") => {
            "gives each path the same number of I/Os, so all of them go at the pace of the shallow one"
        }
        ("round-robin", _) => "gives each path its turn",
        (_, "bio-based") => "keeps as many I/Os waiting in each path, however few of them a path can send",
        _ => {
            "insists on the path with the fewest I/Os in flight, which is the shallow one as soon as it is full"
        }
    };
    format!("the selector of {} ({kind}), {selector}, {how}", multipath.name)
}

fn advice(
    multipath: &Layer,
    model: Option<&Model>,
    (narrow, layer, limit): (&LayerSeen, &Layer, f64),
    (wide, wide_limit): (&LayerSeen, f64),
) -> Vec<Advice> {
    let depth = layer.limit(LimitKind::LunQueueDepth).filter(|_| limit < wide_limit);
    let Some(file) = depth else {
        return vec![Advice::words(format!(
            "Find out why {} takes so much longer than {}: both may have {limit:.0} I/Os at once.",
            narrow.name, wide.name
        ))];
    };
    let mut raise = Advice::change(
        format!(
            "Give all paths of {} the same queue depth ({} has {limit:.0}, {} has {wide_limit:.0}).",
            multipath.name, narrow.name, wide.name
        ),
        &file.file,
        format!("{limit:.0}"),
        format!("{wide_limit:.0}"),
    );
    if let Some(model) = model {
        let changed = model.changed(&narrow.name, |c| c.with(Slots::LunDepth, wide_limit));
        raise = raise.expecting(&changed.outlook());
    }
    vec![raise]
}
