//! The reading rules of a service.

/// How the parameters of a service are read; one constant per service.
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
    /// Which of several values of one name counts.
    pub repeated: Repeated,
    /// What an empty value is.
    pub empty: Empty,
    /// What a name is that no field has.
    pub unknown: Unknown,
    /// What a value that is not UTF-8 spoils.
    pub undecodable: Undecodable,
    /// How a list is written.
    pub lists: Lists,
    /// How a whole number is written.
    pub numbers: Numbers,
    /// How one of several words is compared.
    pub words: Words,
    /// The words of a boolean; letter case does not count.
    pub booleans: &'static [(&'static str, bool)],
    /// How many violations are reported.
    pub faults: Faults,
}

impl Rules {
    /// Exact names, the first value, empty values kept, `true` and `false`, all violations.
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
    /// Letter by letter.
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

/// Which of several values of one name counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// The first one sent.
    First,
    /// The last one sent.
    Last,
}

/// What an empty value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    /// The parameter counts as not given.
    Absent,
    /// A value like any other.
    Kept,
}

/// What a name is that no field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// Nothing: it is passed over.
    Ignored,
    /// A violation with the code `unknown`; the first so many are reported, before all others.
    Refused(usize),
}

/// What a value that is not UTF-8 spoils.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecodable {
    /// Its own parameter (code `encoding`), and nothing where no field has its name.
    Parameter,
    /// The whole input: a single violation is reported, which names the parameter.
    Input,
}

/// How a list is written in one or several values; arrays of JSON are lists under every rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// Parts between commas, trimmed, empty ones dropped, of the value that counts.
    Commas,
    /// Every value of the name is an item.
    Values,
}

/// How a whole number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// As [`str::parse`] takes it, blanks around it dropped.
    Parsed,
    /// Digits only, 1 to so many.
    Digits(usize),
}

/// How one of several words (a unit variant of an enum) is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// Letter by letter.
    Exact,
    /// Ignoring ASCII letter case.
    IgnoringCase,
    /// Ignoring ASCII letter case, blanks around it dropped.
    Trimmed,
}

/// How many violations are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faults {
    /// All of them, in the order in which the fields are declared.
    All,
    /// The first of that order.
    First,
}
