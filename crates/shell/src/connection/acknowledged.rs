//! Measures how much of the data that we sent has reached the client.
#![cfg_attr(target_os = "linux", allow(unsafe_code))]

use tokio::net::TcpStream;

/// Returns how many bytes the client's TCP has acknowledged, or 0 if the system doesn't track this.
#[cfg(target_os = "linux")]
pub(super) fn acknowledged(stream: &TcpStream) -> u64 {
    use std::mem::MaybeUninit;
    use std::os::fd::AsRawFd;

    let mut info = MaybeUninit::<libc::tcp_info>::zeroed();
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the borrowed stream keeps the socket open. The kernel writes at most `length` bytes,
    // and `info` has that size.
    let failed = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &mut length,
        )
    };
    if failed != 0 {
        return 0;
    }
    // SAFETY: all fields are integers, for which zero is valid if an old kernel leaves the last
    // ones out.
    unsafe { info.assume_init() }.tcpi_bytes_acked
}

#[cfg(not(target_os = "linux"))]
pub(super) fn acknowledged(_: &TcpStream) -> u64 {
    0
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[actix_web::test]
    async fn bytes_are_acknowledged_once_they_have_arrived() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut client = TcpStream::connect(address).await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        let before = acknowledged(&server);
        let mut arrived = [0; 5_000];
        for round in 1..=3 {
            server.write_all(&[7; 5_000]).await.unwrap();
            client.read_exact(&mut arrived).await.unwrap();
            let all = async {
                while acknowledged(&server) - before < round * 5_000 {
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(std::time::Duration::from_secs(20), all).await.unwrap();
            assert_eq!(acknowledged(&server) - before, round * 5_000);
        }
    }
}
