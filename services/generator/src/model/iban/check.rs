//! Validates IBANs as entered by users, and formats them in groups.

use super::country::{Country, find};
use super::fault::IbanFault;

/// Checks an IBAN. It must belong to the country `wanted` if given, or else to the one in its own
/// prefix. Spaces, hyphens, letter case and a leading `IBAN` are ignored.
///
/// Returns the country and the IBAN in electronic format.
///
/// # Errors
/// Returns the first problem found.
pub fn check(
    text: &str,
    wanted: Option<&'static Country>,
) -> Result<(&'static Country, String), IbanFault> {
    let plain: String = text
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '-')
        .map(|c| c.to_ascii_uppercase())
        .collect();
    let iban = plain.strip_prefix("IBAN").unwrap_or(&plain);
    if iban.len() < 2 || !iban.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(IbanFault::Characters);
    }
    let country = find(&iban[..2]).filter(|country| country.code() == &iban[..2]);
    let country = country.ok_or_else(|| IbanFault::Country(iban[..2].to_owned()))?;
    match wanted {
        Some(wanted) if wanted.code() != country.code() => {
            Err(IbanFault::OtherCountry(wanted.code()))
        }
        _ => country.check(iban).map(|()| (country, iban.to_owned())),
    }
}

/// Formats an IBAN in groups of four, as on paper.
pub fn grouped(iban: &str) -> String {
    let mut out = String::with_capacity(iban.len() + iban.len() / 4);
    for (position, character) in iban.chars().enumerate() {
        if position > 0 && position % 4 == 0 {
            out.push(' ');
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ibans_of_any_bank_are_accepted_in_any_spelling() {
        for text in [
            "DE89 3704 0044 0532 0130 00",
            "iban de02 5001 0517 0137 0750 30",
            "GB82-WEST-1234-5698-7654-32",
            "NL91ABNA0417164300",
            "NL02ABNA0123456789",
            "IE29AIBK93115212345678",
            "BE68539007547034",
            "MD24AG000225100013104168",
            "TR330006100519786457841326",
            "BR1800360305000010009795493C1",
            // The holders are a company from January 2026 and a child born in March 2026.
            "IS130159260076544101262060",
            "IS300159260076541503262060",
        ] {
            assert!(check(text, None).is_ok(), "{text} {:?}", check(text, None).err());
        }
    }

    #[test]
    fn characters_that_only_the_registry_allows_are_accepted() {
        for text in [
            "BY621A2B3600900000002Z00AB70",
            "DO07B4GR00000001212453611324",
            "MD112Z000225100013104168",
            "MK0725012000000AB93",
            "PK87SCBL0000001A23456702",
            "PS87PALS000000000400A23456702",
        ] {
            assert!(check(text, None).is_ok(), "{text} {:?}", check(text, None).err());
        }
    }

    #[test]
    fn faults_have_distinct_messages() {
        for (text, wanted, message) in [
            ("", None, "An IBAN can contain only letters, digits and spaces."),
            ("DE89 öä", None, "An IBAN can contain only letters, digits and spaces."),
            ("ZZ8937", None, "ZZ does not use IBANs."),
            ("UK8937", None, "UK does not use IBANs."),
            ("DE89370400440532013000", find("FR"), "The IBAN is not one of FR."),
            ("DE8937040044053201300", None, "An IBAN from DE has 22 characters, not 21."),
            (
                "DE8937040044053201300A",
                None,
                "The account number does not have the structure of DE.",
            ),
            ("DE89370400440532013001", None, "The check digits are wrong."),
            ("NO5630001234568", None, "The national check digits of NO are wrong."),
        ] {
            assert_eq!(check(text, wanted).err().unwrap().to_string(), message, "{text}");
        }
    }

    #[test]
    fn pretty_ibans_have_groups_of_four() {
        assert_eq!(grouped("NO9386011117947"), "NO93 8601 1117 947");
        assert_eq!(grouped("GB82WEST12345698765432"), "GB82 WEST 1234 5698 7654 32");
    }
}
