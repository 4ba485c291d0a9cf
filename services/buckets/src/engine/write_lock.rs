//! The write lock of all engines.

use super::error::EngineError;

/// The write lock, released on drop.
pub type WriteLock = Box<dyn HeldLock>;

/// A write lock that another process may take over if it is not renewed in time.
pub trait HeldLock: Send {
    /// Fails if another process has taken over the lock. Must be called before every deletion and
    /// every switch.
    fn check(&self) -> Result<(), EngineError>;
}

/// For a generation that the lock of another generation protects.
impl HeldLock for () {
    fn check(&self) -> Result<(), EngineError> {
        Ok(())
    }
}
