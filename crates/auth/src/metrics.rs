//! Metrics for keys and quotas.

use std::sync::LazyLock;

use prometheus::{IntCounterVec, Opts};
use shell::Credentials;
use shell::metrics::register;

/// The plan label for callers without a live key, whose address is charged.
pub(crate) const NO_PLAN: &str = "none";

static KEYS_REFUSED: LazyLock<IntCounterVec> = LazyLock::new(|| {
    let options =
        Opts::new("auth_keys_refused_total", "Requests rejected because of an invalid key");
    register(IntCounterVec::new(options, &["reason"]))
});
static QUOTA_REFUSALS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    let help =
        "Requests rejected because the quota of the key, or of the client address, was exhausted";
    register(IntCounterVec::new(Opts::new("auth_quota_refusals_total", help), &["plan"]))
});

/// Registers the counters so that they show up even before the first event.
pub(crate) fn start() {
    for fault in [Credentials::Malformed, Credentials::Refused, Credentials::Several] {
        KEYS_REFUSED.with_label_values(&[reason(fault)]);
    }
    start_plan(NO_PLAN);
}

/// Creates the counter for a plan so that it shows up even before the first event.
pub(crate) fn start_plan(plan: &str) {
    QUOTA_REFUSALS.with_label_values(&[plan]);
}

pub(crate) fn count_refused_key(fault: Credentials) {
    KEYS_REFUSED.with_label_values(&[reason(fault)]).inc();
}

pub(crate) fn count_quota_refusal(plan: &str) {
    QUOTA_REFUSALS.with_label_values(&[plan]).inc();
}

fn reason(fault: Credentials) -> &'static str {
    match fault {
        Credentials::Missing => "missing",
        Credentials::Malformed => "malformed",
        Credentials::Refused => "unknown",
        Credentials::Several => "several",
    }
}
