//! The words of the pages.
//!
//! A message is a text, or a function of what it contains. Each language has a file in
//! `translations` with a value of every message: the compiler rejects a file that lacks a message,
//! has an unknown one, or does not use the parts of a message.

use jiff::civil::Weekday;

use super::count::Count;

/// A message with a number, which selects its plural form.
type Counted = fn(Count) -> String;

/// A message with a text.
type With = fn(&str) -> String;

/// Which weekday of a month.
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
    /// Returns the number of a recurrence rule, where -1 is the last one.
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

    /// Picks its word from all of them in order.
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

/// The words of the pages in a language.
#[derive(Debug)]
pub struct Words {
    // The frame of all pages.
    /// Link: skips the navigation.
    pub skip: &'static str,
    /// Name of the navigation for screen readers.
    pub navigation: &'static str,
    /// Name of the links to the same page in other languages.
    pub languages: &'static str,
    /// Link: the list of events. Also its title, and the name of the search form.
    pub events: &'static str,
    /// Link: the week.
    pub week: &'static str,
    /// Link: the month.
    pub month: &'static str,
    /// Link: the interface for programs.
    pub api: &'static str,
    /// Line at the end of a page. The text is a list of links to documents for programs.
    pub for_programs: With,
    /// Link: the documentation for programs.
    pub documentation: &'static str,
    /// Link: the description of the interface in the OpenAPI format.
    pub openapi: &'static str,
    /// Description of a site or an organizer, with its name. Also of calendar files.
    pub events_of: With,
    /// Description of a calendar file with a part of the events: the part, all events, and the site.
    pub part_of_events: fn(Count, Count, &str) -> String,
    /// A sentence made of a text without a full stop.
    pub sentence: With,

    // The list of events.
    /// Name of the links to other days.
    pub days_with_events: &'static str,
    /// Name of the links to other weeks.
    pub weeks_with_events: &'static str,
    /// Link: the current day. Also marks it in the month.
    pub today: &'static str,
    /// Link: the current week.
    pub this_week: &'static str,
    /// Link: the current month.
    pub this_month: &'static str,
    /// Label of the field for words.
    pub search: &'static str,
    /// Examples in the field for words.
    pub search_examples: &'static str,
    /// Label of the choice of a category. Also the kind of a page.
    pub category: &'static str,
    /// Choice: events of all categories.
    pub all_categories: &'static str,
    /// Label of the choice of a tag. Also the kind of a page.
    pub tag: &'static str,
    /// Choice: events with any tags.
    pub all_tags: &'static str,
    /// Button: starts the search.
    pub find: &'static str,
    /// Result of a search: number of events.
    pub found: Counted,
    /// Link: all events instead of those that were found.
    pub show_all: &'static str,
    /// Heading of an empty result.
    pub none_found: &'static str,
    /// Advice for an empty result.
    pub try_other_words: &'static str,
    /// Sentence with a link to the pages of months, whose text is `month_pages`.
    pub past_events: With,
    /// Text of the link in `past_events`.
    pub month_pages: &'static str,
    /// Heading of a day without events.
    pub empty_day: &'static str,
    /// Heading of a week without events.
    pub empty_week: &'static str,
    /// Heading of a list without events.
    pub empty_list: &'static str,
    /// Sentence in a list without events.
    pub will_appear: &'static str,
    /// Sentence in a short list without events.
    pub empty_for_now: &'static str,
    /// Link: the list.
    pub all_upcoming: &'static str,
    /// Description of a list for search engines: its title, and the site.
    pub about_list: fn(&str, &str) -> String,
    /// Heading of events that began before the list.
    pub on_now: &'static str,
    /// Heading of events that began before the day or week.
    pub already_running: &'static str,
    /// The last day of an event that began earlier.
    pub until: With,
    /// Instead of times.
    pub all_day: &'static str,
    /// Mark of an event that the editors recommend.
    pub featured: &'static str,
    /// Before a price, for screen readers.
    pub admission_is: &'static str,
    /// Instead of a price.
    pub free: &'static str,
    /// An event with a password, in lists.
    pub protected: &'static str,
    /// Name of the links to other pages of a list.
    pub pages: &'static str,
    /// Link: the previous page of a list.
    pub earlier: &'static str,
    /// Link: the next page of a list.
    pub later: &'static str,
    /// The page and the number of pages.
    pub page_of: fn(Count, Count) -> String,

    // Whether an event takes place.
    /// An event that does not take place.
    pub cancelled: &'static str,
    /// An event that takes place later.
    pub postponed: &'static str,
    /// An event with a new date.
    pub rescheduled: &'static str,
    /// One of these words and the title of an event.
    pub status_and_title: fn(&str, &str) -> String,

    // Calendar files.
    /// Link: adds the calendar to an app.
    pub subscribe: &'static str,
    /// Link: a calendar file.
    pub download: &'static str,
    /// Limit of a calendar file.
    pub file_limit: Counted,
    /// Heading of the address of a calendar file.
    pub address_for_apps: &'static str,
    /// Heading of the calendar file of a list.
    pub never_miss: &'static str,
    /// Explanation of the calendar file of a list.
    pub never_miss_text: &'static str,
    /// Heading of the calendar file of a page.
    pub follow: &'static str,
    /// Explanation of the calendar file of a page.
    pub follow_text: &'static str,
    /// Heading of the calendar file on the page of a month.
    pub add_calendar: &'static str,
    /// Explanation of the calendar file on the page of a month.
    pub add_calendar_text: &'static str,
    /// Link: the calendar file of a month.
    pub download_month: With,

    // The month.
    /// Name of the links to other months.
    pub months: &'static str,
    /// Sentence in a month without events.
    pub empty_month: &'static str,
    /// Heading of long events.
    pub several_weeks: &'static str,
    /// Caption of the table of a month, for screen readers.
    pub month_by_day: With,
    /// Description of a month for search engines.
    pub about_month: With,
    /// Number of events of a day.
    pub event_count: Counted,
    /// Number of events of a day that are not shown.
    pub more: Counted,
    /// After one of these numbers: the day, for screen readers. Begins with a space if needed.
    pub on_day: With,
    /// Link: all events, from another site.
    pub all_events: &'static str,
    /// Link: the page of the month, from another site.
    pub open_calendar: &'static str,

    // An event.
    /// Notice: the event is over.
    pub over: &'static str,
    /// Heading of the form for the password.
    pub protected_event: &'static str,
    /// Label of the password.
    pub password: &'static str,
    /// Button: opens an event with its password.
    pub open: &'static str,
    /// Error: the password is wrong.
    pub wrong_password: &'static str,
    /// Instead of a description.
    pub no_details: &'static str,
    /// Heading of tags.
    pub tags: &'static str,
    /// Name of the facts about an event.
    pub details: &'static str,
    /// Fact: date and time.
    pub when: &'static str,
    /// Fact: price.
    pub admission: &'static str,
    /// Fact: venue. Also the kind of a page.
    pub venue: &'static str,
    /// Fact: organizer. Also the kind of a page.
    pub organizer: &'static str,
    /// Fact or link: website.
    pub website: &'static str,
    /// Link: the calendar file of an event.
    pub add_to_calendar: &'static str,
    /// Fact: how often the event takes place.
    pub repeats: &'static str,
    /// Fact: the next dates of an event that repeats.
    pub next_dates: &'static str,

    // How often an event takes place.
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
    /// Every week, on a list of weekdays.
    pub every_weekday: With,
    /// One of these intervals, and days within it.
    pub often_on: fn(&str, &str) -> String,
    /// A weekday of a month, with its name.
    pub weekday_of_month: fn(Nth, Weekday, &str) -> String,
    /// A day of a month.
    pub day_of_month: fn(Count) -> String,
    /// The last day of a month.
    pub last_day: &'static str,
    /// How often, and how many times in total.
    pub times_in_total: fn(&str, Count) -> String,
    /// How often, and the last day.
    pub often_until: fn(&str, &str) -> String,
    /// An event that takes place one time.
    pub once: &'static str,
    /// A rule without a description.
    pub repeatedly: &'static str,
    /// Link: a map with the venue.
    pub show_on_map: &'static str,
    /// Parts of a place in one line: `Lantern Hall, Port Marrow`.
    pub place_separator: &'static str,

    // Venues, organizers, categories and tags.
    /// Heading of the events of a page.
    pub upcoming: &'static str,
    /// Description of a venue for search engines: its name and address.
    pub events_at: fn(&str, &str) -> String,
    /// Description of a category or a tag for search engines.
    pub upcoming_of: With,
    /// Name of the links to the categories that contain a category.
    pub above: &'static str,

    // Errors.
    /// Title: the page does not exist.
    pub not_found: &'static str,
    /// Text of `not_found`.
    pub not_found_text: &'static str,
    /// Title: the request is invalid.
    pub not_shown: &'static str,
    /// The category does not exist.
    pub no_such_category: &'static str,
    /// The tag does not exist.
    pub no_such_tag: &'static str,
    /// The day is not in the years of events.
    pub no_such_day: &'static str,
    /// The day is invalid.
    pub invalid_day: &'static str,
    /// The words of a search are invalid. The text is the reason in English.
    pub invalid_search: With,
    /// A parameter is invalid: its name, and the reason in English.
    pub invalid: fn(&str, &str) -> String,
    /// Title: too many requests.
    pub too_many: &'static str,
    /// Number of seconds to wait.
    pub try_again_in: Counted,
    /// Title: a search takes too long.
    pub slow_search: &'static str,
    /// Text of `slow_search`.
    pub slow_search_text: &'static str,
    /// Title: the service is overloaded.
    pub busy: &'static str,
    /// Text of `busy`.
    pub busy_text: &'static str,
    /// Title: the service failed.
    pub failed: &'static str,
    /// Text of `failed`.
    pub failed_text: &'static str,
    /// Title: the request was rejected.
    pub rejected: &'static str,
    /// Text of `rejected`, with the reason in English.
    pub rejected_text: With,
}
