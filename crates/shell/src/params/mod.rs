//! Reads operations' parameters, using serde and `validator`.
//!
//! A service declares its [`Rules`] once, plus a struct per operation that derives `Deserialize`
//! and `IntoParams`, so the same struct both documents and reads the parameters. If there are
//! violations, the [`Query`], [`Path`], [`Json`] and [`Form`] extractors respond in the service's
//! error format. Services that need a different order of checks use [`read`] and [`read_validated`]
//! instead. Structs with `validator` rules also derive `Validate`.
//!
//! # Violation codes
//!
//! | Code | Meaning | Limits |
//! |---|---|---|
//! | `encoding` | the value is not UTF-8 | |
//! | `unknown` | there is no field with this name | |
//! | `required` | a required value is missing | |
//! | `boolean`, `integer`, `number` | the text cannot be parsed as this type | |
//! | `choice` | the word is not a variant of the enum | `values` |
//! | `type`, `value`, `length` | the JSON value has the wrong type, or a `Deserialize` implementation rejected it | |
//! | `invalid` | `de::Error::custom` | |
//! | any other | the code of [`reject`] or `validator` | those of `validator`: `min`, `max`, … |

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
pub use reader::{Reading, read, read_validated};
pub use rules::{
    Empty, Faults, Lists, Names, Numbers, Repeated, Rules, Undecodable, Unknown, Words,
};
pub use validation::on_field;
