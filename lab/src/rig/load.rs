//! Reads `rigs.toml`; what is wrong with it is said with file and line.

use super::{Rigs, check};
use crate::error::{Error, Result};
use std::path::Path;

/// Reads and checks all rigs.
pub fn load(file: &Path) -> Result<Rigs> {
    let text = std::fs::read_to_string(file).map_err(|e| Error::Usage(format!("{}: {e}", file.display())))?;
    parse(&text, &file.display().to_string()).map_err(Error::Usage)
}

/// The rigs in `text`; `file` is for messages.
pub fn parse(text: &str, file: &str) -> Result<Rigs, String> {
    let rigs: Rigs = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_at(text, span.start));
        format!("{file}:{line}: {}", error.message())
    })?;
    for (name, rig) in &rigs.rig {
        if let Err(why) = check::check(name, rig) {
            return Err(format!("{file}:{}: rig {name}: {why}", line_of(text, name)));
        }
    }
    Ok(rigs)
}

fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// The line where a rig begins.
fn line_of(text: &str, name: &str) -> usize {
    let heads = [format!("[rig.{name}]"), format!("[rig.\"{name}\"]")];
    text.lines().position(|line| heads.iter().any(|head| line.trim() == head)).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rigs_of_the_house_are_in_order() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("rigs.toml");
        let rigs = load(&file).unwrap();
        assert!(rigs.rig.contains_key("lun-depth-4"));
        assert!(rigs.rig.values().any(|rig| rig.short), "make test runs the short set");
    }

    fn complaint(text: &str) -> String {
        parse(text, "r.toml").unwrap_err()
    }

    #[test]
    fn an_unknown_word_is_said_with_its_line() {
        let said = complaint("[rig.a]\nabout = \"x\"\njob = []\nscssi = {}\n");
        assert!(said.starts_with("r.toml:4: "), "{said}");
        assert!(said.contains("scssi"), "{said}");
    }

    #[test]
    fn an_unknown_device_is_said_with_the_rigs_line() {
        let said =
            complaint("\n[rig.a]\nabout = \"x\"\nscsi = {}\njob = [{ name = \"p\", probe = \"lun7\" }]\n");
        assert!(said.starts_with("r.toml:2: rig a: "), "{said}");
        assert!(said.contains("lun7") && said.contains("lun0"), "{said}");
    }

    #[test]
    fn an_unknown_setting_is_said() {
        let said = complaint(
            "[rig.a]\nabout = \"x\"\nscsi = {}\nset = { \"lun0.queue_dept\" = \"4\" }\njob = [{ name = \"p\", probe = \"lun0\" }]\n",
        );
        assert!(said.contains("queue_dept") && said.contains("queue_depth"), "{said}");
    }

    #[test]
    fn a_job_does_one_thing() {
        let said = complaint(
            "[rig.a]\nabout = \"x\"\nscsi = {}\njob = [{ name = \"p\", probe = \"lun0\", run = [\"true\"] }]\n",
        );
        assert!(said.contains("exactly one"), "{said}");
    }

    #[test]
    fn advice_is_taken_from_an_earlier_probe() {
        let said = complaint(
            "[rig.a]\nabout = \"x\"\nscsi = {}\njob = [{ name = \"c\", apply_advice_of = \"p\" }, { name = \"p\", probe = \"lun0\" }]\n",
        );
        assert!(said.contains("earlier"), "{said}");
    }

    #[test]
    fn several_processors_need_the_real_clock() {
        let said = complaint(
            "[rig.a]\nabout = \"x\"\nscsi = {}\ncpus = 2\njob = [{ name = \"p\", probe = \"lun0\" }]\n",
        );
        assert!(said.contains("clock"), "{said}");
    }
}
