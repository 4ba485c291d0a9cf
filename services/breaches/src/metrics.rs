//! Metrics of this service, in addition to the shell's. Cluster metrics are in
//! `jobs/maintenance/cluster_watch.rs`.

use std::sync::LazyLock;

use prometheus::{IntCounterVec, IntGauge, IntGaugeVec, Opts};
use shell::metrics::register;

use crate::model::OptOut;
use crate::model::verification::VerificationMethod;
use crate::model::waiting::{Channel, Waiting};

static CATALOGUE_VERSION: LazyLock<IntGauge> = LazyLock::new(|| {
    let help = "Catalogue version served by this replica";
    register(IntGauge::new("breaches_catalogue_version", help))
});
static BREACHES: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    gauges("breaches_breaches", "Breaches in the catalogue served by this replica", "state")
});
static ACCOUNTS: LazyLock<IntGauge> =
    LazyLock::new(|| register(IntGauge::new("breaches_accounts", "Stored accounts")));
static RUNS: LazyLock<IntGauge> = LazyLock::new(|| {
    register(IntGauge::new("breaches_runs", "Sorted account runs stored outside the table"))
});
static RUN_BYTES: LazyLock<IntGauge> = LazyLock::new(|| {
    register(IntGauge::new("breaches_run_bytes", "Size of all account runs in bytes"))
});
static JOBS: LazyLock<IntGaugeVec> =
    LazyLock::new(|| gauges("breaches_jobs", "Jobs (loads and purges) by state", "state"));
static JOB_AGE: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    let help = "Seconds since the oldest unfinished job started, or 0 if there is none";
    gauges("breaches_job_oldest_seconds", help, "state")
});
static WAITING: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    gauges("breaches_messages_waiting", "Emails and webhook calls waiting for delivery", "channel")
});
static OLDEST: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    let help = "Age of the oldest undelivered message in seconds, or 0 if there is none";
    gauges("breaches_message_oldest_seconds", help, "channel")
});
static OVERDUE: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    let help =
        "Seconds by which the most overdue delivery attempt is late, or 0 if none is overdue";
    gauges("breaches_message_overdue_seconds", help, "channel")
});
static FAILED: LazyLock<IntCounterVec> = LazyLock::new(|| {
    counters("breaches_messages_failed_total", "Messages that failed permanently", &["channel"])
});
static SIGN_INS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    counters("breaches_sign_ins_total", "Confirmed sign-in links by outcome", &["outcome"])
});
static PROOFS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    let help = "Domain verification attempts by method and outcome";
    counters("breaches_domain_proofs_total", help, &["method", "outcome"])
});
static OPT_OUTS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    counters("breaches_opt_outs_total", "Opt-outs on the pages by kind", &["kind"])
});

/// Values of the `state` label of jobs. The first three are unfinished states.
const JOB_STATES: [&str; 5] = ["running", "interrupted", "failed", "done", "cancelled"];
/// Values of the `outcome` label of domain proofs.
const PROOF_OUTCOMES: [&str; 2] = ["verified", "refused"];
/// Values of the `outcome` label of sign-ins.
const SIGN_IN_OUTCOMES: [&str; 2] = ["signed_in", "refused"];

fn gauges(name: &str, help: &str, label: &str) -> IntGaugeVec {
    register(IntGaugeVec::new(Opts::new(name, help), &[label]))
}

fn counters(name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    register(IntCounterVec::new(Opts::new(name, help), labels))
}

/// Initializes all counters to 0. Otherwise, an alert on an increase would miss the first event.
pub fn show() {
    for channel in Channel::ALL {
        FAILED.with_label_values(&[channel.label()]);
    }
    for outcome in SIGN_IN_OUTCOMES {
        SIGN_INS.with_label_values(&[outcome]);
    }
    for method in VerificationMethod::ATTEMPTED {
        for outcome in PROOF_OUTCOMES {
            PROOFS.with_label_values(&[method.word(), outcome]);
        }
    }
    for choice in OptOut::ALL {
        OPT_OUTS.with_label_values(&[choice.word()]);
    }
}

/// Counts a message that was abandoned.
pub fn count_failed_message(channel: Channel) {
    FAILED.with_label_values(&[channel.label()]).inc();
}

/// Counts a sign-in attempt by link.
pub fn count_sign_in(is_signed_in: bool) {
    SIGN_INS.with_label_values(&[SIGN_IN_OUTCOMES[usize::from(!is_signed_in)]]).inc();
}

/// Counts a verification attempt.
pub fn count_proof(method: VerificationMethod, is_verified: bool) {
    PROOFS.with_label_values(&[method.word(), PROOF_OUTCOMES[usize::from(!is_verified)]]).inc();
}

pub fn count_opt_out(choice: OptOut) {
    OPT_OUTS.with_label_values(&[choice.word()]).inc();
}

/// Publishes the catalogue version in use and the numbers of active, inactive and retired breaches.
pub fn describe_catalogue(version: i64, [active, inactive, retired]: [i64; 3]) {
    CATALOGUE_VERSION.set(version);
    for (state, breaches) in [("active", active), ("inactive", inactive), ("retired", retired)] {
        BREACHES.with_label_values(&[state]).set(breaches);
    }
}

/// Publishes the number of accounts, and the number and size of the runs.
pub fn describe_accounts(accounts: i64, runs: i64, run_bytes: i64) {
    ACCOUNTS.set(accounts);
    RUNS.set(runs);
    RUN_BYTES.set(run_bytes);
}

/// Publishes the number of jobs in each state and how long ago the oldest unfinished one was
/// started.
pub fn describe_jobs(mut figures: impl FnMut(&str) -> (i64, i64)) {
    for (place, state) in JOB_STATES.into_iter().enumerate() {
        let (jobs, oldest) = figures(state);
        JOBS.with_label_values(&[state]).set(jobs);
        if place < 3 {
            JOB_AGE.with_label_values(&[state]).set(oldest);
        }
    }
}

/// Publishes the size and age of a channel's backlog.
pub fn describe_waiting(channel: Channel, waiting: Waiting) {
    let label = &[channel.label()];
    WAITING.with_label_values(label).set(waiting.messages);
    OLDEST.with_label_values(label).set(waiting.oldest);
    OVERDUE.with_label_values(label).set(waiting.overdue);
}
