//! Extractors that report failures in the service's error format.

use std::future::{Ready, ready};
use std::ops::Deref;

use actix_web::dev::Payload;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::{FromRequest, HttpRequest};
use futures_util::future::LocalBoxFuture;
use serde::de::DeserializeOwned;
use validator::Validate;

use super::input::Input;
use super::members::members;
use super::reader::read_validated;
use super::rules::Rules;
use crate::{Fault, Violation, media, read_body};

/// Maximum size of a JSON body or form in bytes.
const BODY_LIMIT: usize = 1 << 20;

/// Maximum nesting depth of arrays and objects.
const DEEPEST: usize = 32;

/// Rules for services that haven't registered any.
static PLAIN: Rules = Rules::PLAIN;

fn rules(request: &HttpRequest) -> &Rules {
    request.app_data::<Rules>().unwrap_or(&PLAIN)
}

macro_rules! wrapper {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name<T>(pub T);

        impl<T> Deref for $name<T> {
            type Target = T;

            fn deref(&self) -> &T {
                &self.0
            }
        }
    };
}

wrapper! {
    /// The query parameters of an operation, read according to the [`Rules`] in the app data.
    Query
}
wrapper! {
    /// The path parameters of an operation, read according to the [`Rules`] in the app data.
    Path
}
wrapper! {
    /// The JSON body of an operation, up to 1 MiB long and 32 levels deep.
    Json
}
wrapper! {
    /// The form sent to an operation (`application/x-www-form-urlencoded`), up to 1 MiB long.
    Form
}

impl<T: DeserializeOwned + Validate> FromRequest for Query<T> {
    type Error = actix_web::Error;
    type Future = Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let input = Input::query(request.query_string());
        let read =
            read_validated(&input, rules(request)).into_result().map_err(Fault::InvalidQuery);
        ready(read.map(Self).map_err(|fault| fault.into_error(request)))
    }
}

impl<T: DeserializeOwned + Validate> FromRequest for Path<T> {
    type Error = actix_web::Error;
    type Future = Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let input = Input::path(request);
        let read = read_validated(&input, rules(request)).into_result().map_err(Fault::InvalidPath);
        ready(read.map(Self).map_err(|fault| fault.into_error(request)))
    }
}

impl<T: DeserializeOwned + Validate> FromRequest for Json<T> {
    type Error = actix_web::Error;
    type Future = LocalBoxFuture<'static, Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, mut payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let read = json(&request, &mut payload).await;
            read.map(Self).map_err(|fault| fault.into_error(&request))
        })
    }
}

async fn json<T: DeserializeOwned + Validate>(
    request: &HttpRequest,
    payload: &mut Payload,
) -> Result<T, Fault> {
    if !request.headers().get(CONTENT_TYPE).is_some_and(media::is_json) {
        return Err(Fault::UnsupportedMediaType);
    }
    let bytes = read_body(request, payload, BODY_LIMIT).await?;
    let members = members(&bytes, DEEPEST).map_err(broken)?;
    let input = Input::members(members.iter().map(|(name, value)| (name, value)));
    read_validated(&input, rules(request)).into_result().map_err(Fault::InvalidBody)
}

/// Converts a violation that concerns the whole body, either because the body is malformed or
/// because it isn't an object.
fn broken(violation: Violation) -> Fault {
    let number = |name| violation.limit(name).and_then(serde_json::Value::as_u64);
    match (number("line"), number("column")) {
        (Some(line), Some(column)) => Fault::MalformedBody {
            line: usize::try_from(line).unwrap_or(usize::MAX),
            column: usize::try_from(column).unwrap_or(usize::MAX),
            message: violation.message,
        },
        _ => Fault::InvalidBody(vec![violation]),
    }
}

impl<T: DeserializeOwned + Validate> FromRequest for Form<T> {
    type Error = actix_web::Error;
    type Future = LocalBoxFuture<'static, Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, mut payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let read = form(&request, &mut payload).await;
            read.map(Self).map_err(|fault| fault.into_error(&request))
        })
    }
}

async fn form<T: DeserializeOwned + Validate>(
    request: &HttpRequest,
    payload: &mut Payload,
) -> Result<T, Fault> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(media::essence);
    if !kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/x-www-form-urlencoded")) {
        return Err(Fault::UnsupportedMediaType);
    }
    let bytes = read_body(request, payload, BODY_LIMIT).await?;
    let text = str::from_utf8(&bytes).map_err(|_| {
        Fault::InvalidBody(vec![Violation::new("", "encoding", "the form is not UTF-8 text")])
    })?;
    read_validated(&Input::query(text), rules(request)).into_result().map_err(Fault::InvalidBody)
}
