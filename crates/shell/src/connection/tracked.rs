//! Wraps the application to keep track of its open requests.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use actix_http::{Payload, Request, Response};
use actix_web::Error;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{Service, ServiceResponse};
use actix_web::http::{Version, header};
use actix_web::web::Bytes;
use actix_web::{HttpMessage, HttpResponse};
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;

use super::account::{Connection, Held, OpenRequest};
use super::body::Timed;
use super::limits::Limits;
use super::pipeline::Expected;

/// Assumed size in bytes of a response of unknown length, including the compressor's buffers.
pub(super) const STREAM_SIZE: usize = 1 << 20;
/// Maximum length in bytes of the slices passed to an HTTP/1.1 connection, since the dispatcher
/// copies each of them.
const SLICE: usize = 128 << 10;

/// The application's response, whose body hasn't been sent yet.
pub(super) type Answer = LocalBoxFuture<'static, Result<Response<Watched>, Response<BoxBody>>>;

/// The response to a request that the application began handling before the dispatcher passed it
/// on.
pub(super) struct Begun(pub(super) Answer);

/// A worker's application, which all of its connections share.
pub(super) struct Tracked<A> {
    app: Rc<A>,
    limits: Limits,
}

impl<A> Tracked<A> {
    pub(super) fn new(app: Rc<A>, limits: Limits) -> Self {
        Self { app, limits }
    }
}

impl<A> Clone for Tracked<A> {
    fn clone(&self) -> Self {
        Self { app: Rc::clone(&self.app), limits: self.limits }
    }
}

/// Returns the connection on which `request` arrived.
pub(super) fn connection(request: &Request) -> Option<Rc<Connection>> {
    match request.conn_data::<Rc<Connection>>() {
        Some(connection) => Some(Rc::clone(connection)),
        None => request.extensions().get::<Rc<Connection>>().cloned(),
    }
}

/// Returns the kind of body that an HTTP/1.1 client sends after a request head.
fn expected(request: &mut Request) -> Expected {
    if matches!(request.payload(), Payload::None) {
        return Expected::Nothing;
    }
    let headers = request.headers();
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    match length.and_then(|length| length.parse().ok()) {
        Some(bytes) if !headers.contains_key(header::TRANSFER_ENCODING) => Expected::Bytes(bytes),
        _ => Expected::Unknown,
    }
}

impl<A> Service<Request> for Tracked<A>
where
    A: Service<Request, Response = ServiceResponse<BoxBody>, Error = Error> + 'static,
    A::Future: 'static,
{
    type Response = Response<Watched>;
    type Error = Response<BoxBody>;
    type Future = Answer;

    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.app.poll_ready(context).map_err(|error| HttpResponse::from_error(error).into())
    }

    fn call(&self, mut request: Request) -> Self::Future {
        let begun = request.extensions_mut().remove();
        if let Some(Begun(answer)) = begun {
            return answer;
        }
        let connection = connection(&request);
        let expected = expected(&mut request);
        let mut open = OpenRequest::new(connection.clone());
        if !matches!(request.payload(), Payload::None) {
            let held = connection.as_deref().map(|connection| Rc::new(Held::new(connection, 0)));
            open.body.clone_from(&held);
            let timed =
                Timed::new(request.take_payload(), self.limits.body, connection.clone(), held);
            *request.payload() = Payload::Stream { payload: Box::pin(timed) };
        }
        let writer = connection.filter(|_| request.version() < Version::HTTP_2);
        if let Some(connection) = &writer {
            connection.expected.set(expected);
            connection.body_is_read.set(false);
        }
        // An async block would reserve space for the captured variables twice.
        let watched = self.app.call(request).map(move |answer| {
            let response: Response<BoxBody> = match answer {
                Ok(response) => response.into(),
                Err(error) => HttpResponse::from_error(error).into(),
            };
            Ok(response.map_body(|_, body| Watched::new(body, open, writer)))
        });
        Box::pin(watched)
    }
}

/// A response body that keeps its request open until the body has been sent.
pub(super) struct Watched {
    body: BoxBody,
    _open: OpenRequest,
    /// The connection, if the body is sent in slices (HTTP/1.1).
    writer: Option<Rc<Connection>>,
    rest: Bytes,
}

impl Watched {
    fn new(body: BoxBody, open: OpenRequest, writer: Option<Rc<Connection>>) -> Self {
        if let Some(connection) = &writer {
            connection.sending.set(match body.size() {
                BodySize::Sized(bytes) => usize::try_from(bytes).unwrap_or(usize::MAX),
                BodySize::Stream => STREAM_SIZE,
                BodySize::None => 0,
            });
        }
        Self { body, _open: open, writer, rest: Bytes::new() }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(connection) = &self.writer {
            connection.sending.set(0);
        }
    }
}

impl MessageBody for Watched {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let this = self.get_mut();
        if this.rest.is_empty() {
            match Pin::new(&mut this.body).poll_next(context) {
                Poll::Ready(Some(Ok(part))) if this.writer.is_some() => this.rest = part,
                Poll::Ready(Some(Err(error))) => {
                    log::error!("a response was cut off by an error: {error}");
                    return Poll::Ready(Some(Err(error)));
                }
                other => return other,
            }
        }
        let length = this.rest.len().min(SLICE);
        Poll::Ready(Some(Ok(this.rest.split_to(length))))
    }
}
