//! Calendar subscriptions in responses.

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::dates::written;
use super::envelope::ListMeta;
use super::import::ImportErrorJson;
use crate::model::subscription::{Run, RunMessage, Subscription};

/// A subscription to an iCalendar file on another site. Times are in UTC, as YYYY-MM-DD HH:MM:SS.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Subscription, example = json!(example(Some(json!([example_of_message()])))))]
pub struct SubscriptionJson {
    pub id: i64,
    /// URL of the iCalendar file.
    pub url: String,
    /// Minutes between runs.
    pub interval: i64,
    /// User id of the author of new events.
    pub author: i64,
    /// Status of new events.
    pub status: String,
    /// Id of the category added to all events.
    pub category: Option<i64>,
    /// Id of the venue for events without a location.
    pub venue: Option<i64>,
    /// Whether to take over events that an import created with the same UIDs.
    pub adopt: bool,
    /// `active`, `running`, `failing` (the last run failed), `stopped` (an editor must decide what
    /// to do), `paused`, or `removing` (its events are being moved to the trash).
    pub state: &'static str,
    /// Number of consecutive failed runs.
    pub failures: i64,
    /// Whether the subscription stopped because too many events are missing from the file. `accept`
    /// confirms that they are gone.
    pub awaits_acceptance: bool,
    /// Number of events that belong to the subscription.
    pub events: i64,
    /// Number of these events that a user changed.
    pub changed_events: i64,
    pub created_utc: String,
    /// Time of the next run; null unless the subscription is active.
    pub next_run_utc: Option<String>,
    /// The last completed run; null if there was none.
    pub last_run: Option<RunJson>,
}

/// A completed run of a subscription, with event counts.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = SubscriptionRun)]
pub struct RunJson {
    /// Time when the run ended.
    pub at_utc: String,
    /// `imported`, `not_modified`, `failed` (the run will be retried) or `stopped`.
    pub outcome: &'static str,
    /// Reason for the outcome, or a remark. May be empty.
    pub message: String,
    pub created: u64,
    pub updated: u64,
    /// Events that already matched the file.
    pub unchanged: u64,
    /// Events that are in the trash, belong to other subscriptions, or are older than the stored
    /// ones.
    pub skipped: u64,
    pub failed: u64,
    /// Events moved to the trash because they are missing from the file.
    pub trashed: u64,
    /// Future events that are missing from the file, if the subscription stopped for that reason.
    pub lost: u64,
    /// The messages about entries in the file: up to 1000 errors, then up to 1000 warnings, then
    /// events that are kept although they are missing from the file. Not included in lists of
    /// subscriptions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub messages: Option<Vec<ImportErrorJson>>,
}

impl RunJson {
    fn new(run: Run) -> RunJson {
        let message = |one: RunMessage| ImportErrorJson {
            uid: one.uid,
            line: one.line,
            message: one.message,
        };
        let messages = Some(run.messages.into_iter().map(message).collect());
        let Run { at, outcome, message, created, updated, unchanged, skipped, failed, .. } = run;
        RunJson {
            at_utc: written(at),
            outcome: outcome.name(),
            message,
            created,
            updated,
            unchanged,
            skipped,
            failed,
            trashed: run.trashed,
            lost: run.lost,
            messages,
        }
    }
}

impl SubscriptionJson {
    /// Renders a subscription, given the number of its events and how many of them were changed.
    pub fn new(
        subscription: Subscription,
        (events, changed_events): (i64, i64),
        now: i64,
    ) -> SubscriptionJson {
        let state = subscription.condition(now).name();
        let next_run_utc = subscription.next_run().map(written);
        let awaits_acceptance = subscription.awaits_acceptance();
        let Subscription { id, plan, failures, created_utc, last_run, .. } = subscription;
        SubscriptionJson {
            id,
            url: plan.url,
            interval: plan.interval,
            author: plan.author,
            status: plan.status,
            category: plan.category,
            venue: plan.venue,
            adopt: plan.adopts,
            state,
            failures,
            awaits_acceptance,
            events,
            changed_events,
            created_utc: written(created_utc),
            next_run_utc,
            last_run: last_run.map(RunJson::new),
        }
    }
}

impl SubscriptionJson {
    /// Drops the messages about entries, because lists don't include them.
    #[must_use]
    pub fn without_messages(mut self) -> SubscriptionJson {
        if let Some(run) = &mut self.last_run {
            run.messages = None;
        }
        self
    }
}

/// All subscriptions.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = SubscriptionList, example = json!({"subscriptions": [example(None)]}))]
pub struct SubscriptionListJson {
    pub subscriptions: Vec<SubscriptionJson>,
}

/// An event that belongs to a subscription.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = SubscribedEvent)]
pub struct SubscribedEventJson {
    pub id: i64,
    pub title: String,
    pub status: String,
    /// Local start, as YYYY-MM-DD HH:MM:SS.
    pub start_date: String,
    /// UID in the file. For an occurrence of a series, it also contains the start.
    pub uid: String,
    /// Parts that a user changed, which runs do not overwrite: `title`, `description`, `dates`,
    /// `website`, `venue`, `organizer`, `categories`, `status`, `event_status`.
    pub changed: Vec<&'static str>,
    /// Whether the event was moved to the trash because it is missing from the file.
    pub vanished: bool,
}

/// A page of a subscription's events.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = SubscribedEventList, example = json!(example_of_events()))]
pub struct SubscribedEventListJson {
    pub events: Vec<SubscribedEventJson>,
    #[serde(flatten)]
    pub meta: ListMeta,
}

fn example_of_message() -> Value {
    json!({"uid": "7@club.example", "line": 120, "message": "DTSTART is missing"})
}

fn example(messages: Option<Value>) -> Value {
    let mut example = json!({
        "id": 3, "url": "https://club.example/events.ics", "interval": 60, "author": 2,
        "status": "publish", "category": 5, "venue": null, "adopt": false, "state": "active",
        "failures": 0, "awaits_acceptance": false, "events": 40, "changed_events": 1, "created_utc": "2027-03-01 09:00:00",
        "next_run_utc": "2027-03-10 13:00:00",
        "last_run": {
            "at_utc": "2027-03-10 12:00:00", "outcome": "imported", "message": "", "created": 2,
            "updated": 1, "unchanged": 37, "skipped": 0, "failed": 1, "trashed": 1, "lost": 0,
        },
    });
    if let Some(messages) = messages {
        example["last_run"]["message"] = json!("line 120: DTSTART is missing");
        example["last_run"]["messages"] = messages;
    }
    example
}

fn example_of_events() -> Value {
    json!({
        "events": [{
            "id": 71, "title": "Choir rehearsal", "status": "publish",
            "start_date": "2027-04-01 19:00:00", "uid": "20270401-choir@club.example",
            "changed": ["title"], "vanished": false,
        }],
        "rest_url": "https://calendar.example/calendar/events/v1/subscriptions/3/events?page=1&per_page=10",
        "total": 1, "total_pages": 1,
    })
}
