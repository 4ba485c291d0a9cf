//! Subscriptions to calendars on other sites.

use serde::{Deserialize, Serialize};

use super::condition::Condition;
use super::subscription_parts::Parts;

const DAY: i64 = 86_400;

/// Maximum number of subscriptions.
pub const MAX_SUBSCRIPTIONS: usize = 100;

/// Maximum number of events in a subscribed file.
pub const MAX_EVENTS: usize = 20_000;

/// Maximum URL length in characters.
pub const LONGEST_URL: usize = 2000;

/// Maximum interval between runs in minutes (30 days).
pub const LONGEST_INTERVAL: i64 = 30 * 24 * 60;

/// Default interval between runs in minutes.
pub const USUAL_INTERVAL: i64 = 60;

/// Maximum delay after failures in seconds, unless the interval is longer.
const LONGEST_BACKOFF: i64 = DAY;

/// Maximum delay in seconds that a server can request.
const LONGEST_PAUSE: i64 = 7 * DAY;

/// User edits that the next run is allowed to overwrite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Release {
    /// User edits to these fields of the event with this id.
    Event(i64, Parts),
    /// The early end of the series that has this UID in the file.
    Series(String),
}

/// A subscription's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubscriptionState {
    /// Runs when it is due.
    Active,
    /// Paused by an editor.
    Paused,
    /// Stopped until an editor decides what to do.
    Stopped,
    /// Its events are being trashed, and then it will be removed.
    Removing,
}

impl SubscriptionState {
    const ALL: [SubscriptionState; 4] = [
        SubscriptionState::Active,
        SubscriptionState::Paused,
        SubscriptionState::Stopped,
        SubscriptionState::Removing,
    ];

    /// Returns the name used in the database.
    pub fn name(self) -> &'static str {
        match self {
            SubscriptionState::Active => "active",
            SubscriptionState::Paused => "paused",
            SubscriptionState::Stopped => "stopped",
            SubscriptionState::Removing => "removing",
        }
    }

    /// Returns the state with this name, if any.
    pub fn named(name: &str) -> Option<SubscriptionState> {
        SubscriptionState::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// A subscription's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The URL of the file.
    pub url: String,
    /// Minutes between runs.
    pub interval: i64,
    /// Author of new events.
    pub author: i64,
    /// Status of new events.
    pub status: String,
    /// A category to add to all of its events.
    pub category: Option<i64>,
    /// The venue for events that don't have a location.
    pub venue: Option<i64>,
    /// Whether to adopt events that were created by an import.
    pub adopts: bool,
}

/// A subscription to a calendar on another site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// The id, unique among subscriptions.
    pub id: i64,
    /// The settings.
    pub plan: Plan,
    /// The state.
    pub state: SubscriptionState,
    /// Creation time in Unix seconds.
    pub created_utc: i64,
    /// When the next run is due.
    pub next_utc: i64,
    /// Number of consecutive failures with this address.
    pub failures: i64,
    /// When the lease of a run in progress expires.
    pub lease_until: i64,
    /// The `ETag` of the last imported file.
    pub etag: Option<String>,
    /// The `Last-Modified` of the last imported file.
    pub last_modified: Option<String>,
    /// When a file from this address was last imported, or 0 if never.
    pub imported_utc: i64,
    /// Number of future events that an editor has allowed to be missing from the next file, even if
    /// this is more than half of them.
    pub accepted_loss: i64,
    /// Id of the newest event when the missing events were counted. Scheduled work might have added
    /// events since then.
    pub counted_event: i64,
    /// The last completed run with this address.
    pub last_run: Option<Run>,
}

impl Subscription {
    /// Returns the state to show in responses and on pages.
    pub fn condition(&self, now: i64) -> Condition {
        match self.state {
            _ if self.lease_until > now => Condition::Running,
            SubscriptionState::Active if self.failures > 0 => Condition::Failing,
            SubscriptionState::Active => Condition::Active,
            SubscriptionState::Paused => Condition::Paused,
            SubscriptionState::Stopped => Condition::Stopped,
            SubscriptionState::Removing => Condition::Removing,
        }
    }

    /// Returns when the subscription runs next, or `None` if it isn't active.
    pub fn next_run(&self) -> Option<i64> {
        (self.state == SubscriptionState::Active).then_some(self.next_utc)
    }

    /// Returns whether the subscription stopped because too many events were missing from its file.
    pub fn awaits_acceptance(&self) -> bool {
        self.state == SubscriptionState::Stopped && self.lost() > 0
    }

    /// Returns the number of future events whose absence stopped the subscription.
    pub fn lost(&self) -> u64 {
        self.last_run.as_ref().map_or(0, |run| run.lost)
    }
}

/// Statuses that new events can have.
pub const STATUSES: [&str; 4] = ["publish", "draft", "pending", "private"];

/// Changes to a subscription's settings. Fields that are `None` keep their value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanChange {
    /// The URL of the file.
    pub url: Option<String>,
    /// Minutes between runs.
    pub interval: Option<i64>,
    /// Author of new events.
    pub author: Option<i64>,
    /// Status of new events.
    pub status: Option<String>,
    /// The category. `Some(None)` removes it.
    pub category: Option<Option<i64>>,
    /// The venue. `Some(None)` removes it.
    pub venue: Option<Option<i64>>,
    /// Whether to adopt events that were created by an import.
    pub adopts: Option<bool>,
}

impl PlanChange {
    /// Applies the changes.
    pub fn apply(self, plan: &mut Plan) {
        let PlanChange { url, interval, author, status, category, venue, adopts } = self;
        plan.url = url.unwrap_or_else(|| plan.url.clone());
        plan.interval = interval.unwrap_or(plan.interval);
        plan.author = author.unwrap_or(plan.author);
        plan.status = status.unwrap_or_else(|| plan.status.clone());
        plan.category = category.unwrap_or(plan.category);
        plan.venue = venue.unwrap_or(plan.venue);
        plan.adopts = adopts.unwrap_or(plan.adopts);
    }
}

/// The result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// The file was imported.
    Imported,
    /// The server reported that the file hasn't changed.
    NotModified,
    /// The file couldn't be fetched or used. The next run tries again.
    #[default]
    Failed,
    /// The subscription stopped because the file is gone or too many events are missing from it.
    Stopped,
}

impl RunOutcome {
    /// All outcomes.
    pub const ALL: [RunOutcome; 4] =
        [RunOutcome::Imported, RunOutcome::NotModified, RunOutcome::Failed, RunOutcome::Stopped];

    /// Returns the name used in responses, commands and metrics.
    pub fn name(self) -> &'static str {
        match self {
            RunOutcome::Imported => "imported",
            RunOutcome::NotModified => "not_modified",
            RunOutcome::Failed => "failed",
            RunOutcome::Stopped => "stopped",
        }
    }
}

/// A run and its event counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// When it ended, in Unix seconds.
    pub at: i64,
    /// The outcome.
    pub outcome: RunOutcome,
    /// A sentence for editors. May be empty.
    pub message: String,
    /// Events created.
    pub created: u64,
    /// Events updated.
    pub updated: u64,
    /// Events that already matched the file.
    pub unchanged: u64,
    /// Events that are trashed, belong to other subscriptions, or are older than ours.
    pub skipped: u64,
    /// Events that couldn't be imported.
    pub failed: u64,
    /// Events that were trashed because they are missing from the file.
    pub trashed: u64,
    /// Future events missing from the file, if that is why the subscription stopped.
    #[serde(default)]
    pub lost: u64,
    /// The messages about entries in the file, and about events missing from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<RunMessage>,
}

/// A run's message about an entry in the file, or about an event missing from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunMessage {
    /// The entry's UID, or the event's external id. May be empty.
    pub uid: String,
    /// The entry's line, or 0.
    pub line: u64,
    /// A sentence for editors.
    pub message: String,
}

/// Returns when to try again after consecutive failures, in Unix seconds. The delay doubles with
/// each failure, but is never shorter than the server requested.
pub fn next_after_failure(now: i64, interval: i64, failures: i64, retry_after: Option<i64>) -> i64 {
    let doublings = failures.clamp(1, 20) - 1;
    let backoff = interval.saturating_mul(1 << doublings).min(LONGEST_BACKOFF.max(interval));
    now + backoff.max(retry_after.unwrap_or(0).min(LONGEST_PAUSE))
}

/// Returns whether more than half of the known events are missing, which suggests that the file is
/// incomplete.
pub fn is_great_loss(lost: usize, known: usize) -> bool {
    lost * 2 > known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pause_doubles_with_each_failure_up_to_a_day_or_the_interval() {
        let pause = |interval, failures| next_after_failure(0, interval, failures, None);
        assert_eq!([1, 2, 3, 4].map(|failures| pause(3600, failures)), [3600, 7200, 14400, 28800]);
        assert_eq!((pause(3600, 6), pause(3600, 99)), (DAY, DAY));
        assert_eq!(pause(2 * DAY, 5), 2 * DAY);
    }

    #[test]
    fn pause_is_at_least_what_the_site_asks_for_and_at_most_a_week() {
        assert_eq!(next_after_failure(100, 900, 1, Some(5000)), 5100);
        assert_eq!(next_after_failure(100, 900, 1, Some(5)), 1000);
        assert_eq!(next_after_failure(0, 900, 1, Some(i64::MAX)), LONGEST_PAUSE);
    }

    #[test]
    fn more_than_half_is_a_great_loss() {
        assert!(!is_great_loss(0, 0) && !is_great_loss(1, 2) && is_great_loss(2, 3));
        assert!(is_great_loss(1, 1));
    }
}
