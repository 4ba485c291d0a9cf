//! Date, time, number and list formats for a language.

use jiff::civil::Weekday;

/// Date, time, number and list formats for a language, as defined by the Unicode Common Locale Data
/// Repository (CLDR). The patterns use the letters from Unicode Technical Standard #35.
///
/// In interval patterns, the second date starts at the first repeated letter.
#[derive(Debug)]
pub struct Forms {
    /// Month names within a date (`MMMM`).
    pub months: [&'static str; 12],
    /// Standalone month names (`LLLL`).
    pub months_alone: [&'static str; 12],
    /// Abbreviated month names within a date (`MMM`).
    pub short_months: [&'static str; 12],
    /// Standalone abbreviated month names (`LLL`).
    pub short_months_alone: [&'static str; 12],
    /// Weekday names, starting with Monday (`EEEE`).
    pub weekdays: [&'static str; 7],
    /// Abbreviated weekday names within a date (`E`).
    pub short_weekdays: [&'static str; 7],
    /// Standalone abbreviated weekday names.
    pub short_weekdays_alone: [&'static str; 7],
    /// The first day of a month (`d`).
    pub first: &'static str,
    /// AM and PM (`a`).
    pub halves: [&'static str; 2],
    /// A date with its weekday.
    pub full: &'static str,
    /// A date.
    pub long: &'static str,
    /// A month and year.
    pub month: &'static str,
    /// A date with its weekday but without the year.
    pub weekday_day: &'static str,
    /// An abbreviated date with its weekday but without the year.
    pub short: &'static str,
    /// A range of days in the same month.
    pub days_of_month: &'static str,
    /// A range of days in different months of the same year.
    pub days_of_year: &'static str,
    /// A range of days in different years.
    pub days_of_years: &'static str,
    /// A time of day in a table.
    pub time: &'static str,
    /// A time of day in running text.
    pub clock: &'static str,
    /// A range of times.
    pub times: &'static str,
    /// A range of times in the same half of the day.
    pub times_of_half: &'static str,
    /// A date (`{1}`) with a range of times (`{0}`).
    pub date_and_times: &'static str,
    /// A date with its weekday (`{1}`) and a time (`{0}`).
    pub date_at_time: &'static str,
    /// A date (`{1}`) and a time (`{0}`).
    pub long_at_time: &'static str,
    /// A range of dates and times.
    pub range: &'static str,
    /// List patterns: the first two items, the middle, the last two items, and a list of two.
    pub list: [&'static str; 4],
    /// Decimal separator.
    pub decimal: &'static str,
    /// Separator between groups of three digits.
    pub group: &'static str,
    /// Numbers with at most this many digits aren't grouped.
    pub ungrouped: usize,
    /// A price, with an amount (`{0}`) and a symbol (`¤`).
    pub price: &'static str,
    /// A range of numbers.
    pub number_range: &'static str,
    /// The first day of the week.
    pub first_weekday: Weekday,
}

impl Forms {
    /// Inserts two strings into a pattern with `{0}` and `{1}`, and removes apostrophes used for
    /// quoting.
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

    /// Formats an integer with digit grouping.
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

    /// Formats a number that has a decimal point, keeping all of its decimals.
    pub fn number(&self, plain: &str) -> String {
        match plain.split_once('.') {
            Some((whole, decimals)) => {
                format!("{}{}{decimals}", self.grouped(whole), self.decimal)
            }
            None => self.grouped(plain),
        }
    }
}
