//! The one right to write, whatever the engine.

use super::error::EngineError;

/// The write lock, until it is dropped.
pub type WriteLock = Box<dyn HeldLock>;

/// A write lock that another process may have taken over, if this one was silent for too long.
pub trait HeldLock: Send {
    /// Fails when it was taken over; asked right before anything is deleted or switched.
    fn check(&self) -> Result<(), EngineError>;
}

/// For a generation that is written by the right to write another one.
impl HeldLock for () {
    fn check(&self) -> Result<(), EngineError> {
        Ok(())
    }
}
