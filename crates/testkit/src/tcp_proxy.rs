//! A proxy that can stop forwarding without closing connections.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Condvar, Mutex};

use crate::must::must;

/// Forwards loopback connections to a server until it is frozen.
///
/// A frozen connection stays open but doesn't forward anything. It behaves as if SIGSTOP had
/// suspended the server, whose operating system still acknowledges data.
///
/// ```
/// use std::io::{Read, Write};
/// use std::net::{TcpListener, TcpStream};
///
/// let server = TcpListener::bind("127.0.0.1:0")?;
/// let proxy = testkit::TcpProxy::to(server.local_addr()?);
/// let mut client = TcpStream::connect(proxy.address())?;
/// let (mut accepted, _) = server.accept()?;
/// client.write_all(b"hello")?;
/// let mut heard = [0; 5];
/// accepted.read_exact(&mut heard)?;
/// assert_eq!(&heard, b"hello");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct TcpProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    server: SocketAddr,
    gate: Mutex<Gate>,
    changed: Condvar,
    opened: AtomicU64,
    ended: AtomicBool,
    sockets: Mutex<Vec<TcpStream>>,
}

#[derive(Debug, Default)]
struct Gate {
    frozen: bool,
    /// Connections with numbers below this one remain frozen forever.
    stranded: u64,
}

impl TcpProxy {
    /// Starts a proxy on a free port.
    ///
    /// # Panics
    /// Panics if no port is free.
    pub fn to(server: SocketAddr) -> Self {
        let listener = must("listen on loopback", TcpListener::bind("127.0.0.1:0"));
        let address = must("find the own port", listener.local_addr());
        let shared = Arc::new(Shared {
            server,
            gate: Mutex::default(),
            changed: Condvar::new(),
            opened: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            sockets: Mutex::default(),
        });
        let own = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if own.ended.load(Ordering::Relaxed) {
                    return;
                }
                own.forward(client);
            }
        });
        Self { address, shared }
    }

    /// Returns the address to connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops forwarding on existing and new connections.
    pub fn freeze(&self) {
        self.shared.change(|gate| gate.frozen = true);
    }

    /// Resumes forwarding, beginning with everything that was sent in the meantime.
    pub fn thaw(&self) {
        self.shared.change(|gate| gate.frozen = false);
    }

    /// Freezes existing connections forever, but forwards new ones.
    pub fn strand(&self) {
        let opened = self.shared.opened.load(Ordering::Relaxed);
        self.shared.change(|gate| *gate = Gate { frozen: false, stranded: opened });
    }
}

impl Drop for TcpProxy {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        for socket in self.shared.sockets.lock().iter() {
            let _ = socket.shutdown(Shutdown::Both);
        }
        self.shared.change(|gate| *gate = Gate::default());
        // Wakes the listener thread so that it stops.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn forward(self: &Arc<Self>, client: TcpStream) {
        let Ok(server) = TcpStream::connect(self.server) else { return };
        let number = self.opened.fetch_add(1, Ordering::Relaxed);
        let mut kept = self.sockets.lock();
        let ways = [(client.try_clone(), server.try_clone()), (Ok(server), Ok(client))];
        for (from, to) in ways {
            let (Ok(from), Ok(to)) = (from, to) else { continue };
            kept.extend(from.try_clone());
            let own = Arc::clone(self);
            std::thread::spawn(move || own.pump(number, from, to));
        }
    }

    fn pump(&self, number: u64, mut from: TcpStream, mut to: TcpStream) {
        let mut buffer = [0; 16_384];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            self.pass(number);
            if to.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    }

    /// Waits until a connection is allowed to forward data.
    fn pass(&self, number: u64) {
        let mut gate = self.gate.lock();
        while gate.frozen || number < gate.stranded {
            self.changed.wait(&mut gate);
        }
    }

    fn change(&self, change: impl FnOnce(&mut Gate)) {
        change(&mut self.gate.lock());
        self.changed.notify_all();
    }
}
