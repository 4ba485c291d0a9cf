//! The lists and patterns of a single culture, and how to use them.

use super::list::{List, Names};
use super::pack::{Lines, unpacked};
use super::pattern::{Choice, Piece, Word, write_mask, write_number};
use crate::model::random::Random;

/// The data of one culture.
#[derive(Default)]
pub struct Data {
    pub(super) female: Names,
    pub(super) male: Names,
    pub(super) surnames: Names,
    /// Women's surnames. Empty if they are the same as men's.
    pub(super) female_surnames: Names,
    pub(super) streets: List,
    pub(super) cities: List,
    places: Vec<Place>,
    pub(super) profile: Profile,
}

/// Additional data about a city.
struct Place {
    /// The state or province. Empty if addresses don't include it.
    region: Box<str>,
    /// The city's postcodes, or masks for generating them.
    postcodes: List,
}

/// The patterns of a culture.
#[derive(Default)]
pub struct Profile {
    pub(super) full_name: Choice,
    pub(super) address: Choice,
    house: Choice,
    street: Choice,
    street_first: List,
    street_second: List,
    districts: List,
    pub(super) company: Choice,
    pub(super) company_phrase: Choice,
    pub(super) legal_form: Choice,
    words: List,
    trades: List,
    /// The script's digit zero, unless that is ASCII.
    zero: Option<char>,
    and: Box<str>,
    /// Whether companies can be named after their founders.
    with_surname: bool,
}

/// Context that the words in a pattern have to agree with.
#[derive(Clone, Copy, Default)]
pub struct Subject<'a> {
    /// True for a woman's name.
    pub female: bool,
    /// The index of the city.
    pub city: usize,
    /// The company name generated so far, without its legal form.
    pub stem: &'a str,
}

impl Data {
    /// Unpacks the `nth` culture.
    pub fn unpack(nth: usize) -> Self {
        let text = unpacked(nth);
        let mut lines = Lines::of(&text);
        let [female, male, surnames, female_surnames] = [(); 4].map(|()| lines.names());
        let streets = lines.list();
        let (cities, columns) = lines.table();
        let places = columns.into_iter().map(Place::parse).collect();
        let profile = Profile::read(lines.profile());
        Self { female, male, surnames, female_surnames, streets, cities, places, profile }
    }

    /// Appends a given name.
    pub fn write_given(&self, female: bool, random: &mut Random, out: &mut String) {
        out.push_str(self.given(female).sample(random));
    }

    /// Appends a surname, in its feminine form if needed.
    pub fn write_surname(&self, female: bool, random: &mut Random, out: &mut String) {
        out.push_str(self.surnames(female).sample(random));
    }

    /// Returns the given names of women or men.
    pub fn given(&self, female: bool) -> &Names {
        if female { &self.female } else { &self.male }
    }

    /// Returns the surnames of women or men.
    pub fn surnames(&self, female: bool) -> &Names {
        let feminine = female && !self.female_surnames.is_empty();
        if feminine { &self.female_surnames } else { &self.surnames }
    }

    /// Appends a full name in the culture's usual order.
    pub fn write_full_name(&self, female: bool, random: &mut Random, out: &mut String) {
        let subject = Subject { female, ..Subject::default() };
        self.expand(self.profile.full_name.sample(random), subject, random, out);
    }

    /// Returns a city's state or province, or an empty string if addresses don't include it.
    pub(super) fn region(&self, city: usize) -> &str {
        self.places.get(city).map_or("", |place| &place.region)
    }

    /// Appends a company name.
    pub fn write_company(&self, random: &mut Random, out: &mut String) {
        let mut stem = String::with_capacity(48);
        let legal = self.profile.legal_form.sample(random);
        if self.profile.names_a_family(legal) {
            self.write_surname(false, random, &mut stem);
        } else {
            let pattern = self.profile.company.sample(random);
            self.expand(pattern, Subject::default(), random, &mut stem);
            while names_one_twice(pattern, &stem) {
                stem.clear();
                self.expand(pattern, Subject::default(), random, &mut stem);
            }
        }
        let start = out.len();
        self.expand(legal, Subject { stem: &raised(stem), ..Subject::default() }, random, out);
        if &*self.profile.and == "y" {
            softened(out, start);
        }
    }

    /// Appends a pattern, filling in its placeholders.
    pub fn expand(
        &self,
        pieces: &[Piece],
        about: Subject<'_>,
        random: &mut Random,
        out: &mut String,
    ) {
        let zero = self.profile.zero.unwrap_or('0');
        for piece in pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Word(word) => self.write_word(*word, about, random, out),
                Piece::Number(low, high) => {
                    let number = random.between(u64::from(*low), u64::from(*high)) as u32;
                    write_number(number, zero, out);
                }
                Piece::House => {
                    let number = 1 + random.below(199).min(random.below(199)) as u32;
                    write_number(number, zero, out);
                }
                Piece::Letter(letters) => out.push(*random.pick(letters)),
                Piece::Mask(mask) => write_mask(mask, random, zero, out),
            }
        }
    }

    fn write_word(&self, word: Word, about: Subject<'_>, random: &mut Random, out: &mut String) {
        let profile = &self.profile;
        let place = self.places.get(about.city);
        match word {
            Word::Given => self.write_given(about.female, random, out),
            Word::Surname => self.write_surname(about.female, random, out),
            Word::Street if self.streets.is_empty() => {
                self.expand(profile.street.sample(random), about, random, out);
            }
            Word::Street => out.push_str(self.streets.sample(random)),
            Word::StreetFirst => out.push_str(profile.street_first.sample(random)),
            Word::StreetSecond => out.push_str(profile.street_second.sample(random)),
            Word::House => self.expand(profile.house.sample(random), about, random, out),
            Word::District => out.push_str(profile.districts.sample(random)),
            Word::City => out.push_str(self.cities.get(about.city)),
            Word::Region => out.push_str(self.region(about.city)),
            Word::Postcode => {
                if let Some(place) = place {
                    let mask = place.postcodes.sample(random);
                    write_mask(mask, random, profile.zero.unwrap_or('0'), out);
                }
            }
            Word::Company => out.push_str(profile.words.sample(random)),
            Word::Trade => out.push_str(profile.trades.sample(random)),
            Word::Stem => out.push_str(about.stem),
        }
    }
}

impl Place {
    fn parse(columns: &str) -> Self {
        let (region, postcodes) = columns.split_once('\t').unwrap_or((columns, ""));
        let postcodes = postcodes.split('|').filter(|mask| !mask.is_empty());
        Self { region: region.into(), postcodes: List::of(postcodes.map(|mask| (mask, 1))) }
    }
}

impl Profile {
    /// Parses a profile, skipping invalid patterns. A test ensures that there aren't any.
    fn read<'a>(rows: impl Iterator<Item = (&'a str, &'a str, u32)>) -> Self {
        let mut profile = Self::default();
        let rows: Vec<_> = rows.collect();
        let rows_of = |key: &'static str| {
            rows.iter().filter(move |row| row.0 == key).map(|row| (row.1, row.2))
        };
        let one = |key| rows_of(key).next().map_or("", |row| row.0);
        let choice = |key| {
            let mut choice = Choice::default();
            rows_of(key).for_each(|(pattern, weight)| {
                choice.add(pattern, weight);
            });
            choice
        };
        profile.full_name = choice("full name");
        profile.address = choice("address");
        profile.house = choice("house");
        profile.street = choice("street");
        profile.street_first = List::of(rows_of("street first"));
        profile.street_second = List::of(rows_of("street second"));
        profile.districts = List::of(rows_of("districts"));
        profile.company_phrase = choice("company");
        profile.words = List::of(rows_of("company words"));
        profile.trades = List::of(rows_of("trades"));
        for (form, weight) in rows_of("legal forms") {
            let pattern = match form {
                form if form.contains("{x}") => form.to_owned(),
                form if form.starts_with(',') => format!("{{x}}{form}"),
                form => format!("{{x}} {form}"),
            };
            profile.legal_form.add(&pattern, weight);
        }
        profile.company = companies(one("and"), one("company with surname"), rows_of("company"));
        profile.and = one("and").into();
        profile.with_surname = one("company with surname") != "only";
        profile.zero = match one("digits") {
            "bengali" => Some('০'),
            "devanagari" => Some('०'),
            "persian" => Some('۰'),
            _ => None,
        };
        profile
    }
}

impl Profile {
    /// Returns whether a legal form mentions further partners, such as `& Sons` or `GmbH & Co. KG`.
    fn names_a_family(&self, legal_form: &[Piece]) -> bool {
        self.with_surname
            && legal_form.iter().any(|piece| {
                let Piece::Text(text) = piece else { return false };
                text.split(' ').any(|word| AND.contains(&word) || word == &*self.and)
            })
    }
}

/// Words before the founder's sons, as in `& Sons`, for cultures that use a different word between
/// two founders.
const AND: [&str; 7] = ["&", "e", "एंड", "एन्ड", "অ্যান্ড", "ובניו", "وأولاده"];

/// Returns whether a two-founder pattern produced the same name twice.
fn names_one_twice(pattern: &[Piece], stem: &str) -> bool {
    let [Piece::Word(Word::Surname), Piece::Text(between), Piece::Word(Word::Surname)] = pattern
    else {
        return false;
    };
    let rest = |name: usize| stem[name..].strip_prefix(&**between);
    stem.match_indices(&**between).any(|(at, _)| rest(at) == Some(&stem[..at]))
}

/// Capitalizes the first letter of a company name, as in `Van Dijk B.V.`
fn raised(mut stem: String) -> String {
    if let Some(first) = stem.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    stem
}

/// Changes Spanish *y* to *e* before the sound *i*, as in `Ruiz e Ibáñez`.
fn softened(out: &mut String, start: usize) {
    for vowel in ["I", "Í", "Hi", "Hí"] {
        if let Some(at) = out[start..].find(&format!(" y {vowel}")) {
            out.replace_range(start + at + 1..start + at + 2, "e");
        }
    }
}

/// Returns the patterns for company names: phrases and, if companies are named after their
/// founders, surnames.
fn companies<'a>(
    and: &str,
    with_surname: &str,
    phrases: impl Iterator<Item = (&'a str, u32)>,
) -> Choice {
    let mut choice = Choice::default();
    let phrases: Vec<_> = phrases.collect();
    for (phrase, weight) in &phrases {
        choice.add(phrase, 8 * weight);
    }
    if with_surname == "only" {
        return choice;
    }
    choice.add("{surname}", 4);
    // In Arabic, "and" is attached to the name that follows.
    match and.contains('{') {
        true => choice.add(&format!("{{surname}} {and}"), 2),
        false => choice.add(&format!("{{surname}} {and} {{surname}}"), 2),
    };
    if with_surname != "no" {
        choice.add("{surname}-{surname}", 1);
    }
    // Put the trade in the same place as the culture's phrases do.
    let trade = phrases.first().map_or("", |phrase| phrase.0).replace("{w}", "{surname}");
    choice.add(&trade, 4);
    choice
}

#[cfg(test)]
impl Data {
    /// Returns the number of street names that can be generated.
    pub fn street_names(&self) -> usize {
        let halves = self.profile.street_first.len() * self.profile.street_second.len().max(8);
        self.streets.len().max(halves)
    }

    /// Returns the number of patterns.
    pub fn patterns(&self) -> usize {
        let profile = &self.profile;
        [
            &profile.full_name,
            &profile.address,
            &profile.house,
            &profile.street,
            &profile.company_phrase,
            &profile.legal_form,
        ]
        .map(Choice::len)
        .iter()
        .sum()
    }

    /// Returns the packed Latin form of `name`, if any.
    pub fn latin_of(&self, name: &str) -> Option<&str> {
        [&self.female, &self.male, &self.surnames]
            .into_iter()
            .find_map(|names| Some(names.latin.get(names.iter().position(|own| own == name)?)))
    }

    /// Returns the memory used by the lists, in bytes.
    pub fn resident(&self) -> usize {
        let profile = &self.profile;
        let names = [&self.female, &self.male, &self.surnames, &self.female_surnames];
        let names: usize = names.map(|names| names.resident()).iter().sum();
        let others: usize = [
            &self.streets,
            &self.cities,
            &profile.street_first,
            &profile.street_second,
            &profile.districts,
            &profile.words,
            &profile.trades,
        ]
        .map(List::resident)
        .iter()
        .sum();
        let postcodes: usize = self.places.iter().map(|place| place.postcodes.resident()).sum();
        names + others + postcodes
    }

    /// Returns the cities, with their regions and postcodes.
    pub fn places(&self) -> impl Iterator<Item = (&str, &str, &List)> {
        let places = self.cities.iter().zip(&self.places);
        places.map(|(city, place)| (city, &*place.region, &place.postcodes))
    }
}
