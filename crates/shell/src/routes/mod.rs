//! The operations of a service. The registered operations are the only list of them.

mod operation;
mod register;
mod table;
mod tree;

pub use operation::Operation;
pub use register::Routes;
pub(crate) use register::{document, serve};
pub use table::{Operations, PathRules, TrailingSlash, operations};
