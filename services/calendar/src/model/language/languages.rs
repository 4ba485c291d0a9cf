//! Page languages.

use super::forms::Forms;
use super::words::Words;
use super::{locales, translations};

/// Maximum length of a language range in bytes. RFC 5646 considers 35 characters enough for a
/// language tag. Longer ranges are ignored, because anyone can send them.
const LONGEST_RANGE: usize = 35;

/// A page language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Arabic.
    Ar,
    /// Czech.
    Cs,
    /// German.
    De,
    /// Spanish.
    Es,
    /// French.
    Fr,
    /// Italian.
    It,
    /// Japanese.
    Ja,
    /// Dutch.
    Nl,
    /// Polish.
    Pl,
    /// Brazilian Portuguese.
    Pt,
    /// Swedish.
    Sv,
    /// Ukrainian.
    Uk,
    /// Simplified Chinese.
    Zh,
}

impl Language {
    /// All languages, ordered by code.
    pub const ALL: [Language; 14] = [
        Language::Ar,
        Language::Cs,
        Language::De,
        Language::En,
        Language::Es,
        Language::Fr,
        Language::It,
        Language::Ja,
        Language::Nl,
        Language::Pl,
        Language::Pt,
        Language::Sv,
        Language::Uk,
        Language::Zh,
    ];

    /// Returns the ISO 639 code.
    pub fn code(self) -> &'static str {
        match self {
            Language::Ar => "ar",
            Language::Cs => "cs",
            Language::De => "de",
            Language::En => "en",
            Language::Es => "es",
            Language::Fr => "fr",
            Language::It => "it",
            Language::Ja => "ja",
            Language::Nl => "nl",
            Language::Pl => "pl",
            Language::Pt => "pt",
            Language::Sv => "sv",
            Language::Uk => "uk",
            Language::Zh => "zh",
        }
    }

    /// Returns the language with this code, if any.
    pub fn parse(code: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|language| language.code() == code)
    }

    /// Returns the offered language that matches a language range (RFC 4647, Lookup), if any.
    /// Regions and other subtags that aren't offered are ignored, so `de-AT` matches German.
    pub fn lookup(range: &str, offered: &[Language]) -> Option<Language> {
        let range = range.trim();
        if range.len() > LONGEST_RANGE {
            return None;
        }
        let range = range.to_ascii_lowercase();
        let mut rest = range.as_str();
        loop {
            if let Some(found) = offered.iter().find(|language| language.code() == rest) {
                return Some(*found);
            }
            rest = rest.rsplit_once('-')?.0;
        }
    }

    /// Returns the language's own name for itself.
    pub fn name(self) -> &'static str {
        match self {
            Language::Ar => "العربية",
            Language::Cs => "Čeština",
            Language::De => "Deutsch",
            Language::En => "English",
            Language::Es => "Español",
            Language::Fr => "Français",
            Language::It => "Italiano",
            Language::Ja => "日本語",
            Language::Nl => "Nederlands",
            Language::Pl => "Polski",
            Language::Pt => "Português",
            Language::Sv => "Svenska",
            Language::Uk => "Українська",
            Language::Zh => "简体中文",
        }
    }

    /// Returns whether the language is written right to left.
    pub fn is_right_to_left(self) -> bool {
        self == Language::Ar
    }

    /// Returns the UI strings in this language.
    pub fn words(self) -> &'static Words {
        match self {
            Language::Ar => &translations::ar::WORDS,
            Language::Cs => &translations::cs::WORDS,
            Language::De => &translations::de::WORDS,
            Language::En => &translations::en::WORDS,
            Language::Es => &translations::es::WORDS,
            Language::Fr => &translations::fr::WORDS,
            Language::It => &translations::it::WORDS,
            Language::Ja => &translations::ja::WORDS,
            Language::Nl => &translations::nl::WORDS,
            Language::Pl => &translations::pl::WORDS,
            Language::Pt => &translations::pt::WORDS,
            Language::Sv => &translations::sv::WORDS,
            Language::Uk => &translations::uk::WORDS,
            Language::Zh => &translations::zh::WORDS,
        }
    }

    /// Returns the date, time, number and list formats.
    pub(super) fn forms(self) -> &'static Forms {
        match self {
            Language::Ar => &locales::ar::FORMS,
            Language::Cs => &locales::cs::FORMS,
            Language::De => &locales::de::FORMS,
            Language::En => &locales::en::FORMS,
            Language::Es => &locales::es::FORMS,
            Language::Fr => &locales::fr::FORMS,
            Language::It => &locales::it::FORMS,
            Language::Ja => &locales::ja::FORMS,
            Language::Nl => &locales::nl::FORMS,
            Language::Pl => &locales::pl::FORMS,
            Language::Pt => &locales::pt::FORMS,
            Language::Sv => &locales::sv::FORMS,
            Language::Uk => &locales::uk::FORMS,
            Language::Zh => &locales::zh::FORMS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_ranges_fall_back_to_the_language() {
        let offered = [Language::De, Language::Zh];
        for (range, found) in [
            ("de", Some(Language::De)),
            ("DE", Some(Language::De)),
            (" de-AT ", Some(Language::De)),
            ("zh-Hans-CN", Some(Language::Zh)),
            ("zh-x-private", Some(Language::Zh)),
            ("fr-CH", None),
            ("deu", None),
            ("-de", None),
            ("", None),
        ] {
            assert_eq!(Language::lookup(range, &offered), found, "{range}");
        }
    }

    #[test]
    fn language_range_of_more_than_35_bytes_is_ignored() {
        let offered = [Language::De];
        let longest = format!("de{}", "-abcdefgh-ab".repeat(2) + "-abcdefgh");
        assert_eq!(longest.len(), LONGEST_RANGE);
        assert_eq!(Language::lookup(&longest, &offered), Some(Language::De));
        for range in [format!("{longest}x"), format!("de{}", "-".repeat(48_000))] {
            assert_eq!(Language::lookup(&range, &offered), None);
        }
        // Subtags can be empty.
        assert_eq!(
            Language::lookup(&format!("de{}", "-".repeat(33)), &offered),
            Some(Language::De)
        );
    }
}
