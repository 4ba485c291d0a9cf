//! English formats, written by hand because the CLDR formats follow American conventions.

use jiff::civil::Weekday;

use super::super::forms::Forms;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const SHORT_MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const SHORT_WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// The formats.
pub static FORMS: Forms = Forms {
    months: MONTHS,
    months_alone: MONTHS,
    short_months: SHORT_MONTHS,
    short_months_alone: SHORT_MONTHS,
    weekdays: ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    short_weekdays: SHORT_WEEKDAYS,
    short_weekdays_alone: SHORT_WEEKDAYS,
    first: "1",
    halves: ["am", "pm"],
    full: "EEEE, d MMMM yyyy",
    long: "d MMMM yyyy",
    month: "MMMM yyyy",
    weekday_day: "EEEE, d MMMM",
    short: "E d MMM",
    days_of_month: "d – d MMMM yyyy",
    days_of_year: "d MMMM – d MMMM yyyy",
    days_of_years: "d MMMM yyyy – d MMMM yyyy",
    time: "HH:mm",
    clock: "HH:mm",
    times: "HH:mm – HH:mm",
    times_of_half: "HH:mm – HH:mm",
    date_and_times: "{1}, {0}",
    date_at_time: "{1}, {0}",
    long_at_time: "{1}, {0}",
    range: "{0} – {1}",
    list: ["{0}, {1}", "{0}, {1}", "{0} and {1}", "{0} and {1}"],
    decimal: ".",
    group: ",",
    // Event counts don't need digit grouping in English.
    ungrouped: usize::MAX,
    price: "¤{0}",
    number_range: "{0} – {1}",
    first_weekday: Weekday::Monday,
};
