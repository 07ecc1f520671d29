//! Facts of this host, read once per run.

use crate::root::Root;
use record::HostFacts;

/// Reads them. What is absent stays absent.
pub fn read(root: &Root) -> HostFacts {
    HostFacts {
        hostname: line(root, "/proc/sys/kernel/hostname"),
        kernel: line(root, "/proc/sys/kernel/osrelease"),
        distribution: distribution(root),
        cpu_model: cpu_model(root),
        cpus_online: line(root, "/sys/devices/system/cpu/online")
            .and_then(|t| parse_cpu_list(&t))
            .map(|cpus| cpus.len() as u32),
        cpus_allowed: status(root, "Cpus_allowed_list").and_then(|t| parse_cpu_list(&t)).unwrap_or_default(),
        memory_bytes: memory(root, "MemTotal"),
        memory_available_bytes: memory(root, "MemAvailable"),
        virtualization: virtualization(root),
        tuned_profile: line(root, "/etc/tuned/active_profile"),
        root: status(root, "Uid").is_some_and(|t| t.split_whitespace().nth(1) == Some("0")),
    }
}

/// Logical CPUs from a list such as `0-3,8`, or `0, 1, 2` as block devices write it. `None` for anything else.
pub fn parse_cpu_list(text: &str) -> Option<Vec<u32>> {
    /// More CPUs than any kernel is built for: a torn range must not fill memory.
    const CPUS_MAX: u32 = 1 << 16;
    let mut cpus = Vec::new();
    for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || last >= CPUS_MAX {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

fn line(root: &Root, path: &str) -> Option<String> {
    let text = root.text(path).ok()?;
    let line = text.lines().next()?.trim();
    let shown: String = line.chars().filter(|c| !c.is_control()).take(256).collect();
    (!shown.is_empty()).then_some(shown)
}

fn status(root: &Root, key: &str) -> Option<String> {
    let text = root.text("/proc/self/status").ok()?;
    text.lines().find_map(|l| Some(l.strip_prefix(key)?.strip_prefix(':')?.trim().to_owned()))
}

fn memory(root: &Root, key: &str) -> Option<u64> {
    let text = root.text("/proc/meminfo").ok()?;
    let rest = text.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix(':'))?;
    let kib: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

fn distribution(root: &Root) -> Option<String> {
    let text = root.text("/etc/os-release").ok()?;
    let value = |key: &str| {
        let value = text.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix('='))?;
        let plain: String = value.trim().trim_matches(['"', '\'']).chars().take(128).collect();
        (!plain.is_empty()).then_some(plain)
    };
    value("PRETTY_NAME").or_else(|| value("NAME"))
}

fn cpu_model(root: &Root) -> Option<String> {
    let text = root.text("/proc/cpuinfo").ok()?;
    // x86 says model name, POWER says cpu; s390 and ARM have neither and stay absent.
    ["model name", "cpu"].iter().find_map(|key| {
        text.lines().find_map(|l| {
            let (name, value) = l.split_once(':')?;
            (name.trim() == *key).then(|| value.trim().chars().take(128).collect())
        })
    })
}

/// Container first, since it hides more; then the hypervisor by its firmware's name, else by the CPU's flag.
fn virtualization(root: &Root) -> Option<String> {
    let container = container(root);
    let machine = hypervisor(root);
    match (container, machine) {
        (Some(container), Some(machine)) => Some(format!("{container} on {machine}")),
        (one, other) => one.or(other),
    }
}

fn container(root: &Root) -> Option<String> {
    if let Some(name) = line(root, "/run/systemd/container") {
        return Some(format!("container ({name})"));
    }
    let marks = [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];
    if let Some((_, name)) = marks.iter().find(|(file, _)| root.exists(file)) {
        return Some(format!("container ({name})"));
    }
    let groups = root.text("/proc/1/cgroup").unwrap_or_default();
    let hints = ["docker", "kubepods", "lxc", "containerd", "libpod"];
    hints.iter().find(|h| groups.contains(*h)).map(|h| format!("container ({h})"))
}

fn hypervisor(root: &Root) -> Option<String> {
    let vendor = line(root, "/sys/class/dmi/id/sys_vendor").unwrap_or_default();
    let product = line(root, "/sys/class/dmi/id/product_name").unwrap_or_default();
    let known = [
        ("QEMU", "QEMU/KVM"),
        ("VMware", "VMware"),
        ("Amazon EC2", "Amazon EC2"),
        ("Google", "Google Cloud"),
        ("Xen", "Xen"),
        ("VirtualBox", "VirtualBox"),
        ("innotek", "VirtualBox"),
        ("OpenStack", "OpenStack"),
        ("Nutanix", "Nutanix AHV"),
        ("Virtual Machine", "Hyper-V or Azure"),
        ("KVM", "KVM"),
    ];
    if let Some((_, name)) = known.iter().find(|(word, _)| vendor.contains(word) || product.contains(word)) {
        return Some((*name).to_owned());
    }
    if let Some(kind) = line(root, "/sys/hypervisor/type") {
        return Some(kind);
    }
    let cpuinfo = root.text("/proc/cpuinfo").unwrap_or_default();
    let flags = cpuinfo.lines().find(|l| l.starts_with("flags") || l.starts_with("Features"))?;
    flags.split_whitespace().any(|f| f == "hypervisor").then(|| "virtual machine".to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse_cpu_list;

    #[test]
    fn cpu_lists_of_both_spellings_are_read() {
        assert_eq!(parse_cpu_list("0-3,8").unwrap(), [0, 1, 2, 3, 8]);
        assert_eq!(parse_cpu_list("0, 1, 2").unwrap(), [0, 1, 2]);
        assert_eq!(parse_cpu_list("").unwrap(), [] as [u32; 0]);
    }

    #[test]
    fn absurd_cpu_lists_are_refused() {
        for text in ["a", "3-1", "0-4294967295", "1-", "-1"] {
            assert_eq!(parse_cpu_list(text), None, "{text}");
        }
    }
}
