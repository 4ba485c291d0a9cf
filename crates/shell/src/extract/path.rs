//! Validated path parameters.

use std::future::{Ready, ready};
use std::ops::Deref;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use serde::de::DeserializeOwned;
use validator::Validate;

use super::{violations, whole};
use crate::Fault;

/// Path parameters of one operation.
#[derive(Clone, Debug)]
pub struct Path<T>(pub T);

impl<T> Deref for Path<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: DeserializeOwned + Validate> FromRequest for Path<T> {
    type Error = actix_web::Error;
    type Future = Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(parse(request).map(Self).map_err(|fault| fault.into_error(request)))
    }
}

fn parse<T: DeserializeOwned + Validate>(request: &HttpRequest) -> Result<T, Fault> {
    let value: T = request.match_info().load().map_err(|error| Fault::InvalidPath(whole(error)))?;
    value.validate().map_err(|errors| Fault::InvalidPath(violations(&errors)))?;
    Ok(value)
}
