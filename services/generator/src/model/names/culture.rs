//! The list of cultures, and how to look them up.

use std::sync::{LazyLock, OnceLock};

use super::data::Data;
use crate::model::country;
use crate::model::random::Random;

const TABLE: &str = include_str!("../../../data/cultures.tsv");

/// Alternative culture codes.
const ALIASES: [(&str, &str); 11] = [
    ("cz", "cs"),
    ("ge", "ka"),
    ("en_IND", "en_IN"),
    ("no", "nb_NO"),
    ("nb", "nb_NO"),
    ("id", "id_ID"),
    ("pt", "pt_PT"),
    ("zh", "zh_CN"),
    ("iw", "he"),
    ("sr", "sr_latin"),
    ("no_NO", "nb_NO"),
];

/// A language and country for which we have names and addresses.
pub struct Culture {
    /// The canonical code, such as `en_US`.
    pub code: &'static str,
    /// The English name of the culture.
    pub name: &'static str,
    /// The two-letter code of its country.
    pub country: &'static str,
    /// The English name of its country.
    pub country_name: &'static str,
    position: usize,
    data: OnceLock<Data>,
}

/// A part of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The given name.
    First,
    /// The family name.
    Last,
    /// Both, in the culture's usual order.
    Full,
}

static CULTURES: LazyLock<Vec<Culture>> = LazyLock::new(|| {
    let parse = |(position, line): (usize, &'static str)| {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_default();
        let (code, name, country) = (next(), next(), next());
        let country_name = country::name(country).unwrap_or(country);
        Culture { code, name, country, country_name, position, data: OnceLock::new() }
    };
    TABLE.lines().enumerate().map(parse).collect()
});

/// Returns all cultures, sorted by code.
pub fn all() -> &'static [Culture] {
    &CULTURES
}

/// Returns `en_US`, the default culture for names.
pub fn american() -> &'static Culture {
    static AMERICAN: LazyLock<&Culture> = LazyLock::new(|| known("en_US"));
    &AMERICAN
}

/// Returns `en`, the default culture for addresses.
pub fn english() -> &'static Culture {
    static ENGLISH: LazyLock<&Culture> = LazyLock::new(|| known("en"));
    &ENGLISH
}

fn known(code: &str) -> &'static Culture {
    CULTURES.iter().find(|culture| culture.code == code).unwrap_or(&CULTURES[0])
}

/// Finds a culture by its code.
///
/// Case is ignored, `-` is treated as `_`, and a script between language and country is ignored.
/// Cultures whose code is a bare language can also be found with their country, e.g. `cs` as
/// `cs_CZ`.
pub fn find(code: &str) -> Option<&'static Culture> {
    let code = code.replace('-', "_");
    let exact = |wanted: &str| CULTURES.iter().find(|c| c.code.eq_ignore_ascii_case(wanted));
    let alias = |wanted: &str| ALIASES.iter().find(|a| a.0.eq_ignore_ascii_case(wanted));
    if let Some(culture) = exact(&code).or_else(|| exact(alias(&code)?.1)) {
        return Some(culture);
    }
    let parts: Vec<_> = code.split('_').collect();
    let (language, country) = match parts.as_slice() {
        [language, country] if country.len() == 2 => (*language, Some(*country)),
        [language, script, country] if script.len() == 4 => (*language, Some(*country)),
        [language, script] if script.len() == 4 => (*language, None),
        _ => return None,
    };
    let Some(country) = country else { return find(language) };
    let whole = format!("{language}_{country}");
    exact(&whole).or_else(|| exact(alias(&whole)?.1)).or_else(|| {
        let short = alias(language).map_or(language, |alias| alias.1);
        exact(short).filter(|culture| culture.country.eq_ignore_ascii_case(country))
    })
}

impl Culture {
    /// Returns the language code, such as `en`.
    pub fn language(&self) -> &'static str {
        self.code.split('_').next().unwrap_or_default()
    }

    /// Appends part of a name. Women and men are equally likely.
    pub fn write(&self, random: &mut Random, part: Part, out: &mut String) {
        let female = random.percent(50);
        match part {
            Part::First => self.data().write_given(female, random, out),
            Part::Last => self.data().write_surname(female, random, out),
            Part::Full => self.data().write_full_name(female, random, out),
        }
    }

    /// Appends a full name.
    pub fn write_full(&self, random: &mut Random, out: &mut String) {
        self.write(random, Part::Full, out);
    }

    /// Appends a company name, including the legal form.
    pub fn write_company(&self, random: &mut Random, out: &mut String) {
        self.data().write_company(random, out);
    }

    /// Returns the culture's data, which is unpacked on first use.
    pub(super) fn data(&self) -> &Data {
        self.data.get_or_init(|| Data::unpack(self.position))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::model::seed::Seed;

    fn samples(
        code: &str,
        count: usize,
        write: impl Fn(&Culture, &mut Random, &mut String),
    ) -> Vec<String> {
        let culture = find(code).unwrap();
        let mut random = Seed::parse("names").unwrap().random("test", code);
        let one = |_| {
            let mut out = String::new();
            write(culture, &mut random, &mut out);
            out
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn common_names_are_sampled_more_often() {
        let names = samples("en_US", 20_000, |c, random, out| c.write(random, Part::Last, out));
        let smith = names.iter().filter(|name| *name == "Smith").count();
        // 2.2 percent of the surname weight.
        assert!((300..700).contains(&smith), "{smith}");
    }

    #[test]
    fn every_given_name_of_a_list_appears() {
        let names = samples("en_US", 600_000, |c, random, out| c.write(random, Part::First, out));
        let seen: BTreeSet<_> = names.iter().map(String::as_str).collect();
        let data = american().data();
        let missing =
            data.female.iter().chain(data.male.iter()).filter(|name| !seen.contains(name));
        assert_eq!(missing.count(), 0);
    }

    #[test]
    fn cultures_are_found_in_any_spelling() {
        for (text, code) in [
            ("EN-us", "en_US"),
            ("cs-CZ", "cs"),
            ("cz", "cs"),
            ("zh_Hans_CN", "zh_CN"),
            ("zh-Hant-TW", "zh_TW"),
            ("sr_Latn_RS", "sr_latin"),
            ("SR", "sr_latin"),
            ("en_ind", "en_IN"),
            ("ja_JP", "ja"),
            ("no", "nb_NO"),
            ("sl_si", "sl"),
            ("az_Latn", "az"),
        ] {
            assert_eq!(find(text).map(|culture| culture.code), Some(code), "{text}");
        }
        for wrong in ["xx", "de_XX", "en_FR", "", "_", "fr_Latn_", "日本"] {
            assert!(find(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn lists_reach_the_minimum_of_a_culture() {
        assert_eq!(all().len(), 82);
        for culture in all() {
            let data = culture.data();
            let code = culture.code;
            assert!(data.female.len() >= 20 && data.male.len() >= 20, "{code}");
            assert!(data.female.len() + data.male.len() >= 50, "{code}");
            assert!(data.surnames.len() >= if code == "vi" { 20 } else { 30 }, "{code}");
            assert!(data.cities.len() >= 40, "{code} has {} cities", data.cities.len());
            assert!(data.street_names() >= 40, "{code} has {} streets", data.street_names());
            assert!(country::name(culture.country).is_some(), "{code}");
        }
    }

    #[test]
    fn every_pattern_can_be_read_and_filled() {
        for culture in all() {
            let code = culture.code;
            assert_eq!(culture.data().patterns(), written_patterns(code), "{code}");
            let lines = samples(code, 300, |culture, random, out| {
                culture.write_address(random, out);
                out.push('|');
                culture.write_company(random, out);
                out.push('|');
                culture.write_full(random, out);
            });
            for line in lines {
                let odd = ["{", "}", "#", "  ", "@", "%", "$", " ,", "||", "*"];
                let odd = odd
                    .iter()
                    .find(|odd| line.contains(**odd) && !(**odd == "#" && code == "es_CO"));
                assert!(
                    odd.is_none() && !line.ends_with('|') && line.trim() == line,
                    "{code} {line}"
                );
            }
        }
    }

    /// Counts the patterns in a culture's source files.
    fn written_patterns(code: &str) -> usize {
        let path = format!("{}/data/cultures/{code}/profile.tsv", env!("CARGO_MANIFEST_DIR"));
        let keys = ["full name", "address", "house", "street", "company", "legal forms"];
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().filter(|line| keys.contains(&line.split('\t').next().unwrap())).count()
    }

    #[test]
    fn unpacked_cultures_use_little_memory() {
        let resident: usize = all().iter().map(|culture| culture.data().resident()).sum();
        assert!(resident < 4 << 20, "{resident} bytes");
    }

    #[test]
    fn surnames_agree_with_the_given_name() {
        let data = find("cs").unwrap().data();
        let mut random = Seed::parse("sex").unwrap().random("test", "cs");
        for female in [true, false] {
            for _ in 0..500 {
                let mut surname = String::new();
                data.write_surname(female, &mut random, &mut surname);
                let known_surnames = if female { &data.female_surnames } else { &data.surnames };
                assert!(known_surnames.iter().any(|known| known == surname), "{surname}");
            }
        }
        let women = samples("is", 200, |culture, random, out| {
            culture.data().write_surname(true, random, out);
        });
        assert!(women.iter().all(|name| name.ends_with("dóttir")));
    }

    #[test]
    fn surnames_follow_the_customs_of_their_country() {
        let icelandic = samples("is", 3_000, |c, random, out| c.write(random, Part::Last, out));
        for wrong in ["Guðmundar", "Magnúsar", "Hannesar", "Jóhannesar", "Jónasar"] {
            assert!(!icelandic.iter().any(|name| name.starts_with(wrong)), "{wrong}");
        }
        for right in ["Guðmundsson", "Guðmundsdóttir", "Magnússon", "Sigurðsson", "Sigurðardóttir"]
        {
            assert!(icelandic.iter().any(|name| name == right), "{right}");
        }
        let vietnamese = samples("vi", 5_000, |c, random, out| c.write(random, Part::Last, out));
        let nguyen = vietnamese.iter().filter(|name| *name == "Nguyễn").count();
        // 38 % of the population have this surname.
        assert!((1_600..2_200).contains(&nguyen), "{nguyen}");
        let polish = &find("pl").unwrap().data().female;
        assert!(polish.iter().any(|name| name == "Łucja"));
        assert!(!polish.iter().any(|name| name == "Lucja"));
    }

    #[test]
    fn family_names_come_first_in_hungarian() {
        let hungarian = samples("hu", 50, |culture, random, out| culture.write_full(random, out));
        let surnames: BTreeSet<_> = find("hu").unwrap().data().surnames.iter().collect();
        assert!(hungarian.iter().all(|name| surnames.contains(name.split(' ').next().unwrap())));
    }

    fn companies(code: &str) -> BTreeSet<String> {
        samples(code, 2_000, |culture, random, out| culture.write_company(random, out))
            .into_iter()
            .collect()
    }

    #[test]
    fn companies_begin_with_a_capital_and_have_different_founders() {
        for code in ["nl", "af_ZA", "pt_BR", "de"] {
            let odd = companies(code);
            let odd = odd.iter().find(|name| name.starts_with(char::is_lowercase));
            assert_eq!(odd, None, "{code}");
        }
        let twice = |name: &&String| {
            name.split(['-', ' ']).collect::<Vec<_>>().windows(2).any(|two| two[0] == two[1])
                || name.split_once(" und ").is_some_and(|(one, rest)| rest.starts_with(one))
        };
        assert_eq!(companies("de").iter().find(twice), None);
    }

    #[test]
    fn conjunctions_between_founders_follow_the_spelling_of_the_language() {
        let has = |code: &str, wrong: &str| companies(code).iter().any(|name| name.contains(wrong));
        assert!(!has("ar", " و ") && has("ar", " وال"));
        assert!(!has("es", " y I") && has("es", " y ") && has("es", " e I"));
    }

    #[test]
    fn sons_are_named_only_after_a_surname() {
        for (code, sons) in [
            ("he", " ובניו "),
            ("hi", " एंड "),
            ("ne", " एन्ड "),
            ("bn_BD", " অ্যান্ড "),
            ("es", " e Hijos"),
        ] {
            let surnames: BTreeSet<_> = find(code).unwrap().data().surnames.iter().collect();
            let names = companies(code);
            let founders: Vec<_> =
                names.iter().filter_map(|name| Some(name.split_once(sons)?.0)).collect();
            assert!(founders.len() > 5, "{code}");
            for founder in founders {
                assert!(surnames.contains(founder), "{code}: {founder}");
            }
        }
    }
}
