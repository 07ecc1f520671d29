//! `iscsistart`, the iSCSI login without a daemon, taken out of its package without installing it: the package would
//! start a daemon on the host.

use crate::error::{Error, Result};
use crate::initramfs::Program;
use crate::kernel;
use crate::place::Place;
use std::fs;
use std::path::PathBuf;

/// The package, and those of its libraries that a plain system may lack.
const PACKAGES: [&str; 3] = ["open-iscsi", "libopeniscsiusr", "libisns0"];

/// The program, from the cache or by apt.
pub fn iscsistart(place: &Place) -> Result<Program> {
    let home = place.work.join("open-iscsi");
    let file = home.join("sbin/iscsistart");
    if !file.is_file() {
        let building = place.work.join(format!(".open-iscsi-{}", std::process::id()));
        let result = fetch(&building).and_then(|()| {
            let _ = fs::remove_dir_all(&home);
            fs::rename(&building, &home).map_err(|e| Error::file("rename", &building, e))
        });
        if result.is_err() {
            let _ = fs::remove_dir_all(&building);
        }
        result?;
    }
    let libraries: PathBuf = home.join("usr/lib/x86_64-linux-gnu");
    Ok(Program { path: "bin/iscsistart".into(), file, libraries: Some(libraries) })
}

fn fetch(building: &std::path::Path) -> Result<()> {
    fs::create_dir_all(building).map_err(|e| Error::file("make", building, e))?;
    for package in PACKAGES {
        let deb = kernel::download(package, building)?;
        kernel::unpack(&deb, building)?;
        fs::remove_file(&deb).map_err(|e| Error::file("remove", &deb, e))?;
    }
    Ok(())
}
