//! Rules for reading the parameters of a service.

/// The rules for reading the parameters of a service. Each service has one constant.
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
    /// The value that wins if a name repeats.
    pub repeated: Repeated,
    /// How an empty value is treated.
    pub empty: Empty,
    /// How a name without a field is treated.
    pub unknown: Unknown,
    /// How a value that is not UTF-8 is treated.
    pub undecodable: Undecodable,
    /// How a list is written.
    pub lists: Lists,
    /// How a whole number is written.
    pub numbers: Numbers,
    /// How the words of an enum are compared.
    pub words: Words,
    /// The words of a boolean. Letter case is ignored.
    pub booleans: &'static [(&'static str, bool)],
    /// How many violations are reported.
    pub faults: Faults,
}

impl Rules {
    /// Exact names, the first value wins, empty values are kept, booleans are `true` and `false`,
    /// all violations are reported.
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
    /// Ignoring ASCII letter case.
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

/// The value that wins if a name repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// The first one sent.
    First,
    /// The last one sent.
    Last,
}

/// How an empty value is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    /// The parameter counts as missing.
    Absent,
    /// The value is kept like any other.
    Kept,
}

/// How a name without a field is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// It is ignored.
    Ignored,
    /// It is a violation with the code `unknown`. At most this number of them is reported, before
    /// all other violations.
    Refused(usize),
}

/// How a value that is not UTF-8 is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecodable {
    /// It is a violation of its parameter (code `encoding`). It is ignored if no field has this
    /// name.
    Parameter,
    /// The whole input is rejected with a single violation, which contains the name of the
    /// parameter.
    Input,
}

/// How a list is written. JSON arrays are lists under every rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// As comma-separated items in one value. Items are trimmed, and empty ones are dropped.
    Commas,
    /// As a repeated name with one item each.
    Values,
}

/// How a whole number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// In the syntax of [`str::parse`]. Surrounding spaces are allowed.
    Parsed,
    /// As 1 to this number of digits.
    Digits(usize),
}

/// How words of an enum (unit variants) are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// Exactly.
    Exact,
    /// Ignoring ASCII letter case.
    IgnoringCase,
    /// Ignoring ASCII letter case and surrounding spaces.
    Trimmed,
}

/// How many violations are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faults {
    /// All, in the order of the declared fields.
    All,
    /// The first one in that order.
    First,
}
