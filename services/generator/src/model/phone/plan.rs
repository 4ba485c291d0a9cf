//! Compiles numbering plans and samples numbers, with realistic shares of each kind.

use super::automaton::{Automaton, Pattern, PatternError};
use super::fiction::Fiction;
use super::patterns::{KindPatterns, Patterns};
use crate::model::ascii_buffer::AsciiBuffer;
use crate::model::random::Random;

/// Maximum number of digits, including the calling code (ITU-T E.164).
const LONGEST: usize = 15;
/// Percentage of mobile numbers, in regions with both kinds.
const MOBILE: u64 = 70;
/// Percentage of numbers that differ in length from the example number.
const OTHER_LENGTHS: u64 = 2;
/// Percentage of numbers in rarely used ranges.
const RARE: u64 = 1;

/// Rarely used mobile ranges. They are for machines, or were closed when subscribers moved to
/// another prefix.
const RARE_RANGES: [(&str, &str); 3] =
    [("KR", r"1[1-9]\d+"), ("NL", r"97\d+"), ("NO", r"5[89]\d+")];

/// A region's compiled numbering plan.
pub(super) struct Plan {
    mobile: Kind,
    fixed: Kind,
}

/// Numbers of a single kind.
struct Kind {
    common: Automaton,
    rare: Automaton,
    /// Length of the example number, if there are any numbers of that length.
    usual: Option<usize>,
    other_lengths: Vec<usize>,
}

impl Plan {
    /// Compiles a region's plan.
    pub(super) fn compile(patterns: &Patterns) -> Result<Self, PatternError> {
        let rare = RARE_RANGES.iter().find(|(code, _)| *code == patterns.code);
        let rare = rare.map_or("", |(_, range)| range);
        let longest = LONGEST - patterns.calling_code.len();
        let [mobile, fixed] = &patterns.kinds;
        let kind = |kind: &KindPatterns, rare| {
            let required = [patterns.general, kind.carried, ""];
            let pattern = Pattern { wanted: kind.pattern, required, unwanted: patterns.other };
            Kind::compile(pattern, rare, kind.example, longest)
        };
        Ok(Self { mobile: kind(mobile, rare)?, fixed: kind(fixed, "")? })
    }

    /// Compiles the landlines in a town, which must match `area`.
    pub(super) fn compile_area(patterns: &Patterns, area: &str) -> Result<Self, PatternError> {
        let longest = LONGEST - patterns.calling_code.len();
        let fixed = &patterns.kinds[1];
        let compile = |wanted| {
            let required = [patterns.general, fixed.carried, area];
            let pattern = Pattern { wanted, required, unwanted: patterns.other };
            Kind::compile(pattern, "", fixed.example, longest)
        };
        Ok(Self { mobile: compile("")?, fixed: compile(fixed.pattern)? })
    }

    /// Compiles the fictional numbers of a region. In North America, every area code has some.
    pub(super) fn compile_fiction(
        patterns: &Patterns,
        fiction: &Fiction,
    ) -> Result<Self, PatternError> {
        let longest = LONGEST - patterns.calling_code.len();
        let areas = if patterns.calling_code == "1" { patterns.kinds[1].pattern } else { "" };
        let kind = |wanted, required| {
            let pattern = Pattern { wanted, required: [required, "", ""], unwanted: "" };
            Kind::compile(pattern, "", 0, longest)
        };
        Ok(Self { mobile: kind(fiction.mobile, "")?, fixed: kind(fiction.fixed, areas)? })
    }

    /// Samples a national number, which is a mobile number with a probability of 70 percent and a
    /// landline otherwise. If `area` is given, landlines are taken from there.
    pub(super) fn push(&self, area: Option<&Self>, random: &mut Random, out: &mut AsciiBuffer) {
        let mobile = match (self.mobile.is_empty(), self.fixed.is_empty()) {
            (false, false) => random.percent(MOBILE),
            (no_mobile, _) => !no_mobile,
        };
        let area = area.filter(|area| !area.fixed.is_empty());
        let fixed = area.map_or(&self.fixed, |area| &area.fixed);
        (if mobile { &self.mobile } else { fixed }).push(random, out);
    }

    /// Returns how many numbers [`push_nth`](Self::push_nth) can choose from.
    pub(super) fn count(&self) -> u64 {
        let numbers = self.countable();
        numbers.first_length().map_or(0, |length| numbers.common.count(length))
    }

    /// Appends the `nth` national number. All numbers have the usual length, and are mobile numbers
    /// if there are any. We don't combine them with landlines, because some regions use the same
    /// ranges for both.
    pub(super) fn push_nth(&self, nth: u64, out: &mut AsciiBuffer) {
        let numbers = self.countable();
        if let Some(length) = numbers.first_length() {
            numbers.common.push_nth(nth, length, out);
        }
    }

    fn countable(&self) -> &Kind {
        if self.mobile.is_empty() { &self.fixed } else { &self.mobile }
    }

    /// Returns whether the plan has no numbers.
    pub(super) fn is_empty(&self) -> bool {
        self.mobile.is_empty() && self.fixed.is_empty()
    }
}

impl Kind {
    /// Compiles the numbers that match a pattern. Numbers that also match `rare` are kept
    /// separately (none if it is empty).
    fn compile(
        pattern: Pattern<'_>,
        rare: &str,
        example: usize,
        longest: usize,
    ) -> Result<Self, PatternError> {
        let joined = [pattern.unwanted, rare].into_iter().filter(|part| !part.is_empty());
        let unwanted = joined.collect::<Vec<_>>().join("|");
        let common = Automaton::compile(Pattern { unwanted: &unwanted, ..pattern }, longest)?;
        let [general, carried, _] = pattern.required;
        let required = [pattern.wanted, general, carried];
        let rare = Pattern { wanted: rare, required, unwanted: pattern.unwanted };
        let rare = Automaton::compile(rare, longest)?;
        let usual = common.lengths().find(|length| *length == example);
        let other_lengths = common.lengths().filter(|length| Some(*length) != usual).collect();
        Ok(Self { common, rare, usual, other_lengths })
    }

    fn is_empty(&self) -> bool {
        self.common.is_empty()
    }

    /// Returns the usual length or, if there is none, the shortest one.
    fn first_length(&self) -> Option<usize> {
        self.usual.or_else(|| self.other_lengths.first().copied())
    }

    fn push(&self, random: &mut Random, out: &mut AsciiBuffer) {
        if !self.rare.is_empty() && random.percent(RARE) {
            let lengths: Vec<_> = self.rare.lengths().collect();
            let length = *random.pick(&lengths);
            return self.rare.push(random, length, out);
        }
        let length = match (self.usual, self.other_lengths.is_empty()) {
            (Some(usual), true) => usual,
            (Some(usual), false) if !random.percent(OTHER_LENGTHS) => usual,
            _ if self.other_lengths.is_empty() => return,
            _ => *random.pick(&self.other_lengths),
        };
        self.common.push(random, length, out);
    }
}

#[cfg(test)]
impl Plan {
    /// Returns the possible lengths of mobile numbers.
    pub(super) fn mobile_lengths(&self) -> Vec<usize> {
        self.mobile.common.lengths().collect()
    }

    /// Returns the possible lengths of landlines.
    pub(super) fn fixed_lengths(&self) -> Vec<usize> {
        self.fixed.common.lengths().collect()
    }
}
