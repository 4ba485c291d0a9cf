//! Sockets with and without TLS.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// A socket of either kind.
pub(super) enum Socket {
    /// Plain TCP.
    Plain(TcpStream),
    /// TLS over TCP.
    Secure(Box<TlsStream<TcpStream>>),
}

impl Socket {
    pub(super) fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(io) => Pin::new(io).poll_read(context, buffer),
            Self::Secure(io) => Pin::new(io).poll_read(context, buffer),
        }
    }

    pub(super) fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Plain(io) => Pin::new(io).poll_write(context, bytes),
            Self::Secure(io) => Pin::new(io).poll_write(context, bytes),
        }
    }

    pub(super) fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(io) => Pin::new(io).poll_flush(context),
            Self::Secure(io) => Pin::new(io).poll_flush(context),
        }
    }

    pub(super) fn poll_shutdown(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(io) => Pin::new(io).poll_shutdown(context),
            Self::Secure(io) => Pin::new(io).poll_shutdown(context),
        }
    }
}
