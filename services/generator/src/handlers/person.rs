//! `/api/Person`.

use actix_web::web::Data;
use actix_web::{Error, HttpResponse, get};
use auth::After;
use shell::Fault;

use super::input::Input;
use super::reply;
use crate::error::Failures;
use crate::metrics::Kind;
use crate::model::person::Maker;
use crate::model::{Random, SEEDED_DAY};
use crate::state::State;
use crate::wire::{OneOrSeveral, PersonAnswer, PersonParameters, PersonRequest};

/// Generate a person
///
/// The name, sex, birth date, address, telephone number, email address, national identity number,
/// bank account and card are consistent. **Numbers and accounts may exist: do not call them or send
/// money to them.** The email address does not exist. With `quantity`, the response is a list.
#[utoipa::path(
    operation_id = "generatePersons",
    tag = "Misc",
    params(PersonParameters),
    responses(
        (status = 200, body = OneOrSeveral<PersonAnswer>,
            headers(("X-Ref-Date" = String, description = "Reference date of ages and card expiry dates")),
            example = json!({
                "culture": "sv",
                "sex": "female",
                "givenName": "Marie",
                "surname": "Holm",
                "fullName": "Marie Holm",
                "nameLatin": "Marie Holm",
                "nameKana": null,
                "birthDate": "1958-09-15",
                "address": {
                    "line": "Rönnvägen 32 A, 580 63 Linköping",
                    "city": "Linköping",
                    "region": null,
                    "postcode": "580 63",
                    "countryCode": "SE"
                },
                "phone": "+46795871699",
                "email": "marie.holm@example.com",
                "username": "marieh",
                "nationalNumber": "195809156887",
                "iban": "SE8647816902588774373886",
                "card": {
                    "type": "AmericanExpress",
                    "date": "2031-08-01T00:00:00",
                    "fullName": "Marie Holm",
                    "cardNumber": "377405294193079",
                    "cvv": "7407",
                    "pin": 8691
                }
            })),
        Failures
    )
)]
#[get("/api/Person")]
pub async fn generate_persons(
    After(input): After<Input<PersonRequest>>,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let seed = input.seed()?;
    let usual = || if input.seed.is_some() { SEEDED_DAY } else { state.today() };
    let day = input.reference_day.unwrap_or_else(usual);
    if let Some(violation) = input.date_violation(day) {
        return Err(input.error(Fault::InvalidQuery(vec![violation])));
    }
    let maker = Maker::new(input.culture, day, input.limits).map_err(|cause| input.error(cause))?;
    let random = seed.random("generatePersons", input.culture.code);
    let make = move |index, random: &mut Random| PersonAnswer::from(maker.make(index, random));
    let response = input.records(Kind::Person, &seed, random, make).await?;
    Ok(reply::with_reference_day(response, day))
}
