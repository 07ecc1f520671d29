//! Ctrl-C and the like: the first asks for a clean end, the second ends at once.

use crate::error::{Error, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that SIGINT, SIGTERM and SIGHUP set.
pub fn interrupt_flag() -> Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    let failed = |e: std::io::Error| Error::Environment(format!("cannot handle signals: {e}"));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Registered first, so that it acts only when the flag stands already.
        flag::register_conditional_shutdown(signal, 130, Arc::clone(&asked)).map_err(failed)?;
        flag::register(signal, Arc::clone(&asked)).map_err(failed)?;
    }
    Ok(asked)
}
