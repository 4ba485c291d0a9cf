//! Postal addresses and their parts.

use super::culture::Culture;
use super::data::{Data, Subject};
use super::pattern::{Piece, Word};
use crate::model::random::Random;

/// A postal address, whole and in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The whole address on one line, without the country.
    pub line: String,
    /// The street name.
    pub street: Option<String>,
    /// The house number, including any letter or staircase.
    pub house_number: Option<String>,
    /// The flat, floor or door number.
    pub unit: Option<String>,
    /// The district of the town.
    pub district: Option<String>,
    /// The postcode. `None` if the country doesn't use postcodes.
    pub postcode: Option<String>,
    /// The town.
    pub city: String,
    /// The state or province. `None` if addresses in the country don't mention it.
    pub region: Option<String>,
}

impl Culture {
    /// Generates an address.
    pub fn address(&self, random: &mut Random) -> Address {
        self.data().address(random)
    }

    /// Appends a postal address on one line, without the country.
    pub fn write_address(&self, random: &mut Random, out: &mut String) {
        out.push_str(&self.address(random).line);
    }
}

impl Data {
    fn address(&self, random: &mut Random) -> Address {
        let city = self.cities.position(random);
        let about = Subject { city, ..Subject::default() };
        let pieces = self.profile.address.sample(random);
        let has = |words: &[Word]| {
            pieces.iter().any(|piece| matches!(piece, Piece::Word(word) if words.contains(word)))
        };
        // A PO box address doesn't have a house.
        let has_house = has(&[Word::House]) || !has(&[Word::Street, Word::District]);
        let mut parts = Parts { has_house, ..Parts::default() };
        let mut text = String::with_capacity(32);
        for piece in pieces {
            text.clear();
            self.expand(std::slice::from_ref(piece), about, random, &mut text);
            parts.push(piece, &text);
        }
        parts.end_segment();
        let (region, mut address) = (self.region(city), parts.address);
        address.city = self.cities.get(city).to_owned();
        address.region = (!region.is_empty()).then(|| region.to_owned());
        address
    }
}

/// Characters that separate the parts of a line.
const COMMAS: [char; 2] = [',', '،'];
/// Characters that may come between the house and flat numbers.
const JOINTS: [char; 7] = ['/', '-', '–', '#', '號', '号', ' '];

/// Sorts the pieces of a line into the parts of an address.
#[derive(Default)]
struct Parts {
    address: Address,
    /// Whether the pattern has a house number or doesn't need one. If not, the first number we see
    /// is the house number.
    has_house: bool,
    /// The text since the last comma or word.
    text: String,
    /// End of the last number in `text`.
    number: Option<usize>,
    /// Whether we've seen a word since the last comma.
    worded: bool,
    /// Whether the last word was the town.
    after_city: bool,
}

impl Parts {
    fn push(&mut self, piece: &Piece, text: &str) {
        self.address.line.push_str(text);
        let address = &mut self.address;
        let part = match piece {
            Piece::Text(_) => return self.push_text(text),
            Piece::Word(Word::Street) => Some(&mut address.street),
            Piece::Word(Word::House) => Some(&mut address.house_number),
            Piece::Word(Word::District) => Some(&mut address.district),
            Piece::Word(Word::Postcode) => Some(&mut address.postcode),
            Piece::Word(_) => None,
            Piece::Number(..) | Piece::House | Piece::Letter(_) | Piece::Mask(_) => {
                self.text.push_str(text);
                self.number = Some(self.text.len());
                return;
            }
        };
        if let Some(part) = part.filter(|_| !text.is_empty()) {
            *part = Some(text.to_owned());
        }
        self.end_number();
        self.after_city = matches!(piece, Piece::Word(Word::City));
        self.worded = true;
    }

    fn push_text(&mut self, text: &str) {
        for (nth, text) in text.split(COMMAS).enumerate() {
            if nth > 0 {
                self.end_segment();
            }
            self.text.push_str(text);
        }
    }

    /// Finishes a number when a word follows. Characters right after the number are part of it.
    /// Anything further belongs to the word.
    fn end_number(&mut self) {
        let text = std::mem::take(&mut self.text);
        if let Some(number) = self.number.take() {
            let end = text[number..].find(' ').map_or(text.len(), |blank| number + blank);
            self.keep(&text[..end]);
        }
    }

    /// Finishes the text before a comma.
    fn end_segment(&mut self) {
        let text = std::mem::take(&mut self.text);
        // Text without a number is a floor, such as `st.`
        if self.number.take().is_some() || !self.worded {
            self.keep(&text);
        }
        (self.worded, self.after_city) = (false, false);
    }

    fn keep(&mut self, text: &str) {
        let text = text.trim_matches(JOINTS);
        if text.is_empty() {
            return;
        }
        let address = &mut self.address;
        if self.after_city {
            address.district = Some(text.to_owned());
        } else if !self.has_house && address.house_number.is_none() {
            address.house_number = Some(text.to_owned());
        } else if let Some(unit) = &mut address.unit {
            unit.push_str(", ");
            unit.push_str(text);
        } else {
            address.unit = Some(text.to_owned());
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
                for part in [street, house_number, unit, district, postcode].into_iter().flatten() {
                    assert!(line.contains(&**part), "{code} {part}: {line}");
                    assert!(part.trim() == part && !part.is_empty(), "{code} {part}: {line}");
                }
                assert!(line.contains(&address.city), "{code} {line}");
                let is_box = line.starts_with("P.O. Box") && unit.is_some();
                assert!(is_box || street.is_some() || district.is_some(), "{code} {line}");
                // Nepal uses wards instead of house numbers.
                let has_no_house = is_box || code == "ne" && district.is_some();
                assert!(has_no_house || house_number.is_some(), "{code} {line}");
                assert!(region.iter().all(|region| !region.is_empty()), "{code} {line}");
            }
        }
    }

    #[test]
    fn units_are_separate_from_house_numbers() {
        let units = |code| -> Vec<_> {
            addresses(code, 300)
                .into_iter()
                .filter_map(|address| Some((address.house_number?, address.unit?)))
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
        let house = japanese.house_number.as_deref().unwrap();
        assert!(house.contains('-') && japanese.unit.is_none(), "{house}");
    }

    #[test]
    fn postcodes_are_for_streets_of_the_town_and_not_for_post_boxes_or_villages_of_its_name() {
        for address in addresses("fi", 500) {
            // Postcodes of post boxes end in 1. GeoNames doesn't have any other code for Raasepori.
            let is_street = address.postcode.as_deref().unwrap().ends_with('0');
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
    fn known_postcodes_belong_to_their_town() {
        for code in [
            "de", "nl", "en_US", "fr", "it", "de_AT", "fi", "da", "sv", "pl", "es", "en_GB",
            "pt_PT", "hu",
        ] {
            let known: Vec<_> = find(code).unwrap().data().places().collect();
            for address in addresses(code, 300) {
                let postcode = address.postcode.unwrap();
                let town = |(city, region, _): &&(&str, &str, &super::super::list::List)| {
                    *city == address.city
                        && address.region.as_deref().unwrap_or_default() == *region
                };
                let (.., postcodes) = known.iter().find(town).unwrap();
                assert!(postcodes.iter().any(|one| one == postcode), "{code} {postcode}");
            }
        }
    }
}
