//! Lists the rules in `rules/`, so that a rule is one file more and nothing else.

use std::fmt::Write;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=rules");
    let folder = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("rules");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder)? {
        let name = entry?.file_name().into_string().map_err(|name| format!("{name:?} is no UTF-8"))?;
        if name.ends_with(".toml") {
            names.push(name);
        }
    }
    names.sort();
    let mut code =
        String::from("/// Names and texts of the files in `rules/`.\nstatic FILES: &[(&str, &str)] = &[\n");
    for name in names {
        writeln!(code, "    ({name:?}, include_str!({:?})),", folder.join(&name))?;
    }
    code.push_str("];\n");
    std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("rule_files.rs"), code)?;
    Ok(())
}
