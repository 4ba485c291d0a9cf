//! The parsing rules for parameters, and the codes of violations.
//!
//! The constants here add codes to those of [`shell::params`]. Their messages are parameters of the
//! texts, which the error bodies build from code, value and message.

use shell::params::{Empty, Faults, Names, Repeated, Rules, Unknown, Words};

/// The rules for the parameters of all operations.
pub const RULES: Rules = Rules {
    names: Names::IgnoringCase,
    repeated: Repeated::First,
    empty: Empty::Absent,
    words: Words::Trimmed,
    faults: Faults::All,
    ..Rules::PLAIN
};

/// The rules for members of bodies.
pub const BODY_RULES: Rules = Rules {
    repeated: Repeated::Last,
    empty: Empty::Kept,
    unknown: Unknown::Refused(MOST_UNKNOWN),
    ..RULES
};

/// Maximum number of unknown members reported. A body may have a hundred thousand.
const MOST_UNKNOWN: usize = 32;

/// A number or word is missing. A missing text is `required`.
pub const ABSENT: &str = "absent";
/// The text is not a date.
pub const DATE: &str = "date";
/// The date is outside the range in the message.
pub const BETWEEN: &str = "between";
/// The parameter exceeds the length in the message.
pub const TOO_LONG: &str = "too_long";
/// The member is empty or exceeds the length in the message.
pub const MEMBER_LENGTH: &str = "member_length";
/// The value is not in a list. The message is the path of the list, or empty.
pub const UNSUPPORTED: &str = "unsupported";
