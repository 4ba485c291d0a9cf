//! Written by `scripts/locales` from the CLDR; do not edit.

use jiff::civil::Weekday;

use super::super::forms::Forms;

/// The forms.
pub static FORMS: Forms = Forms {
    months: ["1月", "2月", "3月", "4月", "5月", "6月", "7月", "8月", "9月", "10月", "11月", "12月"],
    months_alone: [
        "1月", "2月", "3月", "4月", "5月", "6月", "7月", "8月", "9月", "10月", "11月", "12月",
    ],
    short_months: [
        "1月", "2月", "3月", "4月", "5月", "6月", "7月", "8月", "9月", "10月", "11月", "12月",
    ],
    short_months_alone: [
        "1月", "2月", "3月", "4月", "5月", "6月", "7月", "8月", "9月", "10月", "11月", "12月",
    ],
    weekdays: ["月曜日", "火曜日", "水曜日", "木曜日", "金曜日", "土曜日", "日曜日"],
    short_weekdays: ["月", "火", "水", "木", "金", "土", "日"],
    short_weekdays_alone: ["月", "火", "水", "木", "金", "土", "日"],
    first: "1",
    halves: ["午前", "午後"],
    full: "y年M月d日EEEE",
    long: "y年M月d日",
    month: "y年M月",
    weekday_day: "M月d日EEEE",
    short: "M月d日(E)",
    days_of_month: "y年M月d日～d日",
    days_of_year: "y年M月d日～M月d日",
    days_of_years: "y年M月d日～y年M月d日",
    time: "H:mm",
    clock: "H:mm",
    times: "H:mm～H:mm",
    times_of_half: "H:mm～H:mm",
    date_and_times: "{1} {0}",
    date_at_time: "{1} {0}",
    long_at_time: "{1} {0}",
    range: "{0}～{1}",
    list: ["{0}、{1}", "{0}、{1}", "{0}、{1}", "{0}、{1}"],
    decimal: ".",
    group: ",",
    ungrouped: 3,
    price: "¤{0}",
    number_range: "{0}～{1}",
    first_weekday: Weekday::Sunday,
};
