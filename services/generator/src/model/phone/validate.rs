//! Validates and formats telephone numbers.

use rlibphonenumber::{PHONE_NUMBER_UTIL, PhoneNumberType, Region as Code};

use super::format::Format;
use super::region::Region;

/// The result of validating a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Validation {
    /// The number is valid.
    Valid(Box<Valid>),
    /// The number is invalid, for the given reason.
    Invalid(String),
}

/// A valid number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Valid {
    /// The region of the number.
    pub region: String,
    /// `+33612345678`.
    pub e164: String,
    /// `+33 6 12 34 56 78`.
    pub international: String,
    /// `06 12 34 56 78`.
    pub national: String,
    /// `MOBILE`, `FIXED_LINE`, …
    pub kind: &'static str,
}

/// Parses `text` as a number in `region`, or in any region if it starts with `+` or `00`.
pub fn validate(text: &str, region: Option<&Region>) -> Validation {
    let text = dialled(text);
    // The international prefix depends on the region. Without a region, treat 00 as +.
    let international = match (region, text.strip_prefix("00")) {
        (None, Some(rest)) => format!("+{rest}"),
        _ => text.clone(),
    };
    if region.is_none() && !international.starts_with('+') {
        return Validation::Invalid(
            "The telephone number must start with + or 00 when no CountryCode is given.".into(),
        );
    }
    let default = region.and_then(|region| region.code.parse().ok());
    let Ok(number) = PHONE_NUMBER_UTIL.parse(&international, default) else {
        return Validation::Invalid("The value is not a telephone number.".into());
    };
    let valid = match region.zip(default) {
        // The library ignores the calling code. Without this check, a French number would be valid
        // in Germany if its digits happened to match.
        Some((region, default)) => {
            number.country_code.to_string() == region.calling_code
                && PHONE_NUMBER_UTIL.is_valid_number_for_region(&number, default)
        }
        None => PHONE_NUMBER_UTIL.is_valid_number(&number),
    };
    // Some numbers, such as those starting with +800, are global and don't belong to any country.
    let known = || PHONE_NUMBER_UTIL.get_region_for_number(&number);
    let home = default.or_else(|| known().filter(|home| *home != Code::World));
    match (valid, home) {
        (true, Some(home)) => Validation::Valid(Box::new(Valid {
            region: home.to_string(),
            e164: Format::E164.of(&number),
            international: Format::International.of(&number),
            national: Format::National.of(&number),
            kind: kind(PHONE_NUMBER_UTIL.get_number_type(&number)),
        })),
        (_, None) if default.is_none() => {
            Validation::Invalid("The telephone number does not belong to any country.".into())
        }
        _ => Validation::Invalid(match region {
            Some(region) => format!("The telephone number is not valid in {}.", region.code),
            None => "The telephone number is not valid in its country.".into(),
        }),
    }
}

/// Strips prefixes that users and links put before a number.
fn dialled(text: &str) -> String {
    // An unescaped plus in a query string becomes a space before the digits.
    let unescaped =
        text.strip_prefix(' ').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if let Some(rest) = unescaped {
        return format!("+{rest}").trim_end().to_owned();
    }
    let text = text.trim();
    let scheme = text.get(..4).filter(|start| start.eq_ignore_ascii_case("tel:"));
    let text = scheme.map_or(text, |scheme| text[scheme.len()..].trim_start());
    text.replace(FULL_WIDTH_PLUS, "+")
}

const FULL_WIDTH_PLUS: char = '\u{ff0b}';

fn kind(kind: PhoneNumberType) -> &'static str {
    match kind {
        PhoneNumberType::FixedLine => "FIXED_LINE",
        PhoneNumberType::Mobile => "MOBILE",
        PhoneNumberType::FixedLineOrMobile => "FIXED_LINE_OR_MOBILE",
        PhoneNumberType::TollFree => "TOLL_FREE",
        PhoneNumberType::PremiumRate => "PREMIUM_RATE",
        PhoneNumberType::SharedCost => "SHARED_COST",
        PhoneNumberType::VoIP => "VOIP",
        PhoneNumberType::PersonalNumber => "PERSONAL_NUMBER",
        PhoneNumberType::Pager => "PAGER",
        PhoneNumberType::UAN => "UAN",
        PhoneNumberType::VoiceMail => "VOICEMAIL",
        _ => "UNKNOWN",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_full_width_signs_are_read() {
        let text = "\u{ff0b}\u{ff13}\u{ff13}612345678";
        for number in ["tel:+33-6-12-34-56-78", "TEL: +33612345678", text, " 33612345678"] {
            match validate(number, None) {
                Validation::Valid(valid) => assert_eq!(valid.e164, "+33612345678", "{number}"),
                Validation::Invalid(reason) => panic!("{number}: {reason}"),
            }
        }
    }

    #[test]
    fn numbers_without_a_country_are_invalid() {
        let nowhere =
            Validation::Invalid("The telephone number does not belong to any country.".to_owned());
        for number in ["+80012345678", "0080012345678", "+870773111632"] {
            assert_eq!(validate(number, None), nowhere, "{number}");
        }
    }
}
