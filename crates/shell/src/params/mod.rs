//! Reads the parameters of all operations, based on serde and `validator`.
//!
//! A service declares its [`Rules`] once, and for each operation a struct that derives `Deserialize` and
//! `IntoParams`. The same struct documents and reads the parameters. The extractors [`Query`], [`Path`], [`Json`]
//! and [`Form`] answer violations in the service's error format. [`read`] and [`read_validated`] are for services
//! with their own order of checks; structs with rules of `validator` also derive `Validate`.
//!
//! # Codes of violations
//!
//! | Code | Fault | Limits |
//! |---|---|---|
//! | `encoding` | the value is not UTF-8 | |
//! | `unknown` | no field has the name | |
//! | `required` | a required value is missing | |
//! | `boolean`, `integer`, `number` | the text cannot be parsed as one | |
//! | `choice` | the word is not a variant of the enum | `values` |
//! | `type`, `value`, `length` | another kind of JSON value, or the error of a `Deserialize` implementation | |
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
