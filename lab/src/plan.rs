//! What the host tells the guest: one file, `plan.json`, in the initramfs.

use crate::rig::Rig;
use serde::{Deserialize, Serialize};

/// Where the plan lies in the guest.
pub const PLAN: &str = "/lab/plan.json";
/// Where the module files lie in the guest.
pub const MODULES: &str = "/lab/modules";
/// The payload of `lab run --payload`.
pub const PAYLOAD: &str = "/lab/payload";
/// The tag of the shared folder.
pub const SHARE_TAG: &str = "lab";
/// The result in the shared folder.
pub const OUTCOME: &str = "outcome.json";

/// The whole plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The rig's name.
    pub name: String,
    /// The rig.
    pub rig: Rig,
    /// Modules in the order of loading.
    pub modules: Vec<ModuleLoad>,
    /// What to do once the rig stands.
    pub then: Then,
}

/// One module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleLoad {
    /// File name below [`MODULES`].
    pub file: String,
    /// Parameters, as the kernel reads them.
    pub parameters: String,
    /// The rig cannot stand without it. Others are accelerators that may refuse the processor.
    pub required: bool,
}

/// What to do once the rig stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Then {
    /// The rig's jobs.
    Jobs,
    /// Run the payload with these arguments, for at most so many guest seconds.
    Payload {
        /// Its arguments; `{lun0}` becomes the kernel name.
        arguments: Vec<String>,
        /// Guest seconds.
        limit_s: f64,
    },
    /// A shell on the console.
    Shell,
}
