//! Parsing rules for parameters, and violation codes.
//!
//! The constants here are codes in addition to those of [`shell::params`]. A violation's message
//! isn't shown directly. The error body builds the final message from the code, the value and this
//! argument.

use shell::params::{Empty, Faults, Names, Repeated, Rules, Unknown, Words};

/// Rules for the parameters of all operations.
pub const RULES: Rules = Rules {
    names: Names::IgnoringCase,
    repeated: Repeated::First,
    empty: Empty::Absent,
    words: Words::Trimmed,
    faults: Faults::All,
    ..Rules::PLAIN
};

/// Rules for members of request bodies.
pub const BODY_RULES: Rules = Rules {
    repeated: Repeated::Last,
    empty: Empty::Kept,
    unknown: Unknown::Refused(MOST_UNKNOWN),
    ..RULES
};

/// Maximum number of unknown members to report, since a body might have a hundred thousand.
const MOST_UNKNOWN: usize = 32;

/// A number or word is missing. For strings, the code is `required`.
pub const ABSENT: &str = "absent";
/// The value isn't a date.
pub const DATE: &str = "date";
/// The date is out of range. The message is the range.
pub const BETWEEN: &str = "between";
/// The parameter is longer than the maximum in the message.
pub const TOO_LONG: &str = "too_long";
/// The member is empty, or longer than the maximum in the message.
pub const MEMBER_LENGTH: &str = "member_length";
/// The value isn't on the list. The message is the list's path, or empty.
pub const UNSUPPORTED: &str = "unsupported";
