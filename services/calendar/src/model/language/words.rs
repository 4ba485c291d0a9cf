//! UI strings.
//!
//! A message is either a string or a function of its arguments. Each language has a file in
//! `translations` that contains every message. The code doesn't compile if a message is missing or
//! unknown, or if a message ignores one of its arguments.

use jiff::civil::Weekday;

use super::count::Count;

/// A message with a number, which determines the plural form.
type Counted = fn(Count) -> String;

/// A message with a string argument.
type With = fn(&str) -> String;

/// An occurrence of a weekday within a month.
#[derive(Clone, Copy, Debug)]
pub enum Nth {
    First,
    Second,
    Third,
    Fourth,
    Fifth,
    Last,
}

impl Nth {
    /// Converts a number from a recurrence rule. -1 means the last occurrence.
    pub fn new(number: i8) -> Option<Nth> {
        Some(match number {
            1 => Nth::First,
            2 => Nth::Second,
            3 => Nth::Third,
            4 => Nth::Fourth,
            5 => Nth::Fifth,
            -1 => Nth::Last,
            _ => return None,
        })
    }

    /// Picks the form for this occurrence.
    pub fn of(
        self,
        [first, second, third, fourth, fifth, last]: [&'static str; 6],
    ) -> &'static str {
        match self {
            Nth::First => first,
            Nth::Second => second,
            Nth::Third => third,
            Nth::Fourth => fourth,
            Nth::Fifth => fifth,
            Nth::Last => last,
        }
    }
}

/// The UI strings in a language.
#[derive(Debug)]
pub struct Words {
    // Page layout.
    /// Link that skips the navigation.
    pub skip: &'static str,
    /// Name of the navigation for screen readers.
    pub navigation: &'static str,
    /// Label for links to the same page in other languages.
    pub languages: &'static str,
    /// Link to the event list. Also its title, and the name of the search form.
    pub events: &'static str,
    /// Link to the week.
    pub week: &'static str,
    /// Link to the month.
    pub month: &'static str,
    /// Link to the API.
    pub api: &'static str,
    /// Page footer. The argument is a list of links to machine-readable documents.
    pub for_programs: With,
    /// Link to the API documentation.
    pub documentation: &'static str,
    /// Link to the OpenAPI document.
    pub openapi: &'static str,
    /// Describes a site or organizer by name. Also used in calendar files.
    pub events_of: With,
    /// Describes a calendar file that contains only some of the events. The arguments are the
    /// number of events in the file, the total number, and the site name.
    pub part_of_events: fn(Count, Count, &str) -> String,
    /// Turns text without a full stop into a sentence.
    pub sentence: With,

    // Event list.
    /// Label for links to other days.
    pub days_with_events: &'static str,
    /// Label for links to other weeks.
    pub weeks_with_events: &'static str,
    /// Link to today. Also marks today in the month.
    pub today: &'static str,
    /// Link to the current week.
    pub this_week: &'static str,
    /// Link to the current month.
    pub this_month: &'static str,
    /// Label of the search field.
    pub search: &'static str,
    /// Example searches, shown in the search field.
    pub search_examples: &'static str,
    /// Label of the category filter. Also used as a type of page.
    pub category: &'static str,
    /// Option that shows events from all categories.
    pub all_categories: &'static str,
    /// Label of the tag filter. Also used as a type of page.
    pub tag: &'static str,
    /// Option that shows events with any tags.
    pub all_tags: &'static str,
    /// Search button.
    pub find: &'static str,
    /// Number of events found by a search.
    pub found: Counted,
    /// Link that clears the search.
    pub show_all: &'static str,
    /// Heading when nothing was found.
    pub none_found: &'static str,
    /// Advice when nothing was found.
    pub try_other_words: &'static str,
    /// Title of the list of past events.
    pub past: &'static str,
    /// Sentence with a link to the month pages. The link text is `month_pages`.
    pub past_events: With,
    /// Link text in `past_events`.
    pub month_pages: &'static str,
    /// Heading for a day without events.
    pub empty_day: &'static str,
    /// Heading for a week without events.
    pub empty_week: &'static str,
    /// Heading for an empty list.
    pub empty_list: &'static str,
    /// Text of an empty list.
    pub will_appear: &'static str,
    /// Text for an empty short list.
    pub empty_for_now: &'static str,
    /// Link to the list.
    pub all_upcoming: &'static str,
    /// Describes a list to search engines, given its title and the site.
    pub about_list: fn(&str, &str) -> String,
    /// Heading for events that were already running when the listed period began.
    pub on_now: &'static str,
    /// Heading for events that were already running when the day or week began.
    pub already_running: &'static str,
    /// The last day of an event that is already running.
    pub until: With,
    /// The day and time at which an event that is already running ends.
    pub until_time: With,
    /// Shown in place of times.
    pub all_day: &'static str,
    /// Marks featured events.
    pub featured: &'static str,
    /// Precedes a price, for screen readers.
    pub admission_is: &'static str,
    /// Shown in place of a price.
    pub free: &'static str,
    /// Marks password-protected events in lists.
    pub protected: &'static str,
    /// Label for links to a list's other pages.
    pub pages: &'static str,
    /// Link to the previous page of a list.
    pub earlier: &'static str,
    /// Link to the next page of a list.
    pub later: &'static str,
    /// The page number and the number of pages.
    pub page_of: fn(Count, Count) -> String,

    // Event statuses.
    /// The event won't take place.
    pub cancelled: &'static str,
    /// The event will take place later.
    pub postponed: &'static str,
    /// The event has a new date.
    pub rescheduled: &'static str,
    /// Combines one of these labels with an event title or a date.
    pub status_and_title: fn(&str, &str) -> String,

    // Calendar files.
    /// Link that adds the calendar to an app.
    pub subscribe: &'static str,
    /// Link to a calendar file.
    pub download: &'static str,
    /// Explains the size limit of a calendar file.
    pub file_limit: Counted,
    /// Heading for the address of a calendar file.
    pub address_for_apps: &'static str,
    /// Heading for a list's calendar file.
    pub never_miss: &'static str,
    /// Explains a list's calendar file.
    pub never_miss_text: &'static str,
    /// Heading for a page's calendar file.
    pub follow: &'static str,
    /// Explains a page's calendar file.
    pub follow_text: &'static str,
    /// Heading for the calendar file on a month page.
    pub add_calendar: &'static str,
    /// Explains the calendar file on a month page.
    pub add_calendar_text: &'static str,
    /// Link to a month's calendar file.
    pub download_month: With,

    // Month page.
    /// Label for links to other months.
    pub months: &'static str,
    /// Text of a month without events.
    pub empty_month: &'static str,
    /// Heading for long events.
    pub several_weeks: &'static str,
    /// Caption of the month table, for screen readers.
    pub month_by_day: With,
    /// Describes a month to search engines.
    pub about_month: With,
    /// Number of events on a day.
    pub event_count: Counted,
    /// Number of events on a day that are not shown.
    pub more: Counted,
    /// The day, appended to an event count for screen readers. Starts with a space if needed.
    pub on_day: With,
    /// Link from another site to all events.
    pub all_events: &'static str,
    /// Link from another site to the month page.
    pub open_calendar: &'static str,

    // Event page.
    /// Notice that the event is over.
    pub over: &'static str,
    /// Heading of the password form.
    pub protected_event: &'static str,
    /// Label of the password field.
    pub password: &'static str,
    /// Button that unlocks a protected event.
    pub open: &'static str,
    /// Error message for a wrong password.
    pub wrong_password: &'static str,
    /// Shown in place of a missing description.
    pub no_details: &'static str,
    /// Heading for tags.
    pub tags: &'static str,
    /// Name of an event's detail list.
    pub details: &'static str,
    /// Label for date and time.
    pub when: &'static str,
    /// Label for the price.
    pub admission: &'static str,
    /// Label for the venue. Also used as a type of page.
    pub venue: &'static str,
    /// Label for the organizer. Also used as a type of page.
    pub organizer: &'static str,
    /// Label for the website, or a link to it.
    pub website: &'static str,
    /// Link to an event's calendar file.
    pub add_to_calendar: &'static str,
    /// Link to the calendar file of a recurring event with all its occurrences.
    pub add_all_dates: &'static str,
    /// Label for how often the event takes place.
    pub repeats: &'static str,
    /// Label for upcoming occurrences of a recurring event.
    pub next_dates: &'static str,

    // Recurrence.
    /// Interval in hours.
    pub every_hour: Counted,
    /// Interval in days.
    pub every_day: Counted,
    /// Interval in weeks.
    pub every_week: Counted,
    /// Interval in months.
    pub every_month: Counted,
    /// Interval in years.
    pub every_year: Counted,
    /// Every week on a list of weekdays.
    pub every_weekday: With,
    /// An interval, combined with the days within it.
    pub often_on: fn(&str, &str) -> String,
    /// The nth weekday of a month. The string is the weekday's name.
    pub weekday_of_month: fn(Nth, Weekday, &str) -> String,
    /// A day of the month.
    pub day_of_month: fn(Count) -> String,
    /// The last day of the month.
    pub last_day: &'static str,
    /// The first day of the month that isn't a Saturday or Sunday.
    pub first_workday: &'static str,
    /// The last day of the month that isn't a Saturday or Sunday.
    pub last_workday: &'static str,
    /// A weekday of a month, such as `the second Tuesday`, combined with the month. The arguments
    /// are the weekday, the month's number, and its name within a date.
    pub in_month: fn(&str, i8, &str) -> String,
    /// The frequency, combined with a list of the only months to which it applies.
    pub in_months: fn(&str, &str) -> String,
    /// The frequency, combined with the total number of occurrences.
    pub times_in_total: fn(&str, Count) -> String,
    /// The total number of occurrences, if the frequency isn't given.
    pub times: Counted,
    /// The frequency, combined with the last day.
    pub often_until: fn(&str, &str) -> String,
    /// The frequency, combined with up to three additional days.
    pub also_on: fn(&str, &str) -> String,
    /// The frequency, combined with a note about additional days that aren't listed.
    pub also_on_others: With,
    /// An event that takes place only once.
    pub once: &'static str,
    /// Shown for a rule that can't be described.
    pub repeatedly: &'static str,
    /// Link to a map of the venue.
    pub show_on_map: &'static str,
    /// Separates the parts of a location on one line: `Lantern Hall, Port Marrow`.
    pub place_separator: &'static str,

    // Venues, organizers, categories and tags.
    /// Heading for a page's events.
    pub upcoming: &'static str,
    /// Describes a venue to search engines, given its name and address.
    pub events_at: fn(&str, &str) -> String,
    /// Describes a category or tag to search engines.
    pub upcoming_of: With,
    /// Label for links to a category's ancestors.
    pub above: &'static str,

    // Subscriptions page.
    /// Title of the page on which editors manage subscriptions to other calendars.
    pub subscriptions: &'static str,
    /// Explains the page.
    pub subscriptions_text: &'static str,
    /// Shown if there are no subscriptions.
    pub no_subscriptions: &'static str,
    /// Label for a subscription's state.
    pub state: &'static str,
    /// Label for a subscription's next run and its interval.
    pub next_run: &'static str,
    /// Label for a subscription's last run.
    pub last_run: &'static str,
    /// State of a subscription that runs when it is due.
    pub active: &'static str,
    /// State of a subscription while its file is being fetched.
    pub running: &'static str,
    /// State of a subscription whose last runs failed.
    pub failing: &'static str,
    /// State of a subscription that is waiting for an editor's decision. Also the outcome of its
    /// last run.
    pub stopped: &'static str,
    /// State of a subscription that an editor paused.
    pub paused: &'static str,
    /// State of a subscription whose events are being moved to the trash.
    pub removing: &'static str,
    /// Number of consecutive failed runs.
    pub failed_runs: Counted,
    /// Interval in minutes.
    pub every_minute: Counted,
    /// Shown in place of the next run if there is none.
    pub not_planned: &'static str,
    /// Number of events that users have changed. Follows the total number of events.
    pub changed_by_hand: Counted,
    /// Shown in place of the last run if there is none.
    pub no_run_yet: &'static str,
    /// Outcome of a run that imported the file.
    pub imported: &'static str,
    /// Outcome of a run that found an unchanged file.
    pub not_modified: &'static str,
    /// Outcome of a run that failed.
    pub run_failed: &'static str,
    /// Label for the number of events that a run created.
    pub created: &'static str,
    /// Label for the number of events that a run updated.
    pub updated: &'static str,
    /// Label for the number of events that already matched the file.
    pub unchanged: &'static str,
    /// Label for the number of events that a run skipped.
    pub skipped: &'static str,
    /// Label for the number of events that a run failed to import.
    pub not_imported: &'static str,
    /// Label for the number of events that a run moved to the trash.
    pub trashed: &'static str,
    /// Combines one of these labels with its number.
    pub labelled: fn(&str, Count) -> String,
    /// Precedes a message from the software. Such messages are always in English.
    pub english_message: &'static str,
    /// Button that ends a pause.
    pub resume: &'static str,
    /// Button that starts a run.
    pub run_now: &'static str,
    /// Button that applies a file although many events are missing from it.
    pub accept_file: &'static str,
    /// Button that pauses a subscription.
    pub pause: &'static str,
    /// Notice that a subscription has stopped.
    pub has_stopped: &'static str,
    /// Notice that a subscription's last runs failed.
    pub is_failing: &'static str,
    /// Follows `has_stopped` if too many future events are missing from the file.
    pub lost_events: Counted,

    // Errors.
    /// Title when a page doesn't exist.
    pub not_found: &'static str,
    /// Text that goes with `not_found`.
    pub not_found_text: &'static str,
    /// Title when a request is invalid.
    pub not_shown: &'static str,
    /// The category doesn't exist.
    pub no_such_category: &'static str,
    /// The tag doesn't exist.
    pub no_such_tag: &'static str,
    /// The day is outside the supported years.
    pub no_such_day: &'static str,
    /// The day is invalid.
    pub invalid_day: &'static str,
    /// The search is invalid. The argument is the reason in English.
    pub invalid_search: With,
    /// A parameter is invalid. The arguments are its name and the reason in English.
    pub invalid: fn(&str, &str) -> String,
    /// Title when there are too many requests.
    pub too_many: &'static str,
    /// Number of seconds to wait.
    pub try_again_in: Counted,
    /// Title when a search takes too long.
    pub slow_search: &'static str,
    /// Text that goes with `slow_search`.
    pub slow_search_text: &'static str,
    /// Title when the service is overloaded.
    pub busy: &'static str,
    /// Text that goes with `busy`.
    pub busy_text: &'static str,
    /// Title when the service has failed.
    pub failed: &'static str,
    /// Text that goes with `failed`.
    pub failed_text: &'static str,
    /// Title when a request is rejected.
    pub rejected: &'static str,
    /// Text that accompanies `rejected`. The argument is the reason in English.
    pub rejected_text: With,
}
