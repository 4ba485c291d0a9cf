//! The countries in the IBAN registry, with their domestic number structures and national rules.
//!
//! In a structure, `4n` means digits, `4a` capitals, and `4c` either. With `4N` and `4A`, the
//! registry allows either, but we only generate digits or capitals, as the banks do. Anything else
//! is a choice between words and ranges of digits, such as `AB|CD|000-099`. To add a country, add a
//! row, plus a rule in `rules` if the country has national check digits.

use super::rules::{self, Rule};

/// A country in the registry.
pub struct Row {
    /// The ISO 3166 code.
    pub code: &'static str,
    /// The structure of the domestic number.
    pub structure: &'static str,
    /// The rule for national check digits, if any.
    pub rule: Option<Rule>,
    /// Returns whether we can generate a domestic number. `None` if there are no exceptions.
    pub is_made: Option<fn(&[u8]) -> bool>,
}

const fn plain(code: &'static str, structure: &'static str) -> Row {
    Row { code, structure, rule: None, is_made: None }
}

const fn ruled(code: &'static str, structure: &'static str, rule: Rule) -> Row {
    Row { code, structure, rule: Some(rule), is_made: None }
}

/// Belgian bank codes that have been allocated, in blocks.
const BELGIAN: &str = "000-099|103-108|140-149|190-214|220-399|400-499 7n 2n";
/// Bank codes whose check digit method we know. See `rules::germany`.
const GERMAN: &str = "12030000|20050550|37050198|70150000|10040000|37040044|50040000|10070000\
                      |50070010|70070010|10090000|10011001 10n";
/// Day, month and year from the holder's number, then two random digits, a check digit and the
/// century.
const ICELANDIC: &str = "4n 2n 6n 01-28 01-12 00-99 20-99 1n 0|9";

/// All countries, sorted by code.
pub const TABLE: &[Row] = &[
    plain("AD", "4n 4n 12c"),
    plain("AE", "3n 16n"),
    ruled("AL", "8n 16c", rules::albania),
    plain("AT", "5n 11n"),
    plain("AZ", "4a 20c"),
    ruled("BA", "3n 3n 8n 2n", rules::iso_97),
    ruled("BE", BELGIAN, rules::belgium),
    plain("BG", "4a 4n 2n 8c"),
    plain("BH", "4a 14c"),
    plain("BI", "5n 5n 11n 2n"),
    plain("BR", "8n 5n 10n 1a 1c"),
    plain("BY", "4A 4n 16c"),
    plain("CH", "5n 12c"),
    plain("CR", "4n 14n"),
    plain("CY", "3n 5n 16c"),
    ruled("CZ", "4n 6n 10n", rules::czechia),
    ruled("DE", GERMAN, rules::germany),
    plain("DJ", "5n 5n 11n 2n"),
    plain("DK", "4n 9n 1n"),
    plain("DO", "4A 20n"),
    ruled("EE", "2n 14n", rules::estonia),
    plain("EG", "4n 4n 17n"),
    ruled("ES", "4n 4n 1n 1n 10n", rules::spain),
    ruled("FI", "3n 11n", rules::finland),
    plain("FK", "2a 12n"),
    plain("FO", "4n 9n 1n"),
    ruled("FR", "5n 5n 11c 2n", rules::france),
    plain("GB", "NWBK|BARC|LOYD|HBUK|MIDL 6n 8n"),
    plain("GE", "2a 16n"),
    plain("GI", "4a 15c"),
    plain("GL", "4n 9n 1n"),
    plain("GR", "3n 4n 16c"),
    plain("GT", "4c 20c"),
    plain("HN", "4a 20n"),
    ruled("HR", "7n 10n", rules::croatia),
    ruled("HU", "3n 4n 1n 15n 1n", rules::hungary),
    plain("IE", "AIBK|BOFI|IPBS 6n 8n"),
    plain("IL", "3n 3n 13n"),
    plain("IQ", "4a 3n 12n"),
    Row { is_made: Some(rules::is_of_past_icelander), ..ruled("IS", ICELANDIC, rules::iceland) },
    ruled("IT", "1a 5n 5n 12c", rules::italy),
    plain("JO", "4a 4n 18c"),
    plain("KW", "4a 22c"),
    plain("KZ", "3n 13c"),
    plain("LB", "4n 20c"),
    plain("LC", "4a 24c"),
    plain("LI", "5n 12c"),
    plain("LT", "5n 11n"),
    plain("LU", "3n 13c"),
    plain("LV", "4a 13c"),
    plain("LY", "3n 3n 15n"),
    ruled("MC", "5n 5n 11c 2n", rules::france),
    plain("MD", "2A 18c"),
    ruled("ME", "3n 13n 2n", rules::iso_97),
    ruled("MK", "3n 10N 2n", rules::iso_97),
    plain("MN", "4n 12n"),
    ruled("MR", "5n 5n 11n 2n", rules::plain_97),
    plain("MT", "4a 5n 18c"),
    plain("MU", "4a 2n 2n 12n 3n 3a"),
    plain("NI", "4a 20n"),
    ruled("NL", "ABNA|INGB|RABO|SNSB|TRIO|ASNB|KNAB|BUNQ 10n", rules::netherlands),
    ruled("NO", "4n 01-99 4n 1n", rules::norway),
    plain("OM", "3n 16c"),
    plain("PK", "4a 16N"),
    ruled("PL", "8n 16n", rules::poland),
    plain("PS", "4a 21N"),
    ruled("PT", "4n 4n 11n 2n", rules::iso_97),
    plain("QA", "4a 21c"),
    plain("RO", "4a 16c"),
    ruled("RS", "3n 13n 2n", rules::iso_97),
    plain("RU", "9n 5n 15c"),
    plain("SA", "2n 18c"),
    plain("SC", "4a 2n 2n 16n 3a"),
    plain("SD", "2n 12n"),
    plain("SE", "3n 16n 1n"),
    ruled("SI", "5n 8n 2n", rules::iso_97),
    ruled("SK", "4n 6n 10n", rules::czechia),
    ruled("SM", "1a 5n 5n 12c", rules::italy),
    plain("SO", "4n 3n 12n"),
    plain("ST", "4n 4n 11n 2n"),
    plain("SV", "4a 20n"),
    ruled("TL", "3n 14n 2n", rules::iso_97),
    ruled("TN", "2n 3n 13n 2n", rules::plain_97),
    plain("TR", "5n 0 16c"),
    plain("UA", "6n 19c"),
    plain("VA", "3n 15n"),
    plain("VG", "4a 16n"),
    ruled("XK", "4n 10n 2n", rules::iso_97),
    plain("YE", "4a 4n 18c"),
];
