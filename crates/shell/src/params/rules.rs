//! A service's rules for reading parameters.

/// A service's rules for reading parameters, declared as a constant.
///
/// ```
/// use shell::params::{Empty, Names, Numbers, Repeated, Rules};
///
/// const RULES: Rules = Rules {
///     names: Names::IgnoringCase,
///     repeated: Repeated::Last,
///     empty: Empty::Absent,
///     numbers: Numbers::Digits(18),
///     ..Rules::PLAIN
/// };
/// assert_eq!(RULES.booleans, Rules::PLAIN.booleans);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// How names are compared.
    pub names: Names,
    /// Decides which value wins if a name is repeated.
    pub repeated: Repeated,
    /// How an empty value is treated.
    pub empty: Empty,
    /// How a name that isn't a field is treated.
    pub unknown: Unknown,
    /// How a value that isn't UTF-8 is treated.
    pub undecodable: Undecodable,
    /// How lists are written.
    pub lists: Lists,
    /// How whole numbers are written.
    pub numbers: Numbers,
    /// How the words of an enum are compared.
    pub words: Words,
    /// The words for booleans, compared case-insensitively.
    pub booleans: &'static [(&'static str, bool)],
    /// How many violations to report.
    pub faults: Faults,
}

impl Rules {
    /// Names are exact, the first value wins, empty values are kept, booleans are `true` and
    /// `false`, and all violations are reported.
    pub const PLAIN: Self = Self {
        names: Names::Exact,
        repeated: Repeated::First,
        empty: Empty::Kept,
        unknown: Unknown::Ignored,
        undecodable: Undecodable::Parameter,
        lists: Lists::Commas,
        numbers: Numbers::Parsed,
        words: Words::Exact,
        booleans: &[("true", true), ("false", false)],
        faults: Faults::All,
    };
}

impl Default for Rules {
    fn default() -> Self {
        Self::PLAIN
    }
}

/// How names are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Exactly.
    Exact,
    /// Ignoring ASCII case.
    IgnoringCase,
}

impl Names {
    pub(super) fn equal(self, one: &str, other: &str) -> bool {
        match self {
            Self::Exact => one == other,
            Self::IgnoringCase => one.eq_ignore_ascii_case(other),
        }
    }
}

/// Decides which value wins if a name is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// The first value.
    First,
    /// The last value.
    Last,
}

/// How an empty value is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    /// The parameter counts as missing.
    Absent,
    /// The value is treated like any other.
    Kept,
}

/// How a name that isn't a field is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The name is ignored.
    Ignored,
    /// The name is a violation with the code `unknown`. At most this many are reported, ahead of
    /// all other violations.
    Refused(usize),
}

/// How a value that isn't UTF-8 is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecodable {
    /// The parameter is a violation with the code `encoding`, unless there is no such field, in
    /// which case it is ignored.
    Parameter,
    /// The whole input is rejected with a single violation, which names the parameter.
    Input,
}

/// How lists are written. JSON arrays are always lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// As a single comma-separated value. Items are trimmed, and empty ones are dropped.
    Commas,
    /// By repeating the name once per item.
    Values,
}

/// How whole numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// In any form that [`str::parse`] accepts, with optional spaces around it.
    Parsed,
    /// As 1 to this number of digits.
    Digits(usize),
}

/// How the words of an enum (its unit variants) are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// Exactly.
    Exact,
    /// Ignoring ASCII case.
    IgnoringCase,
    /// Ignoring ASCII case and surrounding spaces.
    Trimmed,
}

/// How many violations to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faults {
    /// All violations, in the order in which the fields are declared.
    All,
    /// Only the first of them.
    First,
}
