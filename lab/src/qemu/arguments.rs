//! The command line of QEMU for a rig.

use crate::plan;
use crate::rig::{Clock, Rig};
use std::path::Path;

/// Where the guest's console goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Console<'a> {
    /// Into a log file.
    Log(&'a Path),
    /// The terminal, for a shell.
    Terminal,
}

/// Files of one boot.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    /// The ELF kernel.
    pub vmlinux: &'a Path,
    /// The archive.
    pub initramfs: &'a Path,
    /// The shared folder.
    pub share: &'a Path,
}

/// Memory of the guest: the archive, the stores of `scsi_debug`, and room.
fn memory_mib(rig: &Rig) -> u32 {
    let stores =
        rig.scsi.as_ref().map_or(0, |scsi| scsi.size_mib * if scsi.own_store { scsi.hosts } else { 1 });
    512 + stores
}

/// QEMU reads a comma in a path as the end of the path unless it is doubled.
fn path(path: &Path) -> String {
    path.to_string_lossy().replace(',', ",,")
}

/// All arguments.
pub fn arguments(rig: &Rig, files: Files<'_>, console: Console<'_>) -> Vec<String> {
    let mut words: Vec<String> = ["-M", "q35", "-cpu", "max"].map(str::to_owned).to_vec();
    let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
    match rig.clock {
        Clock::Virtual => {
            add("-accel", "tcg".into());
            // One nanosecond per instruction; idle time is skipped instead of waited for.
            add("-icount", "shift=0,sleep=off".into());
        }
        Clock::Real => add("-accel", "tcg,thread=multi".into()),
    }
    add("-smp", rig.cpus.to_string());
    add("-m", memory_mib(rig).to_string());
    add("-display", "none".into());
    add("-kernel", files.vmlinux.to_string_lossy().into_owned());
    add("-initrd", files.initramfs.to_string_lossy().into_owned());
    let tag = plan::SHARE_TAG;
    add("-virtfs", format!("local,path={},mount_tag={tag},security_model=none", path(files.share)));
    let chardev = match console {
        Console::Log(log) => format!("file,id=console,path={}", path(log)),
        // Ctrl-C is for the shell inside, not for QEMU.
        Console::Terminal => "stdio,id=console,signal=off".into(),
    };
    add("-chardev", chardev);
    add("-serial", "chardev:console".into());
    // A panic restarts at once, and a restart ends QEMU: a broken guest never hangs.
    add("-append", "console=ttyS0 quiet panic=-1 mitigations=off".into());
    words.extend(["-nodefaults", "-no-user-config", "-no-reboot"].map(str::to_owned));
    words.extend(rig.qemu.iter().cloned());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(extra: &str) -> String {
        let text = format!("about = \"x\"\njob = []\n{extra}");
        let rig: Rig = toml::from_str(&text).unwrap();
        let at = Path::new("/x,y");
        arguments(&rig, Files { vmlinux: at, initramfs: at, share: at }, Console::Log(at)).join(" ")
    }

    #[test]
    fn the_clock_is_virtual_unless_the_rig_says_otherwise() {
        let words_virtual = words("");
        assert!(words_virtual.contains("-icount shift=0,sleep=off -smp 1"), "{words_virtual}");
        let words_real = words("clock = \"real\"\ncpus = 2\nqemu = [\"-device\", \"nvme\"]");
        assert!(!words_real.contains("icount"), "{words_real}");
        assert!(words_real.contains("-smp 2"), "{words_real}");
        assert!(words_real.ends_with("-device nvme"), "{words_real}");
    }

    #[test]
    fn a_comma_in_a_path_is_doubled_where_qemu_wants_it() {
        assert!(words("").contains("local,path=/x,,y,mount_tag=lab"));
    }
}
