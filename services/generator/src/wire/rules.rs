//! Rules for parsing parameters, and codes of violations.
//!
//! The codes here are in addition to the ones in [`shell::params`]. A violation's message isn't
//! shown to the client. Instead, the error body uses it as an argument when building the final
//! message from the code and the value.

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

/// Maximum number of unknown members to report, because a body might have a hundred thousand of
/// them.
const MOST_UNKNOWN: usize = 32;

/// A number or word is missing. For strings, the code is `required`.
pub const ABSENT: &str = "absent";
/// The value isn't a date.
pub const DATE: &str = "date";
/// The date is out of range. The message contains the range.
pub const BETWEEN: &str = "between";
/// The parameter is longer than the maximum given in the message.
pub const TOO_LONG: &str = "too_long";
/// The member is empty, or longer than the maximum given in the message.
pub const MEMBER_LENGTH: &str = "member_length";
/// The value isn't on the list. The message is the path of the list, or empty.
pub const UNSUPPORTED: &str = "unsupported";
