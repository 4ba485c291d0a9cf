//! Parsing rules for parameters.

use shell::params::{Empty, Faults, Numbers, Repeated, Rules, Undecodable, Words};

/// Parsing rules used by all operations.
pub const RULES: Rules = Rules {
    repeated: Repeated::Last,
    empty: Empty::Absent,
    undecodable: Undecodable::Input,
    numbers: Numbers::Digits(18),
    words: Words::IgnoringCase,
    booleans: &[("1", true), ("true", true), ("0", false), ("false", false)],
    faults: Faults::First,
    ..Rules::PLAIN
};
