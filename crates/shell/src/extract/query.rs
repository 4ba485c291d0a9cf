//! Validated query parameters.

use std::future::{Ready, ready};
use std::ops::Deref;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use serde::de::DeserializeOwned;
use validator::Validate;

use super::{violations, whole};
use crate::Fault;

/// Query parameters of one operation; lists come as `a[]=1&a[]=2`, `a[0]=1` or `a=1&a=2`.
#[derive(Clone, Debug)]
pub struct Query<T>(pub T);

impl<T> Deref for Query<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: DeserializeOwned + Validate> FromRequest for Query<T> {
    type Error = actix_web::Error;
    type Future = Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(parse(request.query_string()).map(Self).map_err(|fault| fault.into_error(request)))
    }
}

fn parse<T: DeserializeOwned + Validate>(query: &str) -> Result<T, Fault> {
    let config = serde_qs::Config::new().use_form_encoding(true);
    let value: T =
        config.deserialize_str(query).map_err(|error| Fault::InvalidQuery(whole(error)))?;
    value.validate().map_err(|errors| Fault::InvalidQuery(violations(&errors)))?;
    Ok(value)
}
