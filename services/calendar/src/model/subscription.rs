//! Subscriptions to calendars at other addresses.

use serde::{Deserialize, Serialize};

use super::event::{Event, Links};
use super::event_status::EventStatus;

const DAY: i64 = 86_400;

/// Maximum number of subscriptions.
pub const MAX_SUBSCRIPTIONS: usize = 100;

/// Maximum number of events in a subscribed file.
pub const MAX_EVENTS: usize = 20_000;

/// Maximum length of an address in characters.
pub const LONGEST_URL: usize = 2000;

/// The longest interval between two runs in minutes: 30 days.
pub const LONGEST_INTERVAL: i64 = 30 * 24 * 60;

/// The interval between two runs in minutes, unless one is given.
pub const USUAL_INTERVAL: i64 = 60;

/// The longest pause after failures in seconds, unless the interval is longer.
const LONGEST_BACKOFF: i64 = DAY;

/// The longest pause that a site may ask for, in seconds.
const LONGEST_PAUSE: i64 = 7 * DAY;

/// A part of an event that subscriptions write. A part that a user changed stays until it is
/// released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The title.
    Title,
    /// The description.
    Description,
    /// Start, end, time zone and all-day flag.
    Dates,
    /// The website.
    Website,
    /// The venues.
    Venue,
    /// The organizers.
    Organizer,
    /// Categories and tags.
    Categories,
    /// The publication status.
    Status,
    /// Whether the event takes place as announced.
    EventStatus,
}

impl Part {
    /// All parts.
    pub const ALL: [Part; 9] = [
        Part::Title,
        Part::Description,
        Part::Dates,
        Part::Website,
        Part::Venue,
        Part::Organizer,
        Part::Categories,
        Part::Status,
        Part::EventStatus,
    ];

    /// Returns the name in requests, responses and the database.
    pub fn name(self) -> &'static str {
        match self {
            Part::Title => "title",
            Part::Description => "description",
            Part::Dates => "dates",
            Part::Website => "website",
            Part::Venue => "venue",
            Part::Organizer => "organizer",
            Part::Categories => "categories",
            Part::Status => "status",
            Part::EventStatus => "event_status",
        }
    }

    /// Returns the part with a name, or `None` if there is none.
    pub fn named(name: &str) -> Option<Part> {
        Part::ALL.into_iter().find(|part| part.name() == name)
    }

    /// Returns the part to which a field of an event write belongs, or `None` if subscriptions do
    /// not write the field.
    pub fn of_field(field: &str) -> Option<Part> {
        match field {
            "start_date" | "end_date" | "timezone" | "all_day" => Some(Part::Dates),
            "tags" => Some(Part::Categories),
            "event_status_reason" => Some(Part::EventStatus),
            name => Part::named(name),
        }
    }
}

/// A set of parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts(Vec<Part>);

impl Parts {
    /// Returns the set of these parts.
    pub fn of(parts: impl IntoIterator<Item = Part>) -> Parts {
        let mut parts: Vec<Part> = parts.into_iter().collect();
        parts.sort_unstable();
        parts.dedup();
        Parts(parts)
    }

    /// Reads the stored form.
    pub fn stored(text: &str) -> Parts {
        Parts::of(text.split(',').filter_map(Part::named))
    }

    /// Returns the stored form: the names, separated by commas.
    pub fn text(&self) -> String {
        self.names().join(",")
    }

    /// Returns the names.
    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|part| part.name()).collect()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the set has a part.
    pub fn has(&self, part: Part) -> bool {
        self.0.contains(&part)
    }

    /// Returns the parts of both sets.
    pub fn with(&self, other: &Parts) -> Parts {
        Parts::of(self.0.iter().chain(&other.0).copied())
    }

    /// Returns the parts that another set does not have.
    pub fn without(&self, other: &Parts) -> Parts {
        Parts::of(self.0.iter().copied().filter(|part| !other.has(*part)))
    }

    /// Returns the parts in which two states of an event differ. The trash does not count: whether
    /// an event was trashed is recorded elsewhere.
    pub fn changed(
        (old, old_links, old_status): (&Event, &Links, &EventStatus),
        (new, new_links, new_status): (&Event, &Links, &EventStatus),
    ) -> Parts {
        let is_trashed = old.status.is_trashed() || new.status.is_trashed();
        let differences = [
            (Part::Title, old.title != new.title),
            (Part::Description, old.description != new.description),
            (Part::Dates, old.schedule != new.schedule),
            (Part::Website, old.website != new.website),
            (Part::Venue, old_links.venues != new_links.venues),
            (Part::Organizer, old_links.organizers != new_links.organizers),
            (
                Part::Categories,
                (&old_links.categories, &old_links.tags)
                    != (&new_links.categories, &new_links.tags),
            ),
            (Part::Status, !is_trashed && old.status != new.status),
            (Part::EventStatus, old_status != new_status),
        ];
        Parts::of(differences.into_iter().filter(|(_, differs)| *differs).map(|(part, _)| part))
    }
}

/// Whether a subscription runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubscriptionState {
    /// It runs when it is due.
    Active,
    /// An editor paused it.
    Paused,
    /// It stopped, and an editor must decide.
    Stopped,
    /// Its events are moved to the trash, then it is removed.
    Removing,
}

impl SubscriptionState {
    const ALL: [SubscriptionState; 4] = [
        SubscriptionState::Active,
        SubscriptionState::Paused,
        SubscriptionState::Stopped,
        SubscriptionState::Removing,
    ];

    /// Returns the name in the database.
    pub fn name(self) -> &'static str {
        match self {
            SubscriptionState::Active => "active",
            SubscriptionState::Paused => "paused",
            SubscriptionState::Stopped => "stopped",
            SubscriptionState::Removing => "removing",
        }
    }

    /// Returns the state with a name, or `None` if there is none.
    pub fn named(name: &str) -> Option<SubscriptionState> {
        SubscriptionState::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// The settings of a subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The address of the file.
    pub url: String,
    /// Minutes between two runs.
    pub interval: i64,
    /// Id of the author of new events.
    pub author: i64,
    /// Status of new events.
    pub status: String,
    /// Id of a category of all its events.
    pub category: Option<i64>,
    /// Id of the venue of events without a location.
    pub venue: Option<i64>,
    /// Whether it takes over events that an import created.
    pub adopts: bool,
}

/// A subscription to a calendar at another address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// The id, which is unique among subscriptions.
    pub id: i64,
    /// Its settings.
    pub plan: Plan,
    /// Whether it runs.
    pub state: SubscriptionState,
    /// When it was created, in Unix seconds.
    pub created_utc: i64,
    /// When it is due.
    pub next_utc: i64,
    /// Number of failed runs in a row.
    pub failures: i64,
    /// When a run in progress loses its lease.
    pub lease_until: i64,
    /// The `ETag` of the last imported file.
    pub etag: Option<String>,
    /// The `Last-Modified` of the last imported file.
    pub last_modified: Option<String>,
    /// When a file was last imported; 0: never.
    pub imported_utc: i64,
    /// Whether the next file may lack more than half of the events.
    pub accepts_loss: bool,
    /// The last run that ended.
    pub last_run: Option<Run>,
}

impl Subscription {
    /// Returns the word for its condition in responses and on pages.
    pub fn condition(&self, now: i64) -> &'static str {
        match self.state {
            _ if self.lease_until > now => "running",
            SubscriptionState::Active if self.failures > 0 => "failing",
            state => state.name(),
        }
    }

    /// Returns when it runs next, or `None` if it does not.
    pub fn next_run(&self) -> Option<i64> {
        (self.state == SubscriptionState::Active).then_some(self.next_utc)
    }

    /// Returns whether it stopped because its file lacks too many events.
    pub fn awaits_acceptance(&self) -> bool {
        let lost = self.last_run.as_ref().map_or(0, |run| run.lost);
        self.state == SubscriptionState::Stopped && lost > 0
    }
}

/// The statuses that new events may have.
pub const STATUSES: [&str; 4] = ["publish", "draft", "pending", "private"];

/// The settings of a subscription that a request changes. `None` leaves a setting unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanChange {
    /// The address of the file.
    pub url: Option<String>,
    /// Minutes between two runs.
    pub interval: Option<i64>,
    /// Id of the author of new events.
    pub author: Option<i64>,
    /// Status of new events.
    pub status: Option<String>,
    /// `Some(None)` removes the category.
    pub category: Option<Option<i64>>,
    /// `Some(None)` removes the venue.
    pub venue: Option<Option<i64>>,
    /// Whether it takes over events that an import created.
    pub adopts: Option<bool>,
}

impl PlanChange {
    /// Applies the change to the settings.
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

/// The form of an address in which it is requested: `webcal` means `https`.
pub fn requested_url(text: &str) -> String {
    let text = text.trim();
    let (scheme, rest) = text.split_once("://").unwrap_or_default();
    match scheme.to_ascii_lowercase().as_str() {
        "webcal" | "webcals" => format!("https://{rest}"),
        _ => text.to_owned(),
    }
}

/// The result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// The file was imported.
    Imported,
    /// The site answered that the file has not changed.
    NotModified,
    /// The file was not fetched or cannot be used. The next run tries again.
    #[default]
    Failed,
    /// The subscription stopped, because the file lacks too many events or is gone.
    Stopped,
}

impl RunOutcome {
    /// All results.
    pub const ALL: [RunOutcome; 4] =
        [RunOutcome::Imported, RunOutcome::NotModified, RunOutcome::Failed, RunOutcome::Stopped];

    /// Returns the name in responses, commands and metrics.
    pub fn name(self) -> &'static str {
        match self {
            RunOutcome::Imported => "imported",
            RunOutcome::NotModified => "not_modified",
            RunOutcome::Failed => "failed",
            RunOutcome::Stopped => "stopped",
        }
    }
}

/// A run, with the numbers of events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// When it ended, in Unix seconds.
    pub at: i64,
    /// Its result.
    pub outcome: RunOutcome,
    /// A sentence for editors; empty if there is nothing to say.
    pub message: String,
    /// Created events.
    pub created: u64,
    /// Updated events.
    pub updated: u64,
    /// Events that already match the file.
    pub unchanged: u64,
    /// Events in the trash, of other subscriptions, or older than those here.
    pub skipped: u64,
    /// Events that failed.
    pub failed: u64,
    /// Events that were moved to the trash, because the file lacks them.
    pub trashed: u64,
    /// Future events that the file lacks, if the subscription stopped for that reason.
    #[serde(default)]
    pub lost: u64,
}

/// Returns the time of the next run after failures in a row. The pause doubles with each failure, and
/// is at least as long as the site asks for. Times are in Unix seconds.
pub fn next_after_failure(now: i64, interval: i64, failures: i64, retry_after: Option<i64>) -> i64 {
    let doublings = failures.clamp(1, 20) - 1;
    let backoff = interval.saturating_mul(1 << doublings).min(LONGEST_BACKOFF.max(interval));
    now + backoff.max(retry_after.unwrap_or(0).min(LONGEST_PAUSE))
}

/// Returns whether a file lacks so much of what earlier files had that it may be incomplete: more
/// than half.
pub fn is_great_loss(lost: usize, known: usize) -> bool {
    lost * 2 > known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_from_their_text() {
        let parts = Parts::stored("venue,title,unknown,title");
        assert_eq!(parts.text(), "title,venue");
        assert!(parts.has(Part::Venue) && !parts.has(Part::Dates));
        assert_eq!(Parts::stored("").text(), "");
        let dates = Parts::of([Part::Dates]);
        assert_eq!(parts.with(&dates).text(), "title,dates,venue");
        assert_eq!(parts.without(&Parts::of([Part::Title])).text(), "venue");
        for part in Part::ALL {
            assert_eq!(Part::named(part.name()), Some(part));
            assert_eq!(Part::of_field(part.name()), Some(part));
        }
        assert_eq!(Part::of_field("all_day"), Some(Part::Dates));
        assert_eq!(Part::of_field("image"), None);
    }

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

    #[test]
    fn webcal_addresses_are_requested_by_https() {
        for (given, requested) in [
            ("webcal://a.example/c.ics", "https://a.example/c.ics"),
            (" WebCals://a.example/ ", "https://a.example/"),
            ("http://a.example/webcal://", "http://a.example/webcal://"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(requested_url(given), requested);
        }
    }
}
