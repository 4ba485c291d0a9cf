//! Combines a column's checks.

use std::collections::HashSet;

use regex_automata::meta::Regex;
use serde_json::Value;

use super::column::{Column, Stored};
use crate::model::records::kinds::pattern;

/// In unique columns, patterns that match at least this number of strings aren't lengthened.
const ENOUGH: u64 = 1_000_000;
/// In other columns, patterns that match at least this number of strings aren't lengthened.
const FEW: u64 = 1_000;
/// Random strings of up to this length are likely to include a given one.
const TINY: u64 = 3;
/// Number of characters appended to a pattern.
const MORE: u64 = 6;
/// Assertions that could fail if more characters were appended.
const ENDS: [&str; 7] = ["$", "\\z", "\\Z", "\\b", "\\B", "\\y", "\\>"];

/// Returns whether a regular expression matches a string or part of it.
pub fn is_match(regex: &str, text: &str) -> bool {
    Regex::new(regex).is_ok_and(|regex| regex.is_match(text))
}

impl Column {
    /// Restricts the column to these values. Returns false if other checks rule all of them out.
    pub fn choose(&mut self, mut values: Vec<Value>) -> bool {
        let regex = self.regex.as_deref().map(|regex| Regex::new(regex).ok());
        values.retain(|value| {
            let text = value.as_str();
            let is_known = self.choices.is_empty() || self.choices.contains(value);
            let has_case = text.is_none_or(|text| self.has_case(text));
            let is_match = |regex: &Option<Regex>| {
                regex.as_ref().is_some_and(|regex| regex.is_match(text.unwrap_or("")))
            };
            let is_allowed = has_case && !self.excluded.contains(value);
            is_known && is_allowed && regex.as_ref().is_none_or(is_match)
        });
        let mut known = HashSet::new();
        values.retain(|value| known.insert(value.to_string()));
        if !values.is_empty() {
            self.choices = values;
            return true;
        }
        false
    }

    /// Keeps the choices that match a regular expression. Returns false if there are none.
    pub fn choose_matching(&mut self, regex: &str) -> bool {
        let Ok(regex) = Regex::new(regex) else { return false };
        let fits = |value: &Value| value.as_str().is_some_and(|text| regex.is_match(text));
        let values: Vec<_> = self.choices.iter().filter(|value| fits(value)).cloned().collect();
        !values.is_empty() && self.choose(values)
    }

    /// Makes strings match a regular expression. Returns false if they already have to match
    /// another one, or if they would be too long or in the wrong case.
    pub fn set_regex(&mut self, regex: String) -> bool {
        let Stored::Text(longest) = self.stored else { return false };
        let is_other = self.regex.as_ref().is_some_and(|known| *known != regex);
        let Some((_, most)) = pattern::lengths(&regex).filter(|_| !is_other) else { return false };
        let fits = longest.is_none_or(|longest| most <= u64::from(longest));
        if fits && self.has_case_of(&regex) {
            self.regex = Some(regex);
            return true;
        }
        false
    }

    /// Converts strings to upper or lower case. Returns false if other checks require something
    /// else.
    pub fn set_case(&mut self, is_upper: bool) -> bool {
        let is_other = if is_upper { self.is_lower } else { self.is_upper };
        if is_other {
            return false;
        }
        (self.is_upper, self.is_lower) = (is_upper, !is_upper);
        if !self.choices.is_empty() {
            return self.choose(self.choices.clone());
        }
        self.regex.as_deref().is_none_or(|regex| self.has_case_of(regex))
    }

    /// Returns whether all letters of a string are in the column's case.
    fn has_case(&self, text: &str) -> bool {
        !text.chars().any(|letter| {
            self.is_upper && letter.is_lowercase() || self.is_lower && letter.is_uppercase()
        })
    }

    /// Returns whether all matches of a regular expression are in the column's case. If in doubt,
    /// returns false.
    fn has_case_of(&self, regex: &str) -> bool {
        if !self.is_upper && !self.is_lower {
            return true;
        }
        let (mut plain, mut letters) = (String::new(), regex.chars());
        while let Some(letter) = letters.next() {
            match letter {
                '\\' if letters.next().is_some_and(|class| "wWDSpP".contains(class)) => {
                    return false;
                }
                '\\' => {}
                '.' => return false,
                letter => plain.push(letter),
            }
        }
        self.has_case(&plain) && !plain.contains("[^") && !plain.contains("(?")
    }

    /// Appends more characters to an expression that isn't anchored at the end, such as `^[A-Z]`,
    /// because it would otherwise match only a few strings. Returns `None` if there are enough, or
    /// if the column is too short for more.
    fn lengthened(&self, regex: &str) -> Option<String> {
        let is_unique = self.unique || self.is_key;
        let few = if is_unique { ENOUGH } else { FEW };
        let has_end = ENDS.iter().any(|end| regex.contains(end));
        let is_short = pattern::count(regex).is_none_or(|count| count < few);
        if has_end || !is_short || !is_unique && pattern::count(regex).is_none() {
            return None;
        }
        let (shortest, longest) = pattern::lengths(regex)?;
        let space = match self.stored {
            Stored::Text(Some(most)) => u64::from(most).checked_sub(longest)?,
            _ => MORE,
        };
        let wanted = MORE.max(u64::from(self.shortest).saturating_sub(shortest));
        let (count, class) = (space.min(wanted), if self.is_upper { "[A-Z]" } else { "[a-z]" });
        let longer = format!("(?:{regex}){class}{{{count}}}");
        (count > 0 && pattern::lengths(&longer).is_some()).then_some(longer)
    }

    /// Applies the column's limits to the values that other checks leave. Returns false if the
    /// checks contradict each other, so that rows might violate some of them.
    pub fn settle(&mut self) -> bool {
        let (least, most) = (self.least.unwrap_or(f64::MIN), self.most.unwrap_or(f64::MAX));
        let is_number = matches!(self.stored, Stored::Integer | Stored::Decimal(_));
        let longest = match self.stored {
            Stored::Text(Some(longest)) => u64::from(longest),
            _ => u64::MAX,
        };
        let lengths = u64::from(self.shortest)..=longest;
        let is_day = matches!(self.stored, Stored::Date | Stored::Timestamp);
        let (first, last) = self.days.clone();
        if !self.choices.is_empty() {
            let before = self.choices.clone();
            self.choices.retain(|value| match (value.as_f64(), value.as_str()) {
                (Some(number), _) if is_number => (least..=most).contains(&number),
                (None, Some(text)) if is_day => {
                    first.as_deref().is_none_or(|first| first <= text)
                        && last.as_deref().is_none_or(|last| text <= last)
                }
                (None, Some(text)) if !is_number => {
                    lengths.contains(&(text.chars().count() as u64))
                }
                _ => true,
            });
            if self.choices.is_empty() {
                self.choices = before;
                return false;
            }
            return true;
        }
        if let Some(regex) = self.regex.as_deref().and_then(|regex| self.lengthened(regex)) {
            self.regex = Some(regex);
        }
        if let Some((shortest, longest)) = self.regex.as_deref().and_then(pattern::lengths)
            && !(lengths.contains(&shortest) && lengths.contains(&longest))
        {
            self.regex = None;
            return false;
        }
        if least > most {
            (self.least, self.most) = (None, None);
            return false;
        }
        if let (Some(first), Some(last)) = &self.days
            && first > last
        {
            self.days = (None, None);
            return false;
        }
        // The values of references come from other tables, where they are checked.
        self.refers.is_some() || !self.has_likely(&self.excluded)
    }

    /// Returns whether some rows are likely to have one of these values, because there are few
    /// others.
    pub fn has_likely(&self, values: &[Value]) -> bool {
        if values.is_empty() || !self.choices.is_empty() {
            return values.iter().any(|value| self.choices.contains(value));
        }
        // Short strings of letters and digits are generated from a pattern, too.
        let (field, _) = self.field("");
        let Some(own) = field["regex"].as_str() else { return false };
        let Ok(regex) = Regex::new(&format!("^(?:{own})$")) else { return false };
        let count = pattern::count(own);
        values.iter().filter_map(Value::as_str).any(|text| {
            let length = text.chars().count() as u64;
            let has_few = count.map_or(length <= TINY, |count| count < ENOUGH);
            has_few && regex.is_match(text)
        })
    }
}
