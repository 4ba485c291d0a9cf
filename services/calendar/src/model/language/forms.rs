//! The forms of dates, times, numbers and lists in a language.

use jiff::civil::Weekday;

/// The forms of dates, times, numbers and lists in a language, as the Common Locale Data Repository
/// (CLDR) defines them: patterns with the letters of Unicode's technical standard 35.
///
/// In patterns of intervals, the first letter that is repeated begins the end.
#[derive(Debug)]
pub struct Forms {
    /// Names of the months within a date (`MMMM`).
    pub months: [&'static str; 12],
    /// Names of the months on their own (`LLLL`).
    pub months_alone: [&'static str; 12],
    /// Abbreviations of the months within a date (`MMM`).
    pub short_months: [&'static str; 12],
    /// Abbreviations of the months on their own (`LLL`).
    pub short_months_alone: [&'static str; 12],
    /// Names of the weekdays, from Monday (`EEEE`).
    pub weekdays: [&'static str; 7],
    /// Abbreviations of the weekdays within a date (`E`).
    pub short_weekdays: [&'static str; 7],
    /// Abbreviations of the weekdays on their own.
    pub short_weekdays_alone: [&'static str; 7],
    /// The first day of a month (`d`).
    pub first: &'static str,
    /// The halves of the day (`a`).
    pub halves: [&'static str; 2],
    /// A day with its weekday.
    pub full: &'static str,
    /// A day.
    pub long: &'static str,
    /// A month of a year.
    pub month: &'static str,
    /// A day with its weekday, without the year.
    pub weekday_day: &'static str,
    /// A day with its weekday, without the year, abbreviated.
    pub short: &'static str,
    /// Days of a month.
    pub days_of_month: &'static str,
    /// Days of several months of a year.
    pub days_of_year: &'static str,
    /// Days of several years.
    pub days_of_years: &'static str,
    /// A time of day in a table.
    pub time: &'static str,
    /// A time of day in a text.
    pub clock: &'static str,
    /// From one time to another.
    pub times: &'static str,
    /// From one time to another in the same half of a day.
    pub times_of_half: &'static str,
    /// A day (`{1}`) and from one time to another (`{0}`).
    pub date_and_times: &'static str,
    /// A day with its weekday (`{1}`) and a time (`{0}`).
    pub date_at_time: &'static str,
    /// A day (`{1}`) and a time (`{0}`).
    pub long_at_time: &'static str,
    /// From one moment to another.
    pub range: &'static str,
    /// A list: its first two parts, its middle, its last two parts, and a list of two.
    pub list: [&'static str; 4],
    /// The separator before decimals.
    pub decimal: &'static str,
    /// The separator between groups of three digits.
    pub group: &'static str,
    /// Numbers with this number of digits or fewer are not grouped.
    pub ungrouped: usize,
    /// A price: an amount (`{0}`) and a symbol (`¤`).
    pub price: &'static str,
    /// From one number to another.
    pub number_range: &'static str,
    /// The first day of a week.
    pub first_weekday: Weekday,
}

impl Forms {
    /// Inserts two texts into a pattern with `{0}` and `{1}`. Letters between apostrophes are text.
    pub fn joined(pattern: &str, zero: &str, one: &str) -> String {
        let mut text = String::new();
        for (number, piece) in pattern.split('{').enumerate() {
            let (inserted, rest) = match piece.split_once('}') {
                Some(("0", rest)) if number > 0 => (zero, rest),
                Some(("1", rest)) if number > 0 => (one, rest),
                _ => ("", piece),
            };
            text.push_str(inserted);
            text.extend(rest.chars().filter(|letter| *letter != '\''));
        }
        text
    }

    /// Formats a number without decimals.
    pub fn grouped(&self, digits: &str) -> String {
        if digits.len() <= self.ungrouped {
            return digits.to_owned();
        }
        let mut text = String::new();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                text.push_str(self.group);
            }
            text.push(digit);
        }
        text
    }

    /// Formats a number with a decimal point, with the decimals that it has.
    pub fn number(&self, plain: &str) -> String {
        match plain.split_once('.') {
            Some((whole, decimals)) => {
                format!("{}{}{decimals}", self.grouped(whole), self.decimal)
            }
            None => self.grouped(plain),
        }
    }
}
