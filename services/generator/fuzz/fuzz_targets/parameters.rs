//! The requests of all operations: parsing any query, path, body or `Accept` header must fail only
//! in documented ways.
#![no_main]

use generator::{
    AddressRequest, BodyRequest, BrandRequest, BusinessRequest, CardRequest, CardValidationRequest,
    CryptoRequest, CryptoValidationRequest, Form, HumanizeRequest, IbanRequest,
    IbanValidationRequest, IdentityRequest, ImeiRequest, LoremRequest, NameRequest, NumberRequest,
    PasswordRequest, PersonRequest, PhoneRequest, PhoneValidationRequest, Request, ReviewRequest,
    TransformRequest, VatRequest, WordsRequest,
};
use libfuzzer_sys::fuzz_target;

/// All declared names. The first byte of a fuzzed name selects one.
const NAMES: [&str; 38] = [
    "address",
    "birthDate",
    "cardNumber",
    "caseType",
    "country",
    "countryCode",
    "cryptoType",
    "culture",
    "cultureCode",
    "fictional",
    "find",
    "format",
    "hasDigits",
    "hasSpecial",
    "hasUppercase",
    "iban",
    "idType",
    "length",
    "loremType",
    "nameType",
    "number",
    "product",
    "quantity",
    "refDate",
    "replace",
    "seed",
    "sex",
    "startingWords",
    "telephone",
    "textActionType",
    "type",
    "vat",
    "Number",
    "Country",
    "Text",
    "Quantity",
    "CountryCode",
    "TEXT",
];

fn read<R: Request>(query: &str, variable: &str) {
    if let Err(violations) = R::read(query, variable) {
        assert!(!violations.is_empty());
    }
}

fn read_body<R: BodyRequest>(query: &str, body: &[u8]) {
    if let Err(violations) = R::read(query, body) {
        assert!(!violations.is_empty());
    }
}

/// The choice of a name, another name, and a value.
type Pair<'a> = (u8, &'a str, &'a str);

/// Builds a query string without escaping.
fn query(pairs: &[Pair]) -> String {
    let mut query = String::new();
    for (choice, rest, value) in pairs {
        let name = NAMES.get(usize::from(*choice)).copied().unwrap_or(rest);
        query += &format!("{name}={value}&");
    }
    query
}

fuzz_target!(|data: (Vec<Pair>, &str, &[u8])| {
    let (pairs, variable, body) = data;
    let query = query(&pairs);
    read::<AddressRequest>(&query, variable);
    read::<BrandRequest>(&query, variable);
    read::<BusinessRequest>(&query, variable);
    read::<CardRequest>(&query, variable);
    read::<CardValidationRequest>(&query, variable);
    read::<CryptoRequest>(&query, variable);
    read::<CryptoValidationRequest>(&query, variable);
    read::<IbanRequest>(&query, variable);
    read::<IbanValidationRequest>(&query, variable);
    read::<IdentityRequest>(&query, variable);
    read::<ImeiRequest>(&query, variable);
    read::<LoremRequest>(&query, variable);
    read::<NameRequest>(&query, variable);
    read::<PasswordRequest>(&query, variable);
    read::<PersonRequest>(&query, variable);
    read::<PhoneRequest>(&query, variable);
    read::<PhoneValidationRequest>(&query, variable);
    read::<ReviewRequest>(&query, variable);
    read::<VatRequest>(&query, variable);
    read::<WordsRequest>(&query, variable);
    read_body::<HumanizeRequest>(&query, body);
    read_body::<NumberRequest>(&query, body);
    read_body::<TransformRequest>(&query, body);
    let _ = Form::accepted([variable, query.as_str()].into_iter());
});
