//! Rules for reading a service's parameters.

/// Rules for reading a service's parameters. Each service has one such constant.
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
    /// Decides which value wins if a name repeats.
    pub repeated: Repeated,
    /// How to treat an empty value.
    pub empty: Empty,
    /// How to treat a name that isn't a field.
    pub unknown: Unknown,
    /// How to treat a value that isn't UTF-8.
    pub undecodable: Undecodable,
    /// How lists are written.
    pub lists: Lists,
    /// How whole numbers are written.
    pub numbers: Numbers,
    /// How an enum's words are compared.
    pub words: Words,
    /// The words for booleans, ignoring letter case.
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

/// Decides which value wins if a name repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// The first.
    First,
    /// The last.
    Last,
}

/// How to treat an empty value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    /// The parameter counts as missing.
    Absent,
    /// Like any other value.
    Kept,
}

/// How to treat a name that isn't a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// Ignores it.
    Ignored,
    /// Reports it as a violation with the code `unknown`. At most this number are reported, before
    /// all other violations.
    Refused(usize),
}

/// How to treat a value that isn't UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecodable {
    /// Reports a violation of its parameter with the code `encoding`, or ignores it if no field has
    /// this name.
    Parameter,
    /// Rejects the whole input with a single violation that contains the parameter's name.
    Input,
}

/// How lists are written. JSON arrays are always lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// As a single value with commas. Items are trimmed, and empty ones are dropped.
    Commas,
    /// By repeating the name, with one item each.
    Values,
}

/// How whole numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Anything [`str::parse`] accepts, with optional spaces around it.
    Parsed,
    /// 1 to this number of digits.
    Digits(usize),
}

/// How an enum's words (unit variants) are compared.
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
    /// All of them, in field declaration order.
    All,
    /// Only the first one in that order.
    First,
}
