//! What a job works with.

use database::Pools;
use domain::SharedClock;

use crate::config::Settings;

/// What a job works with.
#[derive(Clone)]
pub struct JobContext {
    /// Connections to the database.
    pub pools: Pools,
    /// The time.
    pub clock: SharedClock,
    /// Memory, temporary folder, test domain.
    pub settings: Settings,
}
