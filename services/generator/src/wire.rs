//! What goes over the wire: parameters with their rules, answers with their exact names.

mod body;
mod card;
mod input;
mod name;

pub use body::Body;
pub use card::{CardAnswer, CardParams};
pub use input::{Draw, Input, Operation};
pub use name::{CultureAnswer, NameParams, NameType};
