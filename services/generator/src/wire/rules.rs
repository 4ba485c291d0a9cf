//! How parameters are read, and the codes of what is wrong with them.
//!
//! The constants here add codes to those of [`shell::params`]. Their messages are parameters of the
//! texts, which the error bodies make from code, value and message.

use shell::params::{Empty, Faults, Names, Repeated, Rules, Unknown, Words};

/// How the parameters of all operations are read.
pub const RULES: Rules = Rules {
    names: Names::IgnoringCase,
    repeated: Repeated::First,
    empty: Empty::Absent,
    words: Words::Trimmed,
    faults: Faults::All,
    ..Rules::PLAIN
};

/// How the members of bodies are read.
pub const BODY_RULES: Rules = Rules {
    repeated: Repeated::Last,
    empty: Empty::Kept,
    unknown: Unknown::Refused(MOST_UNKNOWN),
    ..RULES
};

/// Unknown members that are reported; a body may have a hundred thousand.
const MOST_UNKNOWN: usize = 32;

/// A number or word is missing; a missing text is `required`.
pub const ABSENT: &str = "absent";
/// The text is no date.
pub const DATE: &str = "date";
/// The date lies outside of the range that the message names.
pub const BETWEEN: &str = "between";
/// The parameter is longer than the message says.
pub const TOO_LONG: &str = "too_long";
/// The member is empty or longer than the message says.
pub const MEMBER_LENGTH: &str = "member_length";
/// The value is not on a list; the message is the path of the list, or empty.
pub const UNSUPPORTED: &str = "unsupported";
