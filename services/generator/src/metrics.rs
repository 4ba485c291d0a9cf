//! This service's metrics, in addition to the shell's.

use std::sync::LazyLock;

use prometheus::{IntCounter, IntCounterVec, IntGauge, Opts};
use shell::metrics::register;

/// The kind of a generated value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A postal address.
    Address,
    /// A brand name.
    Brand,
    /// A business name.
    Business,
    /// A card.
    Card,
    /// A crypto address.
    CryptoAddress,
    /// An account number.
    Iban,
    /// A device identifier.
    Imei,
    /// A person's name.
    Name,
    /// A password.
    Password,
    /// A whole person.
    Person,
    /// A telephone number.
    Phone,
    /// A table row.
    Record,
    /// A review.
    Review,
    /// An identity or tax number.
    SocialNumber,
    /// Placeholder text of any length.
    Text,
}

/// All kinds with their labels, in the same order as the variants.
const KINDS: [(Kind, &str); 15] = [
    (Kind::Address, "address"),
    (Kind::Brand, "brand"),
    (Kind::Business, "business"),
    (Kind::Card, "card"),
    (Kind::CryptoAddress, "crypto_address"),
    (Kind::Iban, "iban"),
    (Kind::Imei, "imei"),
    (Kind::Name, "name"),
    (Kind::Password, "password"),
    (Kind::Person, "person"),
    (Kind::Phone, "phone"),
    (Kind::Record, "record"),
    (Kind::Review, "review"),
    (Kind::SocialNumber, "social_number"),
    (Kind::Text, "text"),
];

/// One counter for each of [`KINDS`], because looking up a counter by its label would take longer
/// than incrementing it.
static VALUES: LazyLock<[IntCounter; KINDS.len()]> = LazyLock::new(|| {
    let options = Opts::new("generator_values_total", "Values generated for responses");
    let values = register(IntCounterVec::new(options, &["kind"]));
    KINDS.map(|(_, label)| values.with_label_values(&[label]))
});
static OPEN: LazyLock<IntGauge> = LazyLock::new(|| {
    register(IntGauge::new("generator_streams_open", "Long responses being generated"))
});
static BEGUN: LazyLock<IntCounter> = LazyLock::new(|| {
    register(IntCounter::new("generator_streams_total", "Long responses started"))
});
static REFUSED: LazyLock<IntCounter> = LazyLock::new(|| {
    let help = "Long responses rejected because all of the caller's slots were in use";
    register(IntCounter::new("generator_streams_refused_total", help))
});
static CUT: LazyLock<[IntCounter; 2]> = LazyLock::new(|| {
    let help = "Long responses that ended before their last value";
    let options = Opts::new("generator_streams_cut_total", help);
    let cut = register(IntCounterVec::new(options, &["cause"]));
    ["client", "time"].map(|cause| cut.with_label_values(&[cause]))
});

/// Creates all metrics up front, so that they're exported before their first use.
pub fn show() {
    LazyLock::force(&VALUES);
    LazyLock::force(&OPEN);
    LazyLock::force(&BEGUN);
    LazyLock::force(&REFUSED);
    LazyLock::force(&CUT);
}

pub fn made(kind: Kind, count: u64) {
    VALUES[kind as usize].inc_by(count);
}

/// Returns the number of values of a kind counted so far.
#[cfg(test)]
pub fn count(kind: Kind) -> u64 {
    VALUES[kind as usize].get()
}

/// Counts a rejected stream.
pub fn refused() {
    REFUSED.inc();
}

/// Counts the values in a response, and adds them to the metric in one go when dropped.
pub struct Tally {
    kind: Kind,
    count: u64,
}

impl Tally {
    /// Creates an empty tally.
    pub fn new(kind: Kind) -> Self {
        Self { kind, count: 0 }
    }

    pub fn count(&mut self) {
        self.count += 1;
    }

    /// Overwrites the count.
    pub fn set(&mut self, count: u64) {
        self.count = count;
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        if self.count > 0 {
            made(self.kind, self.count);
        }
    }
}

/// A stream's state, as shown in the metrics.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Running,
    Complete,
    TimedOut,
}

/// A stream that is counted as open until it is dropped.
pub struct OpenStream(Progress);

impl OpenStream {
    /// Counts a new stream.
    pub fn begin() -> Self {
        OPEN.inc();
        BEGUN.inc();
        Self(Progress::Running)
    }

    /// Records that the last value has been generated.
    pub fn complete(&mut self) {
        self.0 = Progress::Complete;
    }

    /// Records that the stream has timed out.
    pub fn time_out(&mut self) {
        self.0 = Progress::TimedOut;
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        OPEN.dec();
        let [client, time] = &*CUT;
        match self.0 {
            Progress::Running => client.inc(),
            Progress::TimedOut => time.inc(),
            Progress::Complete => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::KINDS;

    #[test]
    fn metric_labels_follow_the_order_of_kinds() {
        for (position, (kind, label)) in KINDS.into_iter().enumerate() {
            assert_eq!(kind as usize, position, "{label}");
        }
    }
}
