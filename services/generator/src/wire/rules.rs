//! The parsing rules for parameters, and the codes of violations.
//!
//! The constants here are additional codes to those of [`shell::params`]. The message of a
//! violation is an argument for the final error message, which the error body builds from the code,
//! the value and this argument.

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

/// Maximum number of unknown members that are reported. A body may contain a hundred thousand.
const MOST_UNKNOWN: usize = 32;

/// A number or word is missing. A missing text is `required`.
pub const ABSENT: &str = "absent";
/// The text is not a date.
pub const DATE: &str = "date";
/// The date is not in the range that the message contains.
pub const BETWEEN: &str = "between";
/// The parameter is longer than the maximum in the message.
pub const TOO_LONG: &str = "too_long";
/// The member is empty, or longer than the maximum in the message.
pub const MEMBER_LENGTH: &str = "member_length";
/// The value is not in a list. The message is the path of that list, or empty.
pub const UNSUPPORTED: &str = "unsupported";
