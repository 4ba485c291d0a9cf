//! The rules of the service: what a word, an expression, an extension, an address and a package
//! are. Nothing here knows HTTP or SQL.
#![warn(missing_docs)]

pub mod address;
pub mod counts;
pub mod expression;
pub mod extension;
pub mod file_query;
pub mod keywords;
pub mod package;
pub mod path;
pub mod progress;
pub mod scroll;
pub mod words;
