//! Postal addresses and their components.

use super::culture::Culture;
use super::data::{Data, Subject};
use super::pattern::{Piece, Word};
use crate::model::random::Random;

/// A postal address, both as a whole and by component. Missing components are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The whole address on one line, without the country.
    pub line: String,
    /// The street name.
    pub street: String,
    /// The house number, including any letter or staircase.
    pub house_number: String,
    /// The flat, floor or door number.
    pub unit: String,
    /// The district of the town.
    pub district: String,
    /// The postcode. Empty if the country doesn't use postcodes.
    pub postcode: String,
    /// The town.
    pub city: String,
    /// The state or province. Empty if addresses in the country don't include it.
    pub region: String,
}

impl Address {
    /// Clears all components, but keeps their memory for reuse.
    fn clear(&mut self) {
        let Self { line, street, house_number, unit, district, postcode, city, region } = self;
        for part in [line, street, house_number, unit, district, postcode, city, region] {
            part.clear();
        }
    }
}

impl Culture {
    /// Generates an address.
    pub fn address(&self, random: &mut Random) -> Address {
        let mut address = Address::default();
        self.write_parts(random, &mut address);
        address
    }

    /// Replaces `address` with a new one. Its strings are reused, because allocating new ones takes
    /// longer than generating the address.
    pub fn write_parts(&self, random: &mut Random, address: &mut Address) {
        self.data().write_parts(random, address);
    }

    /// Appends a postal address on one line, without the country.
    pub fn write_address(&self, random: &mut Random, out: &mut String) {
        out.push_str(&self.address(random).line);
    }
}

impl Data {
    fn write_parts(&self, random: &mut Random, address: &mut Address) {
        address.clear();
        let city = self.cities.position(random);
        let about = Subject { city, ..Subject::default() };
        let pieces = self.profile.address.sample(random);
        let has = |words: &[Word]| {
            pieces.iter().any(|piece| matches!(piece, Piece::Word(word) if words.contains(word)))
        };
        // A PO box address doesn't have a house.
        let has_house = has(&[Word::House]) || !has(&[Word::Street, Word::District]);
        let mut parts = Parts::new(address, has_house);
        for piece in pieces {
            let begin = parts.address.line.len();
            let piece = std::slice::from_ref(piece);
            self.expand(piece, about, random, &mut parts.address.line);
            parts.push(&piece[0], begin);
        }
        parts.end_segment(parts.address.line.len());
        address.city.push_str(self.cities.get(city));
        address.region.push_str(self.region(city));
    }
}

/// Characters that separate the components of a line.
const COMMAS: [char; 2] = [',', '،'];
/// Separators between the house number and the flat number.
const JOINTS: [char; 7] = ['/', '-', '–', '#', '號', '号', ' '];

/// Assigns the pieces of an address line to components.
struct Parts<'a> {
    address: &'a mut Address,
    /// Whether the pattern has a house number or doesn't need one. Otherwise, the first number
    /// found is the house number.
    has_house: bool,
    /// Start of the text after the last comma or word.
    start: usize,
    /// End of the last number in that text.
    number: Option<usize>,
    /// Whether there was a word after the last comma.
    worded: bool,
    /// Whether the last word was the town.
    after_city: bool,
}

impl<'a> Parts<'a> {
    fn new(address: &'a mut Address, has_house: bool) -> Self {
        Self { address, has_house, start: 0, number: None, worded: false, after_city: false }
    }

    /// Assigns the last piece of the line, which starts at `begin`.
    fn push(&mut self, piece: &Piece, begin: usize) {
        let Address { line, street, house_number, district, postcode, .. } = &mut *self.address;
        let part = match piece {
            Piece::Text(_) => return self.push_text(begin),
            Piece::Word(Word::Street) => Some(street),
            Piece::Word(Word::House) => Some(house_number),
            Piece::Word(Word::District) => Some(district),
            Piece::Word(Word::Postcode) => Some(postcode),
            Piece::Word(_) => None,
            Piece::Number(..) | Piece::House | Piece::Letter(_) | Piece::Mask(_) => {
                self.number = Some(line.len());
                return;
            }
        };
        let end = line.len();
        if let Some(part) = part.filter(|_| begin < end) {
            part.clear();
            part.push_str(&line[begin..]);
        }
        self.end_number(begin);
        self.start = end;
        self.after_city = matches!(piece, Piece::Word(Word::City));
        self.worded = true;
    }

    fn push_text(&mut self, begin: usize) {
        let mut rest = begin;
        while let Some(at) = self.address.line[rest..].find(COMMAS) {
            let comma = rest + at;
            self.end_segment(comma);
            rest = comma + self.address.line[comma..].chars().next().map_or(1, char::len_utf8);
            self.start = rest;
        }
    }

    /// Ends the current number because a word starts at `word`. Characters that directly follow the
    /// number are part of it, and everything after that belongs to the word.
    fn end_number(&mut self, word: usize) {
        if let Some(number) = self.number.take() {
            let text = &self.address.line[number..word];
            let end = text.find(' ').map_or(word, |blank| number + blank);
            self.keep(end);
        }
    }

    /// Ends the text before a comma, which is at `end`.
    fn end_segment(&mut self, end: usize) {
        // Without a number, the text is a floor, such as `st.`
        if self.number.take().is_some() || !self.worded {
            self.keep(end);
        }
        (self.worded, self.after_city) = (false, false);
    }

    /// Stores the text up to `end` in the right component.
    fn keep(&mut self, end: usize) {
        let Address { line, house_number, unit, district, .. } = &mut *self.address;
        let text = line[self.start..end].trim_matches(JOINTS);
        if text.is_empty() {
            return;
        }
        if self.after_city {
            district.clear();
            district.push_str(text);
        } else if !self.has_house && house_number.is_empty() {
            house_number.push_str(text);
        } else {
            if !unit.is_empty() {
                unit.push_str(", ");
            }
            unit.push_str(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::names::{all, find};
    use crate::model::seed::Seed;

    fn addresses(code: &str, count: usize) -> Vec<Address> {
        let culture = find(code).unwrap();
        let mut random = Seed::parse("parts").unwrap().random("test", code);
        (0..count).map(|_| culture.address(&mut random)).collect()
    }

    #[test]
    fn parts_of_every_culture_are_in_the_line() {
        for culture in all() {
            let code = culture.code;
            for address in addresses(code, 200) {
                let line = &address.line;
                let Address { street, house_number, unit, district, postcode, region, .. } =
                    &address;
                for part in [street, house_number, unit, district, postcode, region] {
                    assert_eq!(part.trim(), part, "{code} {part}: {line}");
                }
                for part in [street, house_number, unit, district, postcode] {
                    assert!(line.contains(&**part), "{code} {part}: {line}");
                }
                assert!(line.contains(&address.city), "{code} {line}");
                let is_box = line.starts_with("P.O. Box") && !unit.is_empty();
                assert!(is_box || !street.is_empty() || !district.is_empty(), "{code} {line}");
                // Nepal uses wards instead of house numbers.
                let has_no_house = is_box || code == "ne" && !district.is_empty();
                assert!(has_no_house || !house_number.is_empty(), "{code} {line}");
            }
        }
    }

    #[test]
    fn units_are_separate_from_house_numbers() {
        let units = |code| -> Vec<_> {
            addresses(code, 300)
                .into_iter()
                .filter(|address| !address.house_number.is_empty() && !address.unit.is_empty())
                .map(|address| (address.house_number, address.unit))
                .collect()
        };
        for (code, begins) in
            [("en_GB", "Flat "), ("sv", "lgh 1"), ("ru", "кв. "), ("da", "st."), ("th", "หมู่ที่ ")]
        {
            let units = units(code);
            assert!(units.iter().any(|(_, unit)| unit.starts_with(begins)), "{code} {units:?}");
        }
        let (house, unit) = &units("pl")[0];
        assert!(house.starts_with(|first: char| first.is_ascii_digit()), "{house}");
        assert!(unit.bytes().all(|byte| byte.is_ascii_digit()), "{unit}");
        let japanese = &addresses("ja", 1)[0];
        let house = &japanese.house_number;
        assert!(house.contains('-') && japanese.unit.is_empty(), "{house}");
    }

    #[test]
    fn postcodes_are_for_streets_of_the_town_and_not_for_post_boxes_or_villages_of_its_name() {
        for address in addresses("fi", 500) {
            // PO box postcodes end in 1. For Raasepori, GeoNames has no other postcode.
            let is_street = address.postcode.ends_with('0');
            assert!(is_street || address.city == "Raasepori", "{}", address.line);
        }
        for (city, blocks) in
            [("Piła", &["64-9"][..]), ("Konin", &["62-5"]), ("Sopot", &["81-7", "81-8"])]
        {
            let places = find("pl").unwrap().data();
            let (.., postcodes) = places.places().find(|(name, ..)| *name == city).unwrap();
            assert!(postcodes.iter().next().is_some());
            for postcode in postcodes.iter() {
                assert!(
                    blocks.iter().any(|block| postcode.starts_with(block)),
                    "{city} {postcode}"
                );
            }
        }
    }

    #[test]
    fn dutch_postcodes_have_the_letters_of_a_street() {
        for (city, _, postcodes) in find("nl").unwrap().data().places() {
            for postcode in postcodes.iter() {
                let (digits, letters) = postcode.split_once(' ').unwrap_or_default();
                assert_eq!((digits.len(), letters.len()), (4, 2), "{city} {postcode}");
            }
        }
    }

    #[test]
    fn known_postcodes_belong_to_their_town() {
        for code in [
            "de", "nl", "en_US", "fr", "it", "de_AT", "fi", "da", "sv", "pl", "es", "en_GB",
            "pt_PT", "hu",
        ] {
            let known: Vec<_> = find(code).unwrap().data().places().collect();
            for address in addresses(code, 300) {
                let postcode = &address.postcode;
                let town = |(city, region, _): &&(&str, &str, &super::super::list::List)| {
                    *city == address.city && *region == address.region
                };
                let (.., postcodes) = known.iter().find(town).unwrap();
                assert!(postcodes.iter().any(|one| one == postcode), "{code} {postcode}");
            }
        }
    }
}
