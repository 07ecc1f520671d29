//! Which module files a rig needs and in what order, from the tables that `depmod` wrote.

use crate::error::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The tables of one kernel.
#[derive(Debug, Default)]
pub struct Modules {
    /// Name to file, below `lib/modules/<release>`.
    files: BTreeMap<String, PathBuf>,
    /// Name to the names it needs, nearest first.
    needs: BTreeMap<String, Vec<String>>,
    /// Name to what should be loaded before it and after it, when there is such a thing.
    soft: BTreeMap<String, Soft>,
    /// Further names, without patterns: `crc32c` to the modules that provide it.
    aliases: BTreeMap<String, Vec<String>>,
    /// Names that are part of the kernel itself.
    builtin: BTreeSet<String>,
}

#[derive(Debug, Default)]
struct Soft {
    before: Vec<String>,
    after: Vec<String>,
}

/// One module to load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its name, with underscores.
    pub name: String,
    /// Its file below `lib/modules/<release>`.
    pub file: PathBuf,
    /// Named by the rig or needed by one that is; the others make something faster and may refuse the processor.
    pub required: bool,
}

/// The kernel treats both spellings as one.
fn plain(name: &str) -> String {
    name.replace('-', "_")
}

/// `kernel/drivers/scsi/sd_mod.ko.xz` is `sd_mod`.
fn name_of(file: &str) -> String {
    let last = file.rsplit('/').next().unwrap_or(file);
    plain(last.split(".ko").next().unwrap_or(last))
}

impl Modules {
    /// Reads the tables in `lib/modules/<release>`.
    pub fn read(folder: &Path) -> Result<Self> {
        let text = |name: &str| {
            let file = folder.join(name);
            fs::read_to_string(&file).map_err(|e| Error::file("read", &file, e))
        };
        Ok(Self::parse(
            &text("modules.dep")?,
            &text("modules.softdep")?,
            &text("modules.alias")?,
            &text("modules.builtin")?,
        ))
    }

    fn parse(dep: &str, softdep: &str, alias: &str, builtin: &str) -> Self {
        let mut tables = Self::default();
        for line in dep.lines() {
            let Some((file, needs)) = line.split_once(':') else { continue };
            let name = name_of(file);
            tables.files.insert(name.clone(), PathBuf::from(file));
            tables.needs.insert(name, needs.split_whitespace().map(name_of).collect());
        }
        for line in softdep.lines() {
            let mut words = line.split_whitespace();
            let (Some("softdep"), Some(name)) = (words.next(), words.next()) else { continue };
            let soft = tables.soft.entry(plain(name)).or_default();
            let mut into: Option<&mut Vec<String>> = None;
            for word in words {
                match word {
                    "pre:" => into = Some(&mut soft.before),
                    "post:" => into = Some(&mut soft.after),
                    name => {
                        if let Some(list) = into.as_mut() {
                            list.push(plain(name));
                        }
                    }
                }
            }
        }
        for line in alias.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if let ["alias", name, module] = words[..]
                && !name.contains(['*', '?', '['])
            {
                tables.aliases.entry(plain(name)).or_default().push(plain(module));
            }
        }
        tables.builtin = builtin.lines().map(name_of).collect();
        tables
    }

    /// All modules for these names, each after what it needs.
    pub fn order(&self, names: &[String]) -> Result<Vec<Wanted>> {
        let mut order = Vec::new();
        for name in names {
            self.visit(&plain(name), true, &mut order)?;
        }
        Ok(order)
    }

    fn visit(&self, name: &str, required: bool, order: &mut Vec<Wanted>) -> Result<()> {
        if let Some(at) = order.iter().position(|wanted| wanted.name == name) {
            if required && !order[at].required {
                order[at].required = true;
                for need in self.needs.get(name).into_iter().flatten() {
                    self.visit(need, true, order)?;
                }
            }
            return Ok(());
        }
        if self.builtin.contains(name) {
            return Ok(());
        }
        let Some(file) = self.files.get(name) else {
            if let Some(modules) = self.aliases.get(name) {
                for module in modules {
                    self.visit(module, required && modules.len() == 1, order)?;
                }
                return Ok(());
            }
            return if required {
                Err(Error::Environment(format!("this kernel has no module {name}")))
            } else {
                Ok(())
            };
        };
        let soft = self.soft.get(name);
        for before in soft.into_iter().flat_map(|soft| &soft.before) {
            self.visit(before, false, order)?;
        }
        // depmod lists the nearest first; loading goes the other way.
        for need in self.needs.get(name).into_iter().flatten().rev() {
            self.visit(need, required, order)?;
        }
        if !order.iter().any(|wanted| wanted.name == name) {
            order.push(Wanted { name: name.to_owned(), file: file.clone(), required });
        }
        for after in soft.into_iter().flat_map(|soft| &soft.after) {
            self.visit(after, false, order)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEP: &str = "kernel/drivers/scsi/scsi_common.ko.xz:
kernel/drivers/scsi/scsi_mod.ko.xz: kernel/drivers/scsi/scsi_common.ko.xz
kernel/lib/crc-t10dif.ko.xz:
kernel/crypto/crct10dif_generic.ko.xz:
kernel/arch/x86/crypto/crct10dif-pclmul.ko.xz:
kernel/drivers/scsi/sd_mod.ko.xz: kernel/lib/crc-t10dif.ko.xz kernel/drivers/scsi/scsi_mod.ko.xz kernel/drivers/scsi/scsi_common.ko.xz
";
    const SOFT: &str = "# comment\nsoftdep crc-t10dif pre: crct10dif post: nothing_such\n";
    const ALIAS: &str = "alias pci:v*d* sd_mod\nalias crct10dif crct10dif_generic\nalias crct10dif crct10dif-pclmul\nalias disk sd_mod\n";

    fn names(wanted: &[Wanted]) -> Vec<&str> {
        wanted.iter().map(|w| w.name.as_str()).collect()
    }

    #[test]
    fn each_stands_after_what_it_needs() {
        let tables = Modules::parse(DEP, "", "", "");
        let order = tables.order(&["sd-mod".into()]).unwrap();
        assert_eq!(names(&order), ["scsi_common", "scsi_mod", "crc_t10dif", "sd_mod"]);
        assert!(order.iter().all(|w| w.required));
    }

    #[test]
    fn soft_dependencies_come_first_and_may_fail() {
        let tables = Modules::parse(DEP, SOFT, ALIAS, "");
        let order = tables.order(&["sd_mod".into()]).unwrap();
        let at = |name: &str| order.iter().position(|w| w.name == name).unwrap();
        assert!(at("crct10dif_generic") < at("crc_t10dif"));
        assert!(at("crct10dif_pclmul") < at("crc_t10dif"));
        assert!(!order[at("crct10dif_pclmul")].required);
        assert!(order[at("crc_t10dif")].required);
    }

    #[test]
    fn nothing_is_loaded_twice_and_builtins_not_at_all() {
        let tables = Modules::parse(
            DEP,
            "",
            ALIAS,
            "kernel/drivers/scsi/scsi_common.ko\nkernel/drivers/virtio/virtio_pci.ko\n",
        );
        let order = tables.order(&["virtio_pci".into(), "scsi_mod".into(), "disk".into()]).unwrap();
        assert_eq!(names(&order), ["scsi_mod", "crc_t10dif", "sd_mod"]);
    }

    #[test]
    fn a_module_that_a_rig_names_must_exist() {
        let tables = Modules::parse(DEP, "", "", "");
        assert!(tables.order(&["no_such".into()]).unwrap_err().to_string().contains("no_such"));
    }
}
