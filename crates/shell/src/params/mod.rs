//! One reader for the parameters of all operations, on serde and `validator`.
//!
//! A service declares its [`Rules`] once and a struct for each operation, which derives
//! `Deserialize`, `Validate` and `IntoParams`: the struct that documents the parameters reads them.
//! Extractors ([`Query`], [`Path`], [`Json`],
//! [`Form`]) answer violations in the service's error format; [`read`] is for services
//! that have an order of checks of their own.
//!
//! # Codes of violations
//!
//! | Code | What is wrong | Limits |
//! |---|---|---|
//! | `encoding` | the value is not UTF-8 | |
//! | `unknown` | no field has the name | |
//! | `required` | a required value is missing | |
//! | `boolean`, `integer`, `number` | the text is none | |
//! | `choice` | the word is none of an enum | `values` |
//! | `type`, `value`, `length` | another kind of JSON value, or as a `Deserialize` says | |
//! | `invalid` | `de::Error::custom` | |
//! | another word | what [`reject`] or `validator` says | those of `validator`: `min`, `max`, … |

mod brackets;
mod error;
mod extract;
mod input;
mod members;
mod reader;
mod rules;
mod validation;
mod value;

pub use brackets::bracketed;
pub use error::reject;
pub use extract::{Form, Json, Path, Query};
pub use input::Input;
pub use members::members;
pub use reader::{Reading, read};
pub use rules::{
    Empty, Faults, Lists, Names, Numbers, Repeated, Rules, Undecodable, Unknown, Words,
};
pub use validation::on_field;
