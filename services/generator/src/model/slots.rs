//! Limits how many streams a caller can have open at once.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use parking_lot::Mutex;

/// The holder of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// An API key, regardless of the client's address.
    Key(i64),
    /// A client address. IPv6 addresses are reduced to their /64 network, which usually belongs to
    /// a single subscriber.
    Address(IpAddr),
}

impl Holder {
    /// Returns the holder for a client address.
    pub fn of_address(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(address) => {
                Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into()
            }
            address => address,
        })
    }
}

/// The number of slots taken by each holder.
#[derive(Clone, Debug, Default)]
pub struct Slots(Arc<Mutex<HashMap<Holder, u32>>>);

impl Slots {
    /// Takes a slot, or returns `None` if the holder already has `limit` slots. The slot is
    /// released when dropped.
    pub fn take(&self, holder: Holder, limit: u32) -> Option<Slot> {
        let mut taken = self.0.lock();
        let count = taken.get(&holder).copied().unwrap_or_default();
        if count >= limit {
            return None;
        }
        taken.insert(holder, count + 1);
        Some(Slot { slots: self.clone(), holder })
    }
}

/// A slot that is in use until it is dropped.
#[derive(Debug)]
pub struct Slot {
    slots: Slots,
    holder: Holder,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = self.slots.0.lock();
        match taken.get_mut(&self.holder) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(taken.remove(&self.holder)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_counted_per_holder_and_returned() {
        let slots = Slots::default();
        let first = slots.take(Holder::Key(1), 2);
        let second = slots.take(Holder::Key(1), 2);
        assert!(first.is_some() && second.is_some());
        assert!(slots.take(Holder::Key(1), 2).is_none());
        assert!(slots.take(Holder::Key(2), 2).is_some());
        drop(first);
        assert!(slots.take(Holder::Key(1), 2).is_some());
        drop(second);
        assert!(slots.0.lock().is_empty());
    }

    #[test]
    fn addresses_of_one_subscriber_share_a_holder() {
        let holder = |text: &str| Holder::of_address(text.parse().unwrap());
        assert_eq!(holder("2001:db8::1"), holder("2001:db8::ffff:1"));
        assert_ne!(holder("2001:db8::1"), holder("2001:db8:0:1::1"));
        assert_eq!(holder("::ffff:192.0.2.1"), holder("192.0.2.1"));
        assert_ne!(holder("192.0.2.1"), holder("192.0.2.2"));
    }
}
