//! Counts open connections per client address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, LazyLock};

use ipnet::IpNet;
use parking_lot::Mutex;
use prometheus::IntCounter;

static REFUSED: LazyLock<IntCounter> = LazyLock::new(|| {
    crate::metrics::register(IntCounter::new(
        "http_connections_refused_total",
        "Connections closed because their address exceeded MAX_CONNECTIONS_PER_ADDRESS",
    ))
});

/// Registers the metric so that it shows up even before the first connection is rejected.
pub(super) fn show_metrics() {
    LazyLock::force(&REFUSED);
}

/// Open connections by client address, shared by all listeners and workers of a server.
#[derive(Clone, Debug)]
pub(crate) struct Peers {
    most: u32,
    trusted: Arc<[IpNet]>,
    open: Arc<Mutex<HashMap<IpAddr, u32>>>,
}

impl Peers {
    /// Allows `most` connections per address, or any number from `trusted` addresses.
    pub(crate) fn new(most: u32, trusted: &[IpNet]) -> Self {
        Self { most, trusted: trusted.into(), open: Arc::default() }
    }

    pub(super) fn trusts(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.trusted.iter().any(|network| network.contains(&address))
    }

    /// Counts a connection from `address` until the permit is dropped. Returns `None` if the limit
    /// has been reached.
    pub(super) fn admit(&self, address: IpAddr) -> Option<PeerPermit> {
        if self.trusts(address) {
            return Some(PeerPermit { network: None, peers: self.clone() });
        }
        let network = network_of(address);
        let mut open = self.open.lock();
        let count = open.entry(network).or_default();
        if *count >= self.most {
            REFUSED.inc();
            return None;
        }
        *count += 1;
        Some(PeerPermit { network: Some(network), peers: self.clone() })
    }
}

/// Returns the /64 network of an IPv6 address, since clients can freely choose the lower 64 bits.
/// IPv4 addresses are returned unchanged.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let prefix = u128::from(address) >> 64 << 64;
            IpAddr::V6(Ipv6Addr::from(prefix))
        }
        address => address,
    }
}

/// Permits one connection, which counts towards the limit of its address.
pub(super) struct PeerPermit {
    network: Option<IpAddr>,
    peers: Peers,
}

impl Drop for PeerPermit {
    fn drop(&mut self) {
        let Some(network) = self.network else { return };
        let mut open = self.peers.open.lock();
        if let Some(count) = open.get_mut(&network) {
            *count -= 1;
            if *count == 0 {
                open.remove(&network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn closed_connections_make_room_for_others_of_the_address() {
        let peers = Peers::new(2, &["10.0.0.0/8".parse().unwrap()]);
        let first = peers.admit(ip("192.0.2.1")).unwrap();
        let mapped = peers.admit(ip("::ffff:192.0.2.1")).unwrap();
        assert!(peers.admit(ip("192.0.2.1")).is_none());
        let other = peers.admit(ip("192.0.2.2")).unwrap();
        drop(first);
        let again = peers.admit(ip("192.0.2.1")).unwrap();
        assert!(peers.admit(ip("192.0.2.1")).is_none());
        drop((mapped, other, again));
        assert!(peers.open.lock().is_empty());
        let trusted: Vec<_> = (0..5).map(|_| peers.admit(ip("10.1.2.3"))).collect();
        assert!(trusted.iter().all(Option::is_some));
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address() {
        let peers = Peers::new(1, &[]);
        let _first = peers.admit(ip("2001:db8::1")).unwrap();
        assert!(peers.admit(ip("2001:db8::ffff:2")).is_none());
        assert!(peers.admit(ip("2001:db8:0:1::1")).is_some());
    }
}
