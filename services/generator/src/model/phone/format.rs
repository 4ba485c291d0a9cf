//! Telephone number formats.

use rlibphonenumber::{PHONE_NUMBER_UTIL, PhoneNumber, PhoneNumberFormat};

/// A telephone number format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// `+33612345678`.
    #[default]
    E164,
    /// `+33 6 12 34 56 78`.
    International,
    /// `06 12 34 56 78`.
    National,
    /// `tel:+33-6-12-34-56-78`.
    Rfc3966,
}

impl Format {
    /// Appends a number, given in E.164 format.
    pub(super) fn write(self, e164: &str, out: &mut String) {
        if self == Self::E164 {
            return out.push_str(e164);
        }
        // The number was generated from a numbering plan, so it can always be parsed.
        match PHONE_NUMBER_UTIL.parse(e164, None) {
            Ok(number) => out.push_str(&self.of(&number)),
            Err(_) => out.push_str(e164),
        }
    }

    /// Formats a number.
    pub(super) fn of(self, number: &PhoneNumber) -> String {
        let format = match self {
            Self::E164 => PhoneNumberFormat::E164,
            Self::International => PhoneNumberFormat::International,
            Self::National => PhoneNumberFormat::National,
            Self::Rfc3966 => PhoneNumberFormat::RFC3966,
        };
        PHONE_NUMBER_UTIL.format(number, format).into_owned()
    }
}
