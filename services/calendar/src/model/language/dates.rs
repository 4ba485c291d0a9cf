//! Formats dates, times, numbers and lists in a language.

use jiff::civil::{Date, DateTime, Weekday};

use super::count::Count;
use super::forms::Forms;
use super::languages::Language;
use super::pattern;

impl Language {
    /// Formats a day and its weekday for use within a sentence.
    pub fn day(self, day: Date) -> String {
        pattern::date(self.forms(), self.forms().full, day)
    }

    /// Formats a day without its weekday.
    pub fn short_day(self, day: Date) -> String {
        pattern::date(self.forms(), self.forms().long, day)
    }

    /// Formats a day and its weekday without the year, for use within a sentence.
    pub fn day_of_year(self, day: Date) -> String {
        pattern::date(self.forms(), self.forms().weekday_day, day)
    }

    /// Formats a day without its weekday and year.
    pub fn day_and_month(self, day: Date) -> String {
        let pattern = self.forms().weekday_day.replace("EEEE", "");
        pattern::date(self.forms(), pattern.trim_matches([' ', ',', '،']), day)
    }

    /// Returns the name of a month for use within a date.
    pub fn month_name(self, month: i8) -> &'static str {
        let index = usize::from(month.unsigned_abs()).saturating_sub(1);
        self.forms().months.get(index).copied().unwrap_or_default()
    }

    /// Returns the name of a month on its own.
    pub fn month_alone(self, month: i8) -> &'static str {
        let index = usize::from(month.unsigned_abs()).saturating_sub(1);
        self.forms().months_alone.get(index).copied().unwrap_or_default()
    }

    /// Formats a day and its weekday in abbreviated form, without the year.
    pub fn abbreviated_day(self, day: Date) -> String {
        pattern::date(self.forms(), self.forms().short, day)
    }

    /// Formats a day's month and year for use within a sentence.
    pub fn month(self, day: Date) -> String {
        pattern::date(self.forms(), self.forms().month, day)
    }

    /// Formats a range of days without repeating what they have in common.
    pub fn days(self, first: Date, last: Date) -> String {
        let forms = self.forms();
        let pattern = match (first.year() == last.year(), first.month() == last.month()) {
            (true, true) => forms.days_of_month,
            (true, false) => forms.days_of_year,
            (false, _) => forms.days_of_years,
        };
        pattern::interval(forms, pattern, (first.at(0, 0, 0, 0), last.at(0, 0, 0, 0)))
    }

    /// Formats a time of day for use in a table.
    pub fn time(self, at: DateTime) -> String {
        pattern::moment(self.forms(), self.forms().time, at)
    }

    /// Formats a time of day for use in running text.
    pub fn clock(self, at: DateTime) -> String {
        pattern::moment(self.forms(), self.forms().clock, at)
    }

    /// Formats a range of times.
    pub fn times(self, start: DateTime, end: DateTime) -> String {
        let forms = self.forms();
        let is_same_half = (start.hour() < 12) == (end.hour() < 12);
        let pattern = if is_same_half { forms.times_of_half } else { forms.times };
        pattern::interval(forms, pattern, (start, end))
    }

    /// Formats a day and its weekday, along with the times of an event.
    pub fn day_and_times(self, day: Date, (start, end): (DateTime, DateTime)) -> String {
        let day = self.day(day);
        match start == end {
            true => self.joined_at(self.forms().date_at_time, &day, start),
            false => Forms::joined(self.forms().date_and_times, &self.times(start, end), &day),
        }
    }

    /// Formats a date and time.
    pub fn moment(self, at: DateTime) -> String {
        self.joined_at(self.forms().long_at_time, &self.short_day(at.date()), at)
    }

    /// Joins a day and a time of day. In some languages, the preposition depends on how the hour is
    /// pronounced.
    fn joined_at(self, pattern: &str, day: &str, at: DateTime) -> String {
        let prepositions = match (self, at.hour()) {
            (Language::Cs, 2..=4 | 12..=14 | 20..=23) => Some(("'v'", "'ve'")),
            (Language::Es, 1) => Some(("'las'", "'la'")),
            (Language::Pt, 1) => Some(("'às'", "'à'")),
            (Language::Uk, 11) => Some(("'о'", "'об'")),
            _ => None,
        };
        let pattern = match prepositions {
            Some((usual, other)) => pattern.replace(usual, other),
            None => pattern.to_owned(),
        };
        Forms::joined(&pattern, &self.clock(at), day)
    }

    /// Joins two strings as a range.
    pub fn range(self, first: &str, last: &str) -> String {
        Forms::joined(self.forms().range, first, last)
    }

    /// Returns the name of a weekday for use within a sentence.
    pub fn weekday(self, weekday: Weekday) -> &'static str {
        of_week(&self.forms().weekdays, weekday)
    }

    /// Returns the abbreviated name of a weekday.
    pub fn short_weekday(self, weekday: Weekday) -> &'static str {
        of_week(&self.forms().short_weekdays_alone, weekday)
    }

    /// Returns the abbreviated name of a day's month.
    pub fn short_month(self, day: Date) -> &'static str {
        let month = usize::from(day.month().unsigned_abs());
        self.forms().short_months_alone.get(month - 1).copied().unwrap_or_default()
    }

    /// Returns the first day of the week.
    pub fn first_weekday(self) -> Weekday {
        self.forms().first_weekday
    }

    /// Returns the weekdays in order, starting with the first day of the week.
    pub fn week(self) -> impl Iterator<Item = Weekday> {
        self.first_weekday().cycle_forward().take(7)
    }

    /// Creates a number for messages in this language.
    pub fn count(self, value: i64) -> Count {
        Count::new(value, self.forms())
    }

    /// Formats a list, such as `a, b and c`.
    pub fn list(self, items: &[&str]) -> String {
        let [start, middle, end, two] = self.forms().list;
        let last_pattern = |item: &str| self.before_last(item, end);
        match items {
            [] => String::new(),
            [one] => (*one).to_owned(),
            [one, other] => Forms::joined(&self.before_last(other, two), one, other),
            [first, second, between @ .., last] => {
                let beginning = Forms::joined(start, first, second);
                let join = |text: String, item: &&str| Forms::joined(middle, &text, item);
                Forms::joined(&last_pattern(last), &between.iter().fold(beginning, join), last)
            }
        }
    }

    /// Returns the pattern that joins the last item of a list. In Spanish, "y" becomes "e" before
    /// an i sound.
    fn before_last(self, item: &str, pattern: &str) -> String {
        let folded = item.to_lowercase();
        let is_sound = ["i", "í", "hi", "hí"].iter().any(|sound| folded.starts_with(sound))
            && !["hia", "hie", "hio", "ia", "ie", "io"]
                .iter()
                .any(|glide| folded.starts_with(glide));
        match self {
            Language::Es if is_sound => pattern.replace(" y ", " e "),
            _ => pattern.to_owned(),
        }
    }

    /// Formats a price range. The amounts must have decimal points.
    pub fn price(self, (low, high): (&str, &str), symbol: &str) -> String {
        let forms = self.forms();
        let (before, after) = forms.price.split_once("{0}").unwrap_or_default();
        let mut before = before.replace('¤', symbol);
        // Symbols made up of letters are separated by a space.
        if before.ends_with(char::is_alphabetic) {
            before.push('\u{a0}');
        }
        let after = after.replace('¤', symbol);
        let (low, high) = (forms.number(low), forms.number(high));
        if low == high {
            return format!("{before}{low}{after}");
        }
        // A one-character sign before the amounts is repeated.
        if after.is_empty() && before.chars().count() == 1 {
            let range = forms.number_range.replace("{0}", "{0} ").replace("{1}", " {1}");
            return Forms::joined(&range, &format!("{before}{low}"), &format!("{before}{high}"));
        }
        format!("{before}{}{after}", Forms::joined(forms.number_range, &low, &high))
    }
}

fn of_week(names: &[&'static str; 7], weekday: Weekday) -> &'static str {
    let index = usize::from(weekday.to_monday_zero_offset().unsigned_abs());
    names.get(index).copied().unwrap_or_default()
}

/// Capitalizes the first letter, for text that isn't part of a sentence.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
