//! Who calls, as an argument of a handler.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use actix_web::dev::Payload;
use actix_web::web::Data;
use actix_web::{Error, FromRequest, HttpRequest};
use web::Fault;

use crate::{Gate, Key, Remaining};

/// The caller of a request that passed the [`Gate`] in the app data.
///
/// As an extractor it answers 401 and 429 in the error format of the service; name it before the
/// extractors that look at parameters and body, so that it is decided first.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The key; none for an anonymous caller.
    pub key: Option<Arc<Key>>,
    /// What is left of the quota; none where the request cost nothing.
    pub remaining: Option<Remaining>,
}

impl FromRequest for Caller {
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Error>>>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let gate = request
                .app_data::<Data<Gate>>()
                .map(|gate| gate.get_ref())
                .or_else(|| request.app_data::<Gate>());
            let admitted = match gate {
                Some(gate) => gate.admit(&request).await.map_err(Fault::from),
                None => Err(Fault::Internal("no Gate in the app data".to_owned())),
            };
            admitted.map_err(|fault| fault.into_error(&request))
        })
    }
}
