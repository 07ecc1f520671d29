//! Does what a probe advised: writes the value to try into the file it names.

use super::super::Trouble;
use super::super::devices::{read, write};
use crate::outcome::{Applied, Outcome};

/// Applies the first advice of the job `of`.
pub fn apply(of: &str, outcome: &Outcome) -> Trouble<Applied> {
    let job = outcome.jobs.iter().find(|job| job.name == of).ok_or_else(|| format!("{of} was not done"))?;
    let answer = job.probe.as_ref().ok_or_else(|| format!("{of} gave no answer"))?;
    let advice = &answer["bound_by"]["advice"][0];
    let text = |field: &str| {
        advice[field]
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| format!("the first advice of {of} has no {field}"))
    };
    let (file, written) = (text("file")?, text("try_value")?);
    let before = read(&file)?;
    write(&file, &written)?;
    let after = read(&file)?;
    Ok(Applied { file, before, written, after })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::JobOutcome;

    #[test]
    fn the_first_advice_is_written_into_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("queue_depth");
        std::fs::write(&file, "4\n").unwrap();
        let advice = serde_json::json!({"file": file, "try_value": "8"});
        let probe = serde_json::json!({"bound_by": {"advice": [advice]}});
        let job = JobOutcome { name: "a".into(), probe: Some(probe), ..JobOutcome::default() };
        let outcome = Outcome { jobs: vec![job], ..Outcome::default() };
        let applied = apply("a", &outcome).unwrap();
        assert_eq!(
            (applied.before.as_str(), applied.written.as_str(), applied.after.as_str()),
            ("4", "8", "8")
        );
    }

    #[test]
    fn advice_without_a_file_is_said() {
        let probe = serde_json::json!({"bound_by": {"advice": [{"text": "nothing to do here"}]}});
        let job = JobOutcome { name: "a".into(), probe: Some(probe), ..JobOutcome::default() };
        let outcome = Outcome { jobs: vec![job], ..Outcome::default() };
        assert!(apply("a", &outcome).unwrap_err().contains("no file"));
    }
}
