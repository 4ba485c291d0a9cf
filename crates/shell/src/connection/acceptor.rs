//! The service to which actix-server hands accepted sockets.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::account::Connection;
use super::entrance::Entrance;
use super::expectation::Expectation;
use super::guard::Guard;
use super::http2;
use super::limits::LINGER;
use super::opening::{self, Opened};
use super::socket::{Protocol, Stream};
use super::tracked::Tracked;
use actix_http::{HttpService, KeepAlive, Request};
use actix_service::{IntoServiceFactory, Service, ServiceFactory, fn_factory};
use actix_web::Error;
use actix_web::dev::{AppConfig, ServiceResponse};
use futures_util::future::LocalBoxFuture;

/// Serves HTTP/1.1 on a socket until it is closed.
type Http1 = dyn Fn(Guard, Option<SocketAddr>) -> LocalBoxFuture<'static, ()>;

/// Handles a listener's accepted sockets on one worker.
struct Acceptor<A> {
    entrance: Entrance,
    app: Tracked<A>,
    http1: Rc<Http1>,
}

/// Returns the service factory for a listener. `app` builds the application once per worker.
pub(crate) fn listener<F, I, S, IO>(
    entrance: Entrance,
    app: F,
) -> impl ServiceFactory<IO, Config = (), Response = (), Error = (), InitError = ()>
where
    IO: Into<Stream> + 'static,
    F: Fn() -> I + Clone + 'static,
    I: IntoServiceFactory<S, Request>,
    S: ServiceFactory<
            Request,
            Config = AppConfig,
            Response = ServiceResponse,
            Error = Error,
            InitError = (),
        > + 'static,
    S::Service: 'static,
    S::Future: 'static,
    <S::Service as Service<Request>>::Future: 'static,
{
    fn_factory(move || {
        let (entrance, app) = (entrance.clone(), app().into_factory());
        async move {
            let app = Rc::new(app.new_service(AppConfig::default()).await?);
            let app = Tracked::new(app, entrance.limits);
            let http1 = http1(&entrance, app.clone()).await?;
            Ok::<_, ()>(Acceptor { entrance, app, http1 })
        }
    })
}

/// Returns an application's HTTP/1.1 dispatcher.
async fn http1<A>(entrance: &Entrance, app: Tracked<A>) -> Result<Rc<Http1>, ()>
where
    A: Service<Request, Response = ServiceResponse, Error = Error> + 'static,
    A::Future: 'static,
{
    let stopping = entrance.stopping.clone();
    let expectation = Expectation(app.clone());
    let service = HttpService::build()
        // The guard enforces deadlines for all request heads, including the first, and closes idle
        // connections.
        .keep_alive(KeepAlive::Os)
        .client_request_timeout(std::time::Duration::ZERO)
        .client_disconnect_timeout(LINGER)
        .h1_allow_half_closed(entrance.half_closed)
        .graceful_shutdown_signal(move || {
            let stopping = stopping.clone();
            async move { stopping.notified().await }
        })
        .on_connect_ext(|io: &Guard, data| {
            data.insert(Rc::clone(&io.connection));
        })
        .expect(fn_factory(move || {
            let expectation = expectation.clone();
            async move { Ok::<_, ()>(expectation) }
        }))
        .h1(fn_factory(move || {
            let app = app.clone();
            async move { Ok::<_, ()>(app) }
        }));
    let service = Rc::new(service.new_service(()).await?);
    Ok(Rc::new(move |io, peer| {
        let served = service.call((io, peer));
        Box::pin(async move {
            if let Err(error) = served.await {
                log::debug!("a connection ended: {error}");
            }
        })
    }))
}

impl<A, IO> Service<IO> for Acceptor<A>
where
    IO: Into<Stream>,
    A: Service<Request, Response = ServiceResponse, Error = Error> + 'static,
    A::Future: 'static,
{
    type Response = ();
    type Error = ();
    type Future = Pin<Box<dyn Future<Output = Result<(), ()>>>>;

    fn poll_ready(&self, _: &mut Context<'_>) -> Poll<Result<(), ()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&self, stream: IO) -> Self::Future {
        let stream = stream.into();
        let (entrance, app, http1) =
            (self.entrance.clone(), self.app.clone(), Rc::clone(&self.http1));
        Box::pin(async move {
            serve(stream, entrance, app, http1).await;
            Ok(())
        })
    }
}

async fn serve<A>(stream: Stream, entrance: Entrance, app: Tracked<A>, http1: Rc<Http1>)
where
    A: Service<Request, Response = ServiceResponse, Error = Error> + 'static,
    A::Future: 'static,
{
    let connection = Connection::new(entrance.tls.is_some());
    connection.trusted_peer.set(matches!(stream, Stream::Unix(_)));
    if let Err(error) = stream.set_nodelay() {
        log::debug!("TCP_NODELAY cannot be set: {error}");
    }
    let opened = opening::open(stream, &entrance, &connection).await;
    let Some(opened) = opened else { return };
    let Opened { protocol, peer, .. } = opened;
    let (guard, _permit) = Guard::new(opened, connection, &entrance);
    match protocol {
        Protocol::Http1 => http1(guard, peer).await,
        Protocol::Http2 => http2::serve(guard, app, peer, &entrance).await,
    }
}
