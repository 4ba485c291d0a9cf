//! What goes over the wire: parameters with their rules, answers with their exact names.

mod body;
mod card;
mod finance;
mod input;
mod name;
mod phone;
mod query;
mod social;

pub use body::Body;
pub use card::{CardAnswer, CardParams};
pub use finance::{CountryAnswer, CryptoAnswer, CryptoParams, IbanParams};
pub use input::{Draw, Input, Operation};
pub use name::{CultureAnswer, NameParams, NameType};
pub use phone::{ImeiParams, PhoneAnswer, PhoneParams, PhoneValidateParams};
pub use query::{Query, Value};
pub use social::{DrawParams, IdType, NumberAnswer, NumberParams, NumberValidation, VatParams};
