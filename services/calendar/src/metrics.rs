//! This service's own metrics. The shell has others.

use std::sync::LazyLock;
use std::time::Duration;

use prometheus::{Gauge, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts};
use shell::metrics::register;

use crate::model::status::{Stage, Status};
use crate::model::subscription::RunOutcome;

static EVENTS: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    let options = Opts::new("calendar_events", "Events by status; other: free-text statuses");
    register(IntGaugeVec::new(options, &["status"]))
});
static BEHIND: LazyLock<IntGauge> = LazyLock::new(|| {
    let help = "Changes missing from the event index when it was last updated in the background";
    register(IntGauge::new("calendar_index_behind_changes", help))
});
static BUILD_SECONDS: LazyLock<Gauge> = LazyLock::new(|| {
    let help = "Duration of the last event index build in seconds; 0 before the first";
    register(Gauge::new("calendar_index_build_seconds", help))
});
static BYTES: LazyLock<IntGauge> = LazyLock::new(|| {
    let help = "Approximate memory used by the event index in bytes; 0 before the first build";
    register(IntGauge::new("calendar_index_bytes", help))
});
static LISTS_WAITING: LazyLock<IntGauge> = LazyLock::new(|| {
    let help = "Costly lists waiting until others have been read";
    register(IntGauge::new("calendar_costly_lists_waiting", help))
});
static LISTS_REFUSED: LazyLock<IntCounter> = LazyLock::new(|| {
    let help = "Costly lists rejected because they waited for LIST_TIME_MS";
    register(IntCounter::new("calendar_costly_lists_refused_total", help))
});
static ANSWERS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    let help = "Reads that could use a cached response, by source: memory or made";
    register(IntCounterVec::new(Opts::new("calendar_kept_answers_total", help), &["source"]))
});
static ANSWER_BYTES: LazyLock<IntGauge> = LazyLock::new(|| {
    let help = "Approximate memory used by cached responses in bytes";
    register(IntGauge::new("calendar_kept_answers_bytes", help))
});
static IMPORTS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    let options = Opts::new("calendar_imports_total", "iCalendar files sent over HTTP by outcome");
    register(IntCounterVec::new(options, &["outcome"]))
});
static SUBSCRIPTIONS: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    let help = "Subscriptions to other calendars by state: active, failing, paused, stopped";
    register(IntGaugeVec::new(Opts::new("calendar_subscriptions", help), &["state"]))
});
static SUBSCRIPTION_RUNS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    let help = "Runs of subscriptions by outcome: imported, not_modified, failed, stopped";
    register(IntCounterVec::new(Opts::new("calendar_subscription_runs_total", help), &["outcome"]))
});
static WEBHOOKS_WAITING: LazyLock<IntGauge> = LazyLock::new(|| {
    register(IntGauge::new("calendar_webhooks_waiting", "Webhook messages to deliver"))
});

/// The label for all custom statuses. Users choose the names of custom statuses, so these names are
/// unsuitable as labels.
const OTHER: &str = "other";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportOutcome {
    /// Every entry was imported.
    Whole,
    /// Some entries failed.
    Partial,
    /// The file was rejected, or the database failed.
    Refused,
}

impl ImportOutcome {
    const ALL: [Self; 3] = [Self::Whole, Self::Partial, Self::Refused];

    fn label(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Partial => "partial",
            Self::Refused => "refused",
        }
    }
}

/// The origin of a reusable response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerSource {
    /// The response was cached in memory.
    Memory,
    /// The response had to be generated.
    Made,
}

impl AnswerSource {
    const ALL: [Self; 2] = [Self::Memory, Self::Made];

    fn label(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Made => "made",
        }
    }
}

/// Initializes all metrics to 0, so that alerts on an increase don't miss the first event.
pub fn show() {
    describe_events(&mut std::iter::empty());
    describe_index(0, None, 0);
    describe_webhooks(0);
    LISTS_WAITING.set(0);
    LISTS_REFUSED.inc_by(0);
    describe_kept_answers(0);
    for source in AnswerSource::ALL {
        ANSWERS.with_label_values(&[source.label()]);
    }
    for outcome in ImportOutcome::ALL {
        IMPORTS.with_label_values(&[outcome.label()]);
    }
    describe_subscriptions(["active", "failing", "paused", "stopped"].map(|state| (state, 0)));
    for outcome in RunOutcome::ALL {
        SUBSCRIPTION_RUNS.with_label_values(&[outcome.name()]);
    }
}

/// Publishes the number of subscriptions per state.
pub fn describe_subscriptions(numbers: [(&str, i64); 4]) {
    for (state, number) in numbers {
        SUBSCRIPTIONS.with_label_values(&[state]).set(number);
    }
}

pub fn count_subscription_run(outcome: RunOutcome) {
    SUBSCRIPTION_RUNS.with_label_values(&[outcome.name()]).inc();
}

/// Publishes the number of events per status.
pub fn describe_events(events: &mut dyn Iterator<Item = (&str, usize)>) {
    let known = Stage::ALL.map(Status::of);
    let mut counts = [0_usize; Stage::ALL.len() + 1];
    for (status, events) in events {
        let place = known.iter().position(|known| known.as_str() == status);
        counts[place.unwrap_or(Stage::ALL.len())] += events;
    }
    let labels = known.iter().map(|status| status.as_str()).chain([OTHER]);
    for (label, events) in labels.zip(counts) {
        EVENTS.with_label_values(&[label]).set(i64::try_from(events).unwrap_or(i64::MAX));
    }
}

/// Publishes event index metrics: how many changes it was behind, how long the last build took, and
/// its size in bytes.
pub fn describe_index(behind: i64, build: Option<Duration>, bytes: usize) {
    BEHIND.set(behind);
    BUILD_SECONDS.set(build.unwrap_or_default().as_secs_f64());
    BYTES.set(i64::try_from(bytes).unwrap_or(i64::MAX));
}

/// Publishes the number of pending webhook messages.
pub fn describe_webhooks(waiting: i64) {
    WEBHOOKS_WAITING.set(waiting);
}

/// An expensive list request that is waiting for a permit. It is counted until this guard is
/// dropped.
pub struct WaitingList(());

impl WaitingList {
    /// Records that a list request has started waiting.
    pub fn begin() -> Self {
        LISTS_WAITING.inc();
        Self(())
    }

    /// Counts the request as rejected.
    pub fn refuse(self) {
        LISTS_REFUSED.inc();
    }
}

impl Drop for WaitingList {
    fn drop(&mut self) {
        LISTS_WAITING.dec();
    }
}

pub fn count_import(outcome: ImportOutcome) {
    IMPORTS.with_label_values(&[outcome.label()]).inc();
}

/// Counts a reusable response by its source.
pub fn count_answer(source: AnswerSource) {
    ANSWERS.with_label_values(&[source.label()]).inc();
}

/// Publishes the memory used by cached responses.
pub fn describe_kept_answers(bytes: u64) {
    ANSWER_BYTES.set(i64::try_from(bytes).unwrap_or(i64::MAX));
}
