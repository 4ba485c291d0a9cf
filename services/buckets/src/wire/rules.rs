//! Parsing rules for the parameters of this service.

use shell::params::{Empty, Faults, Numbers, Repeated, Rules, Undecodable, Words};

/// Parsing rules that all operations use.
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
