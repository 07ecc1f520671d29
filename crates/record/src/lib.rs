//! What was asked of a storage path and what was seen there.
//!
//! One data model for live hosts, simulated paths and imported text. Three things carry it: a [`Load`] is asked
//! of a [`Subject`], which answers with a measured [`Step`]. Whoever searches, concludes or draws knows only these.
//!
//! Nothing here measures, concludes or prints. Units stand in the names of fields; inside the program times are
//! nanoseconds (`_ns`) where they are recorded per I/O, and seconds (`_s`) where they are lengths of windows.

pub mod doubt;
pub mod facts;
pub mod follow;
pub mod histogram;
pub mod imported;
pub mod incident;
pub mod inspected;
pub mod limit;
pub mod load;
pub mod path;
pub mod recording;
pub mod run;
pub mod sample;
pub mod step;
pub mod subject;
pub mod traced;

pub use doubt::{Doubt, DoubtId, Weight};
pub use facts::HostFacts;
pub use follow::{
    CoreSeen, CpuSeen, Follow, Followed, HostSeen, How, LayerSeen, ScsiSeen, Standing, TagSharing, Window,
};
pub use histogram::LatencyHistogram;
pub use incident::{Answers, DepthSeen, FailedIos, Incidents, Trouble};
pub use inspected::{
    AioSeen, AskedDevice, CallKind, Inspected, InspectedFile, InspectedProcess, ProcessIo, SeenCall,
    SyncFlag, UringSeen,
};
pub use limit::{LatencyLimit, LimitError, Statistic};
pub use load::{Arrival, Demand, Load, Phase};
pub use path::{IoPath, Layer, LayerKind, Limit, LimitKind, Tunable};
pub use sample::{
    ClassTotals, Counted, DeviceFacts, DeviceLimits, DeviceSample, HostSample, ProcessSample,
    ProcessesSample, QueueSample, SplitBy,
};
pub use step::{ClassSeen, Ended, IoClass, Slice, Starved, Step};
pub use subject::{Flow, Subject, SubjectError, SubjectFacts, Watch};
pub use traced::{AskerSample, LostEvents, ScsiAnswers, TracedClass, TracedDevice, TracedHost};
