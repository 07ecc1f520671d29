//! The names of settings in `rigs.toml`, and the file each stands for.
//!
//! `lun0.queue_depth` is `/sys/block/<kernel name of lun0>/device/queue_depth`; a name that begins with `/` is a file, with
//! `{lun0}` standing for the kernel name, `{lun0:hctl}` for its SCSI address and `{lun0:dev}` for its device numbers.

/// Short names, and the file below `/sys/block/<device>/` that each stands for. In the order they are set: a change of
/// the scheduler sets `nr_requests` anew.
const KNOBS: [(&str, &str); 9] = [
    ("scheduler", "queue/scheduler"),
    ("nr_requests", "queue/nr_requests"),
    ("max_sectors_kb", "queue/max_sectors_kb"),
    ("wbt_lat_usec", "queue/wbt_lat_usec"),
    ("queue_depth", "device/queue_depth"),
    ("queue_ramp_up_period", "device/queue_ramp_up_period"),
    ("timeout", "device/timeout"),
    ("queue_type", "device/queue_type"),
    ("state", "device/state"),
];

/// Those read before and after each job.
pub const WATCHED: [&str; 4] = ["queue_depth", "nr_requests", "scheduler", "state"];

/// A name taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting<'a> {
    /// A file, with places for devices.
    File(&'a str),
    /// A setting of a device.
    Knob {
        /// The device's name in the rig.
        device: &'a str,
        /// The short name.
        knob: &'a str,
        /// The file it stands for, below `/sys/block/<device>/`.
        file: &'static str,
    },
}

/// The file below `/sys/block/<device>/` that a short name stands for.
pub fn file_of(knob: &str) -> Option<&'static str> {
    KNOBS.iter().find(|(name, _)| *name == knob).map(|(_, file)| *file)
}

/// Takes a name apart.
pub fn parse(name: &str) -> Result<Setting<'_>, String> {
    if name.starts_with('/') {
        return Ok(Setting::File(name));
    }
    let expected = || {
        let knobs: Vec<&str> = KNOBS.iter().map(|(knob, _)| *knob).collect();
        format!("{name}: expected a file beginning with '/', or a device and one of {}", knobs.join(", "))
    };
    let (device, knob) = name.split_once('.').ok_or_else(expected)?;
    let file = file_of(knob).ok_or_else(expected)?;
    Ok(Setting::Knob { device, knob, file })
}

/// The order in which values are set.
pub fn rank(name: &str) -> usize {
    match parse(name) {
        Ok(Setting::Knob { knob, .. }) => KNOBS.iter().position(|(known, _)| *known == knob).unwrap_or(0),
        _ => KNOBS.len(),
    }
}

/// The devices that `{...}` in a text name.
pub fn devices_in(text: &str) -> Vec<&str> {
    places(text).map(|place| place.split(':').next().unwrap_or(place)).collect()
}

fn places(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|part| part.split_once('}').map(|(place, _)| place))
}

/// Replaces each `{device}` and `{device:what}` by what `lookup` gives for it.
pub fn fill(text: &str, lookup: &dyn Fn(&str, &str) -> Result<String, String>) -> Result<String, String> {
    let mut filled = text.to_owned();
    for place in places(text) {
        let (device, what) = place.split_once(':').unwrap_or((place, "name"));
        filled = filled.replace(&format!("{{{place}}}"), &lookup(device, what)?);
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        let expected = Setting::Knob { device: "lun0", knob: "queue_depth", file: "device/queue_depth" };
        assert_eq!(parse("lun0.queue_depth").unwrap(), expected);
        assert_eq!(parse("/sys/x").unwrap(), Setting::File("/sys/x"));
        assert!(parse("lun0.depth").unwrap_err().contains("queue_depth"));
        assert!(parse("lun0").is_err());
    }

    #[test]
    fn the_scheduler_is_set_before_what_it_resets() {
        let mut names = ["lun0.nr_requests", "/sys/y", "lun0.queue_depth", "lun0.scheduler"];
        names.sort_by_key(|name| rank(name));
        assert_eq!(names, ["lun0.scheduler", "lun0.nr_requests", "lun0.queue_depth", "/sys/y"]);
    }

    #[test]
    fn places_are_filled() {
        let lookup = |device: &str, what: &str| match (device, what) {
            ("lun0", "name") => Ok("sda".to_owned()),
            ("lun0", "hctl") => Ok("2:0:0:0".to_owned()),
            _ => Err(format!("no {device}:{what}")),
        };
        assert_eq!(fill("/a/{lun0}/{lun0:hctl}", &lookup).unwrap(), "/a/sda/2:0:0:0");
        assert_eq!(fill("plain", &lookup).unwrap(), "plain");
        assert!(fill("{lun1}", &lookup).is_err());
        assert_eq!(devices_in("/a/{lun0}/{lun1:hctl}"), ["lun0", "lun1"]);
    }
}
