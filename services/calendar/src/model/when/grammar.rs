//! Parses dates word by word, from left to right. Each word is recognised by its form.

use std::borrow::Cow;

use jiff::civil::{Date, Time, Weekday};

use super::date_time::{Base, NotADate, Step, Unit, WeekdayChoice, When, rolling_date};
use super::words::{month, unit, weekday};
use crate::model::zone::Zone;

/// Maximum length of a date in bytes. Reasonable dates are far shorter.
const MAX_BYTES: usize = 100;

impl When {
    /// Parses a date, from `2027-03-01 19:00` to `+1 week 2 hours`.
    ///
    /// # Errors
    /// Returns [`NotADate`] for anything else.
    pub fn parse(text: &str) -> Result<When, NotADate> {
        parse(text)
    }
}

fn parse(text: &str) -> Result<When, NotADate> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_BYTES || !text.is_ascii() {
        return Err(NotADate);
    }
    if let Some(base) = number(text)? {
        return Ok(When { base, time: None, zone: None, steps: Vec::new(), is_rolled: false });
    }
    let spaced = split_at_t(&with_separators(text));
    let words: Vec<&str> = spaced.split([' ', '\t', ',']).filter(|word| !word.is_empty()).collect();
    let mut parser = Parser { words: &words, at: 0, found: Found::default() };
    while parser.at < words.len() {
        parser.step()?;
    }
    parser.found.finish()
}

/// Parses a date that consists only of digits. Eight digits are a date if they form a valid one,
/// and anything else is Unix seconds. A leading `@` also marks Unix seconds. Returns `None` for
/// other input.
fn number(text: &str) -> Result<Option<Base>, NotADate> {
    let digits = text.strip_prefix('@').unwrap_or(text);
    let unsigned = digits.strip_prefix('-').filter(|_| text.starts_with('@')).unwrap_or(digits);
    if unsigned.is_empty() || !unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return if text.starts_with('@') { Err(NotADate) } else { Ok(None) };
    }
    if text.len() == 8 && !text.starts_with('@') {
        let (year, month, day) = (small(&text[..4])?, small(&text[4..6])?, small(&text[6..])?);
        if let Ok(date) = Date::new(year, tiny(month)?, tiny(day)?)
            && year > 0
        {
            return Ok(Some(Base::Date(date)));
        }
    }
    Ok(Some(Base::Timestamp(digits.parse().map_err(|_| NotADate)?)))
}

/// Inserts separators into the ISO 8601 basic format, `20270301T190000Z`.
fn with_separators(text: &str) -> Cow<'_, str> {
    let digits = |range: std::ops::Range<usize>| {
        text.get(range).filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_basic = matches!(text.as_bytes().get(8), Some(b'T' | b't'));
    let (Some(date), Some(time), true) = (digits(0..8), digits(9..13), is_basic) else {
        return Cow::Borrowed(text);
    };
    let (seconds, rest) = match digits(13..15) {
        Some(seconds) => (format!(":{seconds}"), &text[15..]),
        None => (String::new(), &text[13..]),
    };
    let (year, month, day) = (&date[..4], &date[4..6], &date[6..]);
    Cow::Owned(format!("{year}-{month}-{day} {}:{}{seconds}{rest}", &time[..2], &time[2..]))
}

/// Replaces the `T` between an ISO 8601 date and time with a space.
fn split_at_t(text: &str) -> String {
    let bytes = text.as_bytes();
    let between = |at: usize| {
        at > 0
            && bytes[at - 1].is_ascii_digit()
            && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
    };
    text.char_indices()
        .map(|(at, c)| if matches!(c, 'T' | 't') && between(at) { ' ' } else { c })
        .collect()
}

#[derive(Default)]
struct Found {
    base: Option<Base>,
    time: Option<Time>,
    zone: Option<Zone>,
    steps: Vec<Step>,
    is_rolled: bool,
}

impl Found {
    fn date(&mut self, year: i16, month: i8, day: i8) -> Result<(), NotADate> {
        let date = rolling_date(year, month, day)?;
        self.is_rolled |= date.day() != day;
        self.base(Base::Date(date))
    }

    fn base(&mut self, base: Base) -> Result<(), NotADate> {
        if self.base.replace(base).is_some() { Err(NotADate) } else { Ok(()) }
    }

    fn time(&mut self, time: Time) -> Result<(), NotADate> {
        if self.time.replace(time).is_some() { Err(NotADate) } else { Ok(()) }
    }

    fn zone(&mut self, zone: Zone) -> Result<(), NotADate> {
        if self.zone.replace(zone).is_some() { Err(NotADate) } else { Ok(()) }
    }

    fn finish(self) -> Result<When, NotADate> {
        let Found { base, time, zone, steps, is_rolled } = self;
        let base = match base {
            Some(base) => base,
            None if !steps.is_empty() => Base::Now,
            None if time.is_some() => Base::Today,
            None => return Err(NotADate),
        };
        Ok(When { base, time, zone, steps, is_rolled })
    }
}

struct Parser<'a> {
    words: &'a [&'a str],
    at: usize,
    found: Found,
}

impl Parser<'_> {
    fn peek(&self, ahead: usize) -> Option<String> {
        self.words.get(self.at + ahead).map(|word| word.to_ascii_lowercase())
    }

    fn step(&mut self) -> Result<(), NotADate> {
        let word = self.peek(0).ok_or(NotADate)?;
        if let Some(used) = self.keyword(&word)? {
            self.at += used;
            return Ok(());
        }
        if let Some(used) = self.relative(&word)? {
            self.at += used;
            return Ok(());
        }
        if let Some(used) = self.named_date(&word)? {
            self.at += used;
            return Ok(());
        }
        if let Some((year, month, day)) = numeric_date(&word)? {
            self.at += 1;
            return self.found.date(year, month, day);
        }
        self.time_or_zone(&word)
    }

    fn keyword(&mut self, word: &str) -> Result<Option<usize>, NotADate> {
        let noon = Time::constant(12, 0, 0, 0);
        match word {
            "now" => self.found.base(Base::Now)?,
            "today" => self.found.base(Base::Today)?,
            "tomorrow" => self.day_from_today(1)?,
            "yesterday" => self.day_from_today(-1)?,
            "midnight" => self.found.time(Time::midnight())?,
            "noon" => self.found.time(noon)?,
            _ => return Ok(None),
        }
        Ok(Some(1))
    }

    fn day_from_today(&mut self, days: i64) -> Result<(), NotADate> {
        self.found.base(Base::Today)?;
        self.found.steps.push(Step::Add(days, Unit::Day));
        Ok(())
    }

    /// Parses `+N unit`, `N units ago`, `next week`, `monday`, `first day of …`. Returns the number
    /// of words consumed, or `None` if nothing matches.
    fn relative(&mut self, word: &str) -> Result<Option<usize>, NotADate> {
        if let Some(used) = self.counted_moves()? {
            return Ok(Some(used));
        }
        if matches!(word, "first" | "last")
            && self.peek(1).as_deref() == Some("day")
            && self.peek(2).as_deref() == Some("of")
        {
            return self.edge_of_month(word == "first").map(Some);
        }
        if let Some(day) = weekday(word) {
            return self.weekday(day, WeekdayChoice::This).map(|()| Some(1));
        }
        let (choice, count) = match word {
            "next" => (WeekdayChoice::Next, 1),
            "last" | "previous" => (WeekdayChoice::Last, -1),
            "this" => (WeekdayChoice::This, 0),
            _ => return Ok(None),
        };
        let name = self.peek(1).ok_or(NotADate)?;
        if let Some(day) = weekday(&name) {
            self.weekday(day, choice)?;
        } else {
            self.found.steps.push(Step::Add(count, unit(&name).ok_or(NotADate)?));
        }
        Ok(Some(2))
    }

    /// Parses consecutive counted steps. If `ago` follows, reverses all of them. Returns the number
    /// of words consumed, or `None` if there are no steps.
    fn counted_moves(&mut self) -> Result<Option<usize>, NotADate> {
        let mut moves = Vec::new();
        let mut used = 0;
        while let Some((count, unit, words)) = self.counted(used)? {
            moves.push((count, unit));
            used += words;
        }
        if moves.is_empty() {
            return Ok(None);
        }
        let ago = self.peek(used).is_some_and(|next| next == "ago");
        let turned = |count: i64| if ago { -count } else { count };
        let steps = moves.into_iter().map(|(count, unit)| Step::Add(turned(count), unit));
        self.found.steps.extend(steps);
        Ok(Some(used + usize::from(ago)))
    }

    /// Parses a count and unit in one or two words. The sign is optional. Returns `None` if the
    /// words are something else.
    fn counted(&self, ahead: usize) -> Result<Option<(i64, Unit, usize)>, NotADate> {
        let word = self.peek(ahead).unwrap_or_default();
        let body = word.trim_start_matches(['+', '-']);
        let digits = body.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 || word.len() - body.len() > 1 {
            return Ok(None);
        }
        let (name, used) = match &body[digits..] {
            "" => (self.peek(ahead + 1).unwrap_or_default(), 2),
            attached => (attached.to_owned(), 1),
        };
        let Some(unit) = unit(&name) else { return Ok(None) };
        // The count is parsed without its sign, so it can't be the minimum integer and can always
        // be negated.
        let count: i64 = body[..digits].parse().map_err(|_| NotADate)?;
        Ok(Some((if word.starts_with('-') { -count } else { count }, unit, used)))
    }

    fn weekday(&mut self, day: Weekday, choice: WeekdayChoice) -> Result<(), NotADate> {
        // In `Friday, 5 March 2027` the weekday is part of a written date, and `This` doesn't
        // change the date.
        self.found.steps.push(Step::Weekday { day, choice });
        Ok(())
    }

    /// Parses the rest of `first day of …` or `last day of …`.
    fn edge_of_month(&mut self, first: bool) -> Result<usize, NotADate> {
        let edge = if first { Step::FirstDay } else { Step::LastDay };
        let word = self.peek(3).ok_or(NotADate)?;
        let count = match word.as_str() {
            "next" => Some(1),
            "last" | "previous" => Some(-1),
            "this" => Some(0),
            _ => None,
        };
        if let Some(count) = count {
            if self.peek(4).as_deref() != Some("month") {
                return Err(NotADate);
            }
            // Move to the first day before adding months, or the 31st could roll over.
            self.found.steps.extend([Step::FirstDay, Step::Add(count, Unit::Month), edge]);
        } else {
            let month = month(&word).ok_or(NotADate)?;
            let year = self.peek(4).and_then(|word| year(&word)).ok_or(NotADate)?;
            self.found.date(year, month, 1)?;
            self.found.steps.push(edge);
        }
        Ok(5)
    }

    /// Parses `March 1, 2027`, `1 March 2027`, `Mar 2027`. Returns the number of words consumed, or
    /// `None` if they aren't a date.
    fn named_date(&mut self, word: &str) -> Result<Option<usize>, NotADate> {
        let second = self.peek(1).unwrap_or_default();
        let third = self.peek(2).unwrap_or_default();
        let (year, month, day, used) = if let Some(month) = month(word) {
            match (day(&second), year(&third), year(&second)) {
                (Some(day), Some(year), _) => (year, month, day, 3),
                (_, _, Some(year)) => (year, month, 1, 2),
                _ => return Err(NotADate),
            }
        } else if let (Some(day), Some(month)) = (day(word), month(&second)) {
            (year(&third).ok_or(NotADate)?, month, day, 3)
        } else {
            return Ok(None);
        };
        self.found.date(year, month, day)?;
        Ok(Some(used))
    }

    fn time_or_zone(&mut self, word: &str) -> Result<(), NotADate> {
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let (clock, rest) = split_clock(word);
            let (half, rest) = half_day(rest);
            let next = self.peek(1);
            let (half, used) = match (half, next.as_deref()) {
                (None, Some(next)) if rest.is_empty() => match half_day(next) {
                    (Some(half), _) => (Some(half), 2),
                    (None, _) => (None, 1),
                },
                (half, _) => (half, 1),
            };
            if half.is_none() && matches!(clock, "24:00" | "24:00:00") {
                self.found.time(Time::midnight())?;
                self.found.steps.push(Step::Add(1, Unit::Day));
            } else {
                self.found.time(clock_time(clock, half)?)?;
            }
            if !rest.is_empty() {
                self.found.zone(Zone::of_date(rest).ok_or(NotADate)?)?;
            }
            self.at += used;
            return Ok(());
        }
        // Look up the zone name with its original case.
        let written = self.words.get(self.at).ok_or(NotADate)?;
        self.found.zone(Zone::of_date(written).ok_or(NotADate)?)?;
        self.at += 1;
        Ok(())
    }
}

fn small(text: &str) -> Result<i16, NotADate> {
    text.parse().map_err(|_| NotADate)
}

fn tiny(number: i16) -> Result<i8, NotADate> {
    i8::try_from(number).map_err(|_| NotADate)
}

fn is_digits(text: &str, from: usize, to: usize) -> bool {
    (from..=to).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}

fn year(word: &str) -> Option<i16> {
    is_digits(word, 4, 4).then(|| word.parse().ok()).flatten()
}

fn day(word: &str) -> Option<i8> {
    is_digits(word, 1, 2).then(|| word.parse().ok()).flatten()
}

/// Parses one of the five numeric formats, which differ in their separator and the position of the
/// year. Returns year, month and day, or `None` for other words.
fn numeric_date(word: &str) -> Result<Option<(i16, i8, i8)>, NotADate> {
    let Some(mark) = ['-', '/', '.'].into_iter().find(|mark| word.matches(*mark).count() == 2)
    else {
        return Ok(None);
    };
    let parts: Vec<&str> = word.split(mark).collect();
    let [a, b, c] = parts[..] else { return Ok(None) };
    if is_digits(a, 4, 4) && is_digits(b, 1, 2) && is_digits(c, 1, 2) && mark != '.' {
        return Ok(Some((small(a)?, tiny(small(b)?)?, tiny(small(c)?)?)));
    }
    if is_digits(a, 1, 2) && is_digits(b, 1, 2) && is_digits(c, 4, 4) {
        let (day, month) = if mark == '/' { (b, a) } else { (a, b) };
        return Ok(Some((small(c)?, tiny(small(month)?)?, tiny(small(day)?)?)));
    }
    Ok(None)
}

/// Splits `19:30:00.5+02:00` into the time and the rest.
fn split_clock(word: &str) -> (&str, &str) {
    let end =
        word.find(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | '.'))).unwrap_or(word.len());
    word.split_at(end)
}

fn half_day(rest: &str) -> (Option<bool>, &str) {
    match rest {
        "am" | "a.m." | "a.m" => (Some(false), ""),
        "pm" | "p.m." | "p.m" => (Some(true), ""),
        _ => (None, rest),
    }
}

/// Parses `HH:MM[:SS[.f]]`, or just an hour if there is an `am` or `pm`. Drops fractions.
fn clock_time(clock: &str, afternoon: Option<bool>) -> Result<Time, NotADate> {
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let parts: Vec<&str> = clock.split(':').collect();
    let written_in_full = parts.len() >= 2;
    if parts.len() > 3
        || (!written_in_full && afternoon.is_none())
        || (!fraction.is_empty() && (parts.len() != 3 || !is_digits(fraction, 1, 9)))
        || !is_digits(parts[0], 1, 2)
        || !parts[1..].iter().all(|part| is_digits(part, 2, 2))
    {
        return Err(NotADate);
    }
    let number = |at: usize| parts.get(at).map_or(Ok(0), |part| small(part).and_then(tiny));
    let hour = match (number(0)?, afternoon) {
        (hour, None) => hour,
        (hour, _) if !(1..=12).contains(&hour) => return Err(NotADate),
        (hour, Some(false)) => hour % 12,
        (hour, Some(true)) => hour % 12 + 12,
    };
    Time::new(hour, number(1)?, number(2)?, 0).map_err(|_| NotADate)
}
