//! Date and time patterns.

use jiff::civil::{Date, DateTime};

use super::forms::Forms;

/// Formats a date with a pattern.
pub fn date(forms: &Forms, pattern: &str, day: Date) -> String {
    moment(forms, pattern, day.at(0, 0, 0, 0))
}

/// Formats a date and time with a pattern.
pub fn moment(forms: &Forms, pattern: &str, at: DateTime) -> String {
    interval(forms, pattern, (at, at))
}

/// Formats an interval with a pattern.
pub fn interval(forms: &Forms, pattern: &str, (first, last): (DateTime, DateTime)) -> String {
    let (mut text, mut seen) = (String::new(), String::new());
    let (mut at, mut is_quoted) = (first, false);
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\'' {
            is_quoted = !is_quoted;
        } else if is_quoted || !letter.is_ascii_alphabetic() {
            text.push(letter);
        } else {
            let mut length = 1;
            while letters.next_if_eq(&letter).is_some() {
                length += 1;
            }
            if seen.contains(letter) {
                at = last;
            }
            seen.push(letter);
            text.push_str(&field(forms, at, (letter, length)));
        }
    }
    text
}

fn field(forms: &Forms, at: DateTime, (letter, length): (char, usize)) -> String {
    let month = usize::from(at.month().unsigned_abs()) - 1;
    let weekday = usize::from(at.weekday().to_monday_zero_offset().unsigned_abs());
    let name = |names: &[&'static str], index: usize| {
        names.get(index).copied().unwrap_or_default().to_owned()
    };
    let number = |value: i16| format!("{value:0length$}");
    match (letter, length) {
        ('E', 4) => name(&forms.weekdays, weekday),
        ('E', _) => name(&forms.short_weekdays, weekday),
        ('M', 4) => name(&forms.months, month),
        ('M', 3) => name(&forms.short_months, month),
        ('L', 4) => name(&forms.months_alone, month),
        ('M', _) => number(at.month().into()),
        ('y', _) => number(at.year()),
        ('d', _) if at.day() == 1 => forms.first.to_owned(),
        ('d', _) => number(at.day().into()),
        ('H', _) => number(at.hour().into()),
        ('h', _) => number(i16::from((at.hour() + 11) % 12 + 1)),
        ('m', _) => number(at.minute().into()),
        ('a', _) => name(&forms.halves, usize::from(at.hour() >= 12)),
        _ => String::new(),
    }
}
