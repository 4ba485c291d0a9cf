//! The error for values that can't be deserialized.

use std::borrow::Cow;
use std::fmt::{self, Display};

use serde::de::{self, Expected, Unexpected};
use serde_json::Value;

/// Delimits the code in an error message from [`reject`].
const MARK: char = '\u{1f}';

#[derive(Debug)]
pub(super) struct Failure {
    pub(super) field: String,
    pub(super) code: Cow<'static, str>,
    pub(super) message: String,
    pub(super) limits: Vec<(Cow<'static, str>, Value)>,
}

impl Failure {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            field: String::new(),
            code: Cow::Borrowed(code),
            message: message.into(),
            limits: Vec::new(),
        }
    }

    /// Prepends the name of an enclosing field to the path.
    pub(super) fn within(mut self, name: &str) -> Self {
        self.field = match self.field.as_str() {
            "" => name.to_owned(),
            inner if inner.starts_with('[') => format!("{name}{inner}"),
            inner => format!("{name}.{inner}"),
        };
        self
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl de::Error for Failure {
    fn custom<T: Display>(message: T) -> Self {
        let text = message.to_string();
        let coded = text.strip_prefix(MARK).and_then(|rest| rest.split_once(MARK));
        match coded {
            Some((code, message)) => {
                Self { code: Cow::Owned(code.to_owned()), ..Self::new("invalid", message) }
            }
            None => Self::new("invalid", text),
        }
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let sent = match unexpected {
            Unexpected::Bool(_) => "a boolean",
            Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => "a number",
            Unexpected::Char(_) | Unexpected::Str(_) => "a string",
            Unexpected::Unit | Unexpected::Option => "null",
            Unexpected::Seq => "an array",
            Unexpected::Map => "an object",
            other => return Self::new("type", format!("{other} is not {expected}")),
        };
        Self::new("type", format!("the value is {sent}, not {}", described(expected)))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new("value", format!("{unexpected} is not {}", described(expected)))
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::new("length", format!("{length} items are not {expected}"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let message = format!("{variant} is not one of {}", expected.join(", "));
        let limits = vec![(Cow::Borrowed("values"), Value::from(expected))];
        Self { limits, ..Self::new("choice", message) }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new("required", "the value is missing").within(field)
    }
}

/// Describes an expected value. serde names numbers after Rust's types, which clients don't know.
fn described(expected: &dyn Expected) -> String {
    match expected.to_string().as_str() {
        "i8" | "i16" | "i32" | "i64" | "isize" | "u8" | "u16" | "u32" | "u64" | "usize" => {
            "a whole number".to_owned()
        }
        "f32" | "f64" => "a number".to_owned(),
        other => other.to_owned(),
    }
}

/// Returns an error with a custom code, for use in `Deserialize` implementations.
///
/// The code of a plain `de::Error::custom` is `invalid`.
///
/// ```
/// use serde::{Deserialize, Deserializer};
/// use shell::params::{Input, Rules, read_validated, reject};
/// use validator::Validate;
///
/// struct Coin(&'static str);
///
/// impl<'de> Deserialize<'de> for Coin {
///     fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
///         match String::deserialize(deserializer)?.as_str() {
///             "bitcoin" => Ok(Self("BTC")),
///             other => Err(reject("unsupported", format!("{other} is not supported"))),
///         }
///     }
/// }
///
/// #[derive(Deserialize, Validate)]
/// struct Parameters {
///     coin: Option<Coin>,
/// }
///
/// let input = Input::query("coin=shell");
/// let violations = read_validated::<Parameters>(&input, &Rules::PLAIN).into_result().err().unwrap();
/// assert_eq!(violations[0].code, "unsupported");
/// assert_eq!(violations[0].message, "shell is not supported");
/// assert_eq!(violations[0].sent.as_deref(), Some("shell"));
/// ```
pub fn reject<E: de::Error>(code: &str, message: impl Display) -> E {
    E::custom(format_args!("{MARK}{code}{MARK}{message}"))
}
