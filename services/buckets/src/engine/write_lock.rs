//! The write lock, common to all engines.

use super::error::EngineError;

/// A write lock. Released on drop.
pub type WriteLock = Box<dyn HeldLock>;

/// A held write lock. If it isn't renewed in time, another process can take it over.
pub trait HeldLock: Send {
    /// Returns an error if another process has taken over the lock. Call this before deleting
    /// anything and before switching generations.
    fn check(&self) -> Result<(), EngineError>;
}

/// For callers that don't need a lock, or that already have the lock for another generation.
impl HeldLock for () {
    fn check(&self) -> Result<(), EngineError> {
        Ok(())
    }
}
