//! Handles requests with `Expect: 100-continue`. Their clients wait before they send the body.
//!
//! actix-http's dispatcher writes `100 Continue` once its service for such requests returns. Our
//! service starts the application and returns when the application reads the body. Sometimes the
//! head is enough for a response, for example if the path is unknown, a key is missing or the body
//! is too long. The client then gets the response without having sent the body.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use actix_http::{Payload, Request, Response};
use actix_web::Error;
use actix_web::HttpMessage;
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{Service, ServiceResponse};
use actix_web::error::PayloadError;
use actix_web::web::Bytes;
use futures_util::Stream;
use futures_util::future::LocalBoxFuture;
use futures_util::task::AtomicWaker;

use super::tracked::{Begun, Tracked};

/// Decides whether to let the client send the body.
pub(super) struct Expectation<A>(pub(super) Tracked<A>);

impl<A> Clone for Expectation<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A> Service<Request> for Expectation<A>
where
    A: Service<Request, Response = ServiceResponse<BoxBody>, Error = Error> + 'static,
    A::Future: 'static,
{
    type Response = Request;
    /// The response, if the application responds without reading the body.
    type Error = Response<BoxBody>;
    type Future = LocalBoxFuture<'static, Result<Request, Self::Error>>;

    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&self, mut request: Request) -> Self::Future {
        let wait = Rc::new(Wait::default());
        let payload = Awaited { payload: request.take_payload(), wait: Rc::clone(&wait) };
        *request.payload() = Payload::Stream { payload: Box::pin(payload) };
        let mut answer = self.0.call(request);
        Box::pin(async move {
            let early = poll_fn(|context| {
                wait.waker.register(context.waker());
                match answer.as_mut().poll(context) {
                    Poll::Ready(answer) => Poll::Ready(Some(answer)),
                    Poll::Pending if wait.has_begun.get() => Poll::Ready(None),
                    Poll::Pending => Poll::Pending,
                }
            });
            match early.await {
                Some(Ok(response)) => Err(response.map_body(|_, body| body.boxed())),
                Some(Err(response)) => Err(response),
                None => {
                    let request = Request::new();
                    request.extensions_mut().insert(Begun(answer));
                    Ok(request)
                }
            }
        })
    }
}

/// Whether the application has started waiting for the body.
#[derive(Default)]
struct Wait {
    has_begun: Cell<bool>,
    /// Wakes the connection's task, since the application might read the body in another task.
    waker: AtomicWaker,
}

/// A body that reports when the application starts waiting for it.
struct Awaited {
    payload: Payload,
    wait: Rc<Wait>,
}

impl Stream for Awaited {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let part = Pin::new(&mut this.payload).poll_next(context);
        if part.is_pending() && !this.wait.has_begun.replace(true) {
            this.wait.waker.wake();
        }
        part
    }
}
