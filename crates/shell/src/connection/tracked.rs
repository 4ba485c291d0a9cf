//! The application with an account of its open requests.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use actix_http::{Payload, Request, Response};
use actix_web::Error;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{Service, ServiceResponse};
use actix_web::web::Bytes;
use actix_web::{HttpMessage, HttpResponse};
use futures_util::future::LocalBoxFuture;

use super::account::{Connection, OpenRequest};
use super::body::Timed;
use super::limits::Limits;

/// The application of a worker, shared by its connections.
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

/// The connection of a request.
pub(super) fn connection(request: &Request) -> Option<Rc<Connection>> {
    match request.conn_data::<Rc<Connection>>() {
        Some(connection) => Some(Rc::clone(connection)),
        None => request.extensions().get::<Rc<Connection>>().cloned(),
    }
}

impl<A> Service<Request> for Tracked<A>
where
    A: Service<Request, Response = ServiceResponse<BoxBody>, Error = Error> + 'static,
    A::Future: 'static,
{
    type Response = Response<Watched>;
    type Error = Response<BoxBody>;
    type Future = LocalBoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.app.poll_ready(context).map_err(|error| HttpResponse::from_error(error).into())
    }

    fn call(&self, mut request: Request) -> Self::Future {
        let open = OpenRequest::new(connection(&request));
        if let Payload::H1 { .. } = request.payload() {
            let timed = Timed::new(request.take_payload(), self.limits.body);
            *request.payload() = Payload::Stream { payload: Box::pin(timed) };
        }
        let answer = self.app.call(request);
        Box::pin(async move {
            let response: Response<BoxBody> = match answer.await {
                Ok(response) => response.into(),
                Err(error) => HttpResponse::from_error(error).into(),
            };
            Ok(response.map_body(|_, body| Watched { body, _open: open }))
        })
    }
}

/// The body of an answer, which keeps its request open until it is sent.
pub(super) struct Watched {
    body: BoxBody,
    _open: OpenRequest,
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
        Pin::new(&mut self.get_mut().body).poll_next(context)
    }
}
