//! The write lock of all engines.

use super::error::EngineError;

/// The write lock, released on drop.
pub type WriteLock = Box<dyn HeldLock>;

/// A write lock that another process may take over if it is not renewed in time.
pub trait HeldLock: Send {
    /// Fails if the lock was taken over. Called before every deletion and switch.
    fn check(&self) -> Result<(), EngineError>;
}

/// For a generation that is protected by the lock of another one.
impl HeldLock for () {
    fn check(&self) -> Result<(), EngineError> {
        Ok(())
    }
}
