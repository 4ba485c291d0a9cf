//! Request and response types, named as in the API contract, and parameter parsing.

mod address;
mod archive;
mod body;
mod book;
mod business;
mod card;
mod document;
mod finance;
mod finance_validation;
mod form;
mod identity;
mod name;
mod person;
mod phone;
mod record;
mod records;
mod request;
mod review;
mod rules;
mod schemas;
mod social;
mod spelling;
mod text;
mod values;

pub use address::{AddressAnswer, AddressParameters, AddressRequest, AddressRow};
pub use archive::{Archive, file_names};
pub use body::{BodyRequest, DEEPEST, TextDto};
pub use book::{Book, fill_book};
pub use business::{
    BrandRequest, BusinessParameters, BusinessRequest, WordsParameters, WordsRequest,
};
pub use card::{
    CardAnswer, CardParameters, CardRequest, CardValidationAnswer, CardValidationParameters,
    CardValidationRequest,
};
pub use document::{Document, DocumentError, RowForm, push_rows};
pub use finance::{
    CountryAnswer, CryptoAnswer, CryptoParameters, CryptoRequest, IbanParameters, IbanPath,
    IbanRequest,
};
pub use finance_validation::{
    CryptoValidationAnswer, CryptoValidationParameters, CryptoValidationRequest,
    IbanValidationAnswer, IbanValidationParameters, IbanValidationRequest,
};
pub use form::{Form, WORKBOOK};
pub use identity::{IdentityParameters, IdentityRequest};
pub use name::{CultureAnswer, NameParameters, NameRequest};
pub use person::{PersonAnswer, PersonParameters, PersonRequest};
pub use phone::{
    ImeiParameters, ImeiRequest, PhoneAnswer, PhoneParameters, PhoneRequest,
    PhoneValidationParameters, PhoneValidationRequest,
};
pub use record::{OneOrSeveral, Record, TextOrTexts, TypeName, push_row};
pub use records::{
    MOST_ROWS, RecordsFormat, RecordsParameters, RecordsRequest, RecordsSchema,
    violations as schema_violations,
};
pub use request::{Extent, Request, Seeded, Series, read_for_json};
pub use review::{ReviewParameters, ReviewRequest};
pub use rules::{ABSENT, BETWEEN, DATE, MEMBER_LENGTH, TOO_LONG, UNSUPPORTED};
pub use schemas::{SavedSchema, SchemaPath, SchemaRequest};
pub use social::{
    NumberAnswer, NumberParameters, NumberRequest, NumberValidation, VatParameters, VatRequest,
};
pub use text::{
    Change, HumanizeRequest, LoremParameters, LoremRequest, PasswordParameters, PasswordRequest,
    TransformParameters, TransformRequest,
};
