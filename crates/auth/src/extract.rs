//! Extractors for request handlers.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::web::Data;
use actix_web::{Error, FromRequest, HttpRequest};
use shell::Fault;

use crate::{Caller, Gate};

/// Runs another extractor only after the caller has been admitted, so that 401 and 429 take
/// precedence over errors in the path, query or body. To wrap several extractors, use a tuple.
///
/// ```
/// use actix_web::web::Query;
/// use actix_web::{Responder, get};
/// use auth::{After, Caller};
///
/// #[derive(serde::Deserialize)]
/// struct Search {
///     text: String,
/// }
///
/// #[get("/search")]
/// async fn search(caller: Caller, query: After<Query<Search>>) -> impl Responder {
///     let Query(Search { text }) = query.0;
///     format!("{}: {text}", caller.key.map_or_else(String::new, |key| key.owner.clone()))
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct After<T>(pub T);

type Extraction<T> = Pin<Box<dyn Future<Output = Result<T, Error>>>>;

impl FromRequest for Caller {
    type Error = Error;
    type Future = Extraction<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        Box::pin(admit(request.clone()))
    }
}

impl<T> FromRequest for After<T>
where
    T: FromRequest + 'static,
{
    type Error = Error;
    type Future = Extraction<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, mut payload) = (request.clone(), payload.take());
        Box::pin(async move {
            admit(request.clone()).await?;
            T::from_request(&request, &mut payload).await.map(Self).map_err(Into::into)
        })
    }
}

async fn admit(request: HttpRequest) -> Result<Caller, Error> {
    let gate = request
        .app_data::<Data<Gate>>()
        .map(|gate| gate.get_ref())
        .or_else(|| request.app_data::<Gate>());
    let admitted = match gate {
        Some(gate) => gate.admit(&request).await.map_err(Fault::from),
        None => Err(Fault::Internal("no Gate in the app data".to_owned())),
    };
    admitted.map_err(|fault| fault.into_error(&request))
}
