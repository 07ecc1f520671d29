//! Loads kernel modules in the order of the plan.

use crate::plan::{MODULES, ModuleLoad};
use rustix::io::Errno;
use rustix::system::finit_module;
use std::ffi::CString;
use std::fs::File;

/// Loads all; complaints about those that were required.
pub fn load(modules: &[ModuleLoad]) -> Vec<String> {
    modules.iter().filter_map(one).collect()
}

fn one(module: &ModuleLoad) -> Option<String> {
    let path = format!("{MODULES}/{}", module.file);
    let done = File::open(&path).map_err(|e| e.to_string()).and_then(|file| {
        let parameters = CString::new(module.parameters.as_str()).map_err(|e| e.to_string())?;
        match finit_module(&file, &parameters, 0) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(e) => Err(e.to_string()),
        }
    });
    match done {
        Err(why) if module.required => Some(format!("module {} '{}': {why}", module.file, module.parameters)),
        _ => None,
    }
}
