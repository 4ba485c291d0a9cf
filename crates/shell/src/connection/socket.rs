//! Sockets with and without TLS.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::web::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::server::TlsStream;

use super::acknowledged::acknowledged;

/// A socket accepted by a listener.
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl From<TcpStream> for Stream {
    fn from(stream: TcpStream) -> Self {
        Self::Tcp(stream)
    }
}

impl From<UnixStream> for Stream {
    fn from(stream: UnixStream) -> Self {
        Self::Unix(stream)
    }
}

impl Stream {
    /// Returns the address of the peer, or `None` for a Unix socket.
    pub(super) fn peer(&self) -> io::Result<Option<SocketAddr>> {
        match self {
            Self::Tcp(stream) => stream.peer_addr().map(Some),
            Self::Unix(_) => Ok(None),
        }
    }

    /// Waits until the socket is readable.
    pub(super) async fn readable(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.readable().await,
            Self::Unix(stream) => stream.readable().await,
        }
    }

    /// Reads whatever is available into the spare capacity of `buffer`.
    pub(super) fn try_read(&self, buffer: &mut BytesMut) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.try_read_buf(buffer),
            Self::Unix(stream) => stream.try_read_buf(buffer),
        }
    }

    pub(super) fn set_nodelay(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_nodelay(true),
            Self::Unix(_) => Ok(()),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(io) => Pin::new(io).poll_read(context, buffer),
            Self::Unix(io) => Pin::new(io).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(io) => Pin::new(io).poll_write(context, bytes),
            Self::Unix(io) => Pin::new(io).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(io) => Pin::new(io).poll_flush(context),
            Self::Unix(io) => Pin::new(io).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(io) => Pin::new(io).poll_shutdown(context),
            Self::Unix(io) => Pin::new(io).poll_shutdown(context),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Http1,
    Http2,
}

pub(super) enum Socket {
    /// Without TLS. `first` contains the bytes that we read to detect the protocol and still have
    /// to deliver.
    Plain { io: Stream, first: Bytes },
    /// With TLS.
    Secure(Box<TlsStream<Stream>>),
}

impl Socket {
    /// Returns how many bytes the client's TCP has acknowledged, or 0 if the system doesn't track
    /// this.
    pub(super) fn acknowledged(&self) -> u64 {
        let stream = match self {
            Self::Plain { io, .. } => io,
            Self::Secure(io) => io.get_ref().0,
        };
        match stream {
            Stream::Tcp(stream) => acknowledged(stream),
            Stream::Unix(_) => 0,
        }
    }

    pub(super) fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self {
            Self::Plain { first, .. } if !first.is_empty() => {
                let length = first.len().min(buffer.remaining());
                buffer.put_slice(&first[..length]);
                first.advance(length);
                Poll::Ready(Ok(()))
            }
            Self::Plain { io, .. } => Pin::new(io).poll_read(context, buffer),
            Self::Secure(io) => Pin::new(io).poll_read(context, buffer),
        }
    }

    pub(super) fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Plain { io, .. } => Pin::new(io).poll_write(context, bytes),
            Self::Secure(io) => Pin::new(io).poll_write(context, bytes),
        }
    }

    pub(super) fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Plain { io, .. } => Pin::new(io).poll_flush(context),
            Self::Secure(io) => Pin::new(io).poll_flush(context),
        }
    }

    pub(super) fn poll_shutdown(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Plain { io, .. } => Pin::new(io).poll_shutdown(context),
            Self::Secure(io) => Pin::new(io).poll_shutdown(context),
        }
    }
}
