//! A service's operations. Routing and documentation share the same list.

mod operation;
mod register;
mod table;
mod tree;

pub use operation::Operation;
pub use register::Routes;
pub(crate) use register::{document, serve};
pub use table::{Operations, PathRules, TrailingSlash, operations};
