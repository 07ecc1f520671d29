//! The version of sysstat, as far as the columns of a header tell it (sysstat, file CHANGES).

/// Versions that print these columns.
pub(super) fn of(columns: &[&str]) -> &'static str {
    let has = |name: &str| columns.contains(&name);
    if has("f_await") {
        "sysstat 12.3.1 or newer"
    } else if has("dkB/s") || has("dMB/s") || columns.iter().any(|c| c.contains("_dscd") || c.contains("w+d"))
    {
        "sysstat 12.1.2 or newer"
    } else if has("aqu-sz") && has("svctm") {
        "sysstat 11.5.7 to 12.1.1"
    } else if has("aqu-sz") || has("Device") {
        "sysstat 11.5.7 or newer"
    } else if has("r_await") {
        "sysstat 9.1.2 to 11.5.6"
    } else if has("await") {
        "sysstat 5.1.3 to 9.1.1"
    } else {
        "sysstat before 11.5.7"
    }
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn columns_tell_the_version() {
        assert_eq!(of(&["Device", "r/s", "f/s", "f_await", "aqu-sz"]), "sysstat 12.3.1 or newer");
        assert_eq!(
            of(&["Device:", "rrqm/s", "avgqu-sz", "await", "r_await", "svctm"]),
            "sysstat 9.1.2 to 11.5.6"
        );
        assert_eq!(of(&["Device:", "tps", "kB_read/s"]), "sysstat before 11.5.7");
    }
}
