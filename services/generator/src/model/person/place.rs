//! Place codes in identity numbers. People are assumed to have been born where they live.

use jiff::civil::{Date, date};

use crate::model::names::Address;
use crate::model::numbers::PlaceCode;

/// Country, town and code, for Chinese counties, Italian municipalities and Pakistani provinces. If
/// the code has changed, the first birth year it applies to comes next, then the previous code, and
/// so on. Towns in Azad Kashmir don't have a code, because validators reject its digit.
const PLACES: &str = include_str!("../../../data/places.tsv");

/// The range of area numbers that were issued in each US state until 2011.
const AREAS: [(&str, u16, u16); 51] = [
    ("NH", 1, 3),
    ("ME", 4, 7),
    ("VT", 8, 9),
    ("MA", 10, 34),
    ("RI", 35, 39),
    ("CT", 40, 49),
    ("NY", 50, 134),
    ("NJ", 135, 158),
    ("PA", 159, 211),
    ("MD", 212, 220),
    ("DE", 221, 222),
    ("VA", 223, 231),
    ("WV", 233, 236),
    ("NC", 237, 246),
    ("SC", 247, 251),
    ("GA", 252, 260),
    ("FL", 261, 267),
    ("OH", 268, 302),
    ("IN", 303, 317),
    ("IL", 318, 361),
    ("MI", 362, 386),
    ("WI", 387, 399),
    ("KY", 400, 407),
    ("TN", 408, 415),
    ("AL", 416, 424),
    ("MS", 425, 428),
    ("AR", 429, 432),
    ("LA", 433, 439),
    ("OK", 440, 448),
    ("TX", 449, 467),
    ("MN", 468, 477),
    ("IA", 478, 485),
    ("MO", 486, 500),
    ("ND", 501, 502),
    ("SD", 503, 504),
    ("NE", 505, 508),
    ("KS", 509, 515),
    ("MT", 516, 517),
    ("ID", 518, 519),
    ("WY", 520, 520),
    ("CO", 521, 524),
    ("NM", 525, 525),
    ("AZ", 526, 527),
    ("UT", 528, 529),
    ("NV", 530, 530),
    ("WA", 531, 539),
    ("OR", 540, 544),
    ("CA", 545, 573),
    ("AK", 574, 574),
    ("HI", 575, 576),
    ("DC", 577, 579),
];

/// The date since which the United States has assigned areas at random.
const RANDOMISED: Date = date(2011, 6, 25);
/// The date since which the two halves of Corsica have had separate codes.
const CORSICA_DIVIDED: Date = date(1976, 1, 1);

/// Returns the place code for a person born at `address`, if it is known.
pub fn code(country: &str, address: &Address, born: Date) -> Option<PlaceCode> {
    let listed = || {
        let mut towns = PLACES.lines().filter_map(|row| {
            let mut cells = row.split('\t');
            let town = cells.next() == Some(country) && cells.next() == Some(&address.city);
            town.then_some(cells)
        });
        let mut cells = towns.next()?;
        let mut code = cells.next()?;
        while let (Some(since), Some(before)) = (cells.next(), cells.next()) {
            if since.parse().is_ok_and(|year: i16| born.year() >= year) {
                break;
            }
            code = before;
        }
        Some(code)
    };
    match country {
        "CN" | "IT" | "PK" => PlaceCode::new(listed()?),
        "FR" => PlaceCode::new(department(&address.postcode, born)),
        _ => None,
    }
}

/// Returns the French department for a postcode.
fn department(postcode: &str, born: Date) -> &str {
    match postcode.get(..3).unwrap_or_default() {
        "200" | "201" if born >= CORSICA_DIVIDED => "2A",
        "202" | "206" if born >= CORSICA_DIVIDED => "2B",
        _ => postcode.get(..2).unwrap_or_default(),
    }
}

/// Returns a Brazilian state's tax region digit.
pub fn tax_region(state: &str) -> Option<u8> {
    Some(match state {
        "RS" => b'0',
        "DF" | "GO" | "MS" | "MT" | "TO" => b'1',
        "AC" | "AM" | "AP" | "PA" | "RO" | "RR" => b'2',
        "CE" | "MA" | "PI" => b'3',
        "AL" | "PB" | "PE" | "RN" => b'4',
        "BA" | "SE" => b'5',
        "MG" => b'6',
        "ES" | "RJ" => b'7',
        "SP" => b'8',
        "PR" | "SC" => b'9',
        _ => return None,
    })
}

/// Returns the range of social security area numbers for people born in `state`. `None` if the
/// state is unknown, or if areas were already assigned at random when the person was born.
pub fn areas(state: &str, born: Date) -> Option<(u64, u64)> {
    let is_own = |(own, ..): &&(&str, u16, u16)| *own == state && born < RANDOMISED;
    let (_, first, last) = AREAS.iter().find(is_own)?;
    Some(((*first).into(), (*last).into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::names;

    #[test]
    fn every_town_of_listed_countries_has_a_code() {
        for code in ["it", "zh_CN"] {
            let culture = names::find(code).unwrap();
            let mut random = crate::model::Seed::parse("places").unwrap().random("test", code);
            for _ in 0..2_000 {
                let address = culture.address(&mut random);
                let place = super::code(culture.country, &address, date(2020, 1, 1));
                assert!(place.is_some(), "{}", address.city);
            }
        }
    }

    #[test]
    fn births_before_a_county_had_its_code_have_an_earlier_one_of_the_city() {
        let culture = names::find("zh_CN").unwrap();
        let mut random = crate::model::Seed::parse("places").unwrap().random("test", "county");
        let mut address = culture.address(&mut random);
        for (town, year, expected) in [
            ("兰州市城关区", 1982, "620120"),
            ("兰州市城关区", 1983, "620102"),
            ("无锡市梁溪区", 2014, "320202"),
            ("渝中区", 1983, "510202"),
            ("渝中区", 1960, "510220"),
            ("海淀区", 1940, "110108"),
        ] {
            address.city = town.into();
            let place = code("CN", &address, date(year, 5, 1)).unwrap();
            assert_eq!(place.as_bytes(), expected.as_bytes(), "{town} {year}");
        }
    }

    #[test]
    fn corsica_was_divided_in_1976() {
        assert_eq!(department("20000", date(1980, 1, 1)), "2A");
        assert_eq!(department("20200", date(1980, 1, 1)), "2B");
        assert_eq!(department("20200", date(1975, 1, 1)), "20");
        assert_eq!(department("75011", date(1980, 1, 1)), "75");
    }
}
