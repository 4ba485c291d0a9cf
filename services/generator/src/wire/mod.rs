//! Request and response types with their exact names, and how parameters are read.

mod card;
mod finance;
mod name;
mod phone;
mod request;
mod rules;
mod seed;
mod social;
mod values;

pub use card::{CardAnswer, CardParameters, CardRequest};
pub use finance::{
    CountryAnswer, CryptoAnswer, CryptoParameters, CryptoRequest, IbanPath, IbanRequest,
};
pub use name::{CultureAnswer, NameParameters, NameRequest};
pub use phone::{
    ImeiParameters, ImeiRequest, PhoneAnswer, PhoneParameters, PhoneRequest,
    PhoneValidationParameters, PhoneValidationRequest,
};
pub use request::{Request, Seeded};
pub use rules::{ABSENT, BETWEEN, DATE, MEMBER_LENGTH, TOO_LONG, UNSUPPORTED};
pub use seed::SeedParameters;
pub use social::{
    DEEPEST, NumberAnswer, NumberParameters, NumberRequest, NumberValidation, VatParameters,
    VatRequest,
};
