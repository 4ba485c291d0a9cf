//! The operations of a service. Routing and documentation use the same list of registered
//! operations.

mod operation;
mod register;
mod table;
mod tree;

pub use operation::Operation;
pub use register::Routes;
pub(crate) use register::{document, serve};
pub use table::{Operations, PathRules, TrailingSlash, operations};
