//! English country and region names from Unicode CLDR.

/// A country code and the country's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Country {
    /// The ISO 3166 code, or one of a few reserved codes in common use (AC, TA, XK).
    pub code: &'static str,
    /// The English name.
    pub name: &'static str,
}

const TABLE: &str = include_str!("../../data/countries.tsv");

/// Returns the countries with these codes, sorted by name.
pub fn named(codes: impl Iterator<Item = &'static str>) -> Vec<Country> {
    let mut countries: Vec<_> =
        codes.map(|code| Country { code, name: name(code).unwrap_or(code) }).collect();
    countries.sort_by_cached_key(|country| plain(country.name));
    countries
}

/// Returns the English name of a country, or `None` for an unknown code.
pub fn name(code: &str) -> Option<&'static str> {
    let rows = TABLE.lines().filter_map(|line| line.split_once('\t'));
    rows.into_iter().find(|(known, _)| *known == code).map(|(_, name)| name)
}

/// Returns the sort key for a name: lower case, accents stripped.
fn plain(name: &str) -> String {
    let letter = |c: char| match c {
        'Å' | 'ã' | 'á' => 'a',
        'é' => 'e',
        'í' => 'i',
        'ô' | 'ó' => 'o',
        'ç' => 'c',
        'ü' => 'u',
        other => other.to_ascii_lowercase(),
    };
    name.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{iban, phone};

    #[test]
    fn every_listed_country_has_a_name() {
        let codes = iban::all().iter().map(iban::Country::code);
        for code in codes.chain(phone::all().iter().map(|region| region.code)) {
            assert!(name(code).is_some(), "{code}");
        }
    }

    #[test]
    fn names_are_sorted_without_accents() {
        let names: Vec<_> =
            named(["ZW", "AX", "CI", "AL", "CR"].into_iter()).iter().map(|c| c.name).collect();
        assert_eq!(names, ["Åland Islands", "Albania", "Costa Rica", "Côte d’Ivoire", "Zimbabwe"]);
    }
}
