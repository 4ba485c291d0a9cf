//! The person for whom a number is generated.

use jiff::ToSpan;
use jiff::civil::{Date, date};

use crate::model::random::Random;

/// The reference date for ages: people are 0 to 99 years old on this date.
///
/// It is constant, because the numbers generated from a seed must not change over time. It is
/// updated with the data version. A year later, people are at most 100 years old, and no birth date
/// is in the future.
pub const REFERENCE_DAY: Date = date(2026, 1, 1);
/// The earliest birth date that can be requested. Some numbers do not support earlier centuries.
pub const FIRST_BIRTH: Date = date(1900, 1, 1);

/// The number of different ages.
const AGES: u64 = 100;

/// The sex that a number encodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sex {
    /// Female.
    Female,
    /// Male.
    Male,
}

/// The code of a place, such as a county or a department, with up to six letters and digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceCode {
    bytes: [u8; 6],
    length: usize,
}

impl PlaceCode {
    /// Creates a code. Returns `None` if it is longer than six bytes.
    pub fn new(code: &str) -> Option<Self> {
        let mut bytes = [0; 6];
        bytes.get_mut(..code.len())?.copy_from_slice(code.as_bytes());
        Some(Self { bytes, length: code.len() })
    }

    /// Returns the letters and digits.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The data about a person that numbers can encode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Person {
    /// The birth date.
    pub born: Date,
    /// The sex.
    pub sex: Sex,
    /// The place of birth. `None` for a random place.
    pub place: Option<PlaceCode>,
}

/// The requested data about a person. Everything else is sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The birth date.
    pub born: Option<Date>,
    /// The sex.
    pub sex: Option<Sex>,
    /// The place of birth, in the code that the number uses.
    pub place: Option<PlaceCode>,
}

impl Wanted {
    /// Samples a person. Ages in years and sexes are uniformly distributed.
    pub fn person(self, random: &mut Random) -> Person {
        let (age, days) = (random.below(AGES) as i64, random.below(365) as i64);
        let female = random.percent(50);
        let born = REFERENCE_DAY.saturating_sub(age.years()).saturating_sub(days.days());
        let sex = if female { Sex::Female } else { Sex::Male };
        let place = self.place;
        Person { born: self.born.unwrap_or(born), sex: self.sex.unwrap_or(sex), place }
    }
}

impl Person {
    /// Returns whether the person is male. Most numbers have an odd digit for males.
    pub fn is_male(&self) -> bool {
        self.sex == Sex::Male
    }

    /// Returns whether the person was born in 2000 or later.
    pub fn is_of_2000s(&self) -> bool {
        self.born.year() >= 2000
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::seed::Seed;

    #[test]
    fn ages_are_even_and_nobody_is_unborn() {
        let mut random = Seed::parse("ages").unwrap().random("test", "");
        let mut decades = [0; 10];
        for _ in 0..10_000 {
            let born = Wanted::default().person(&mut random).born;
            assert!(born <= REFERENCE_DAY && born > date(1925, 1, 1), "{born}");
            decades[(2025 - i32::from(born.year())).max(0) as usize / 10] += 1;
        }
        assert!(decades.iter().all(|count| (850..1_150).contains(count)), "{decades:?}");
    }

    #[test]
    fn what_is_asked_for_is_kept() {
        let mut random = Seed::parse("ages").unwrap().random("test", "");
        let (born, sex) = (date(1984, 2, 29), Sex::Female);
        let wanted = Wanted { born: Some(born), sex: Some(sex), place: None };
        assert_eq!(wanted.person(&mut random), Person { born, sex, place: None });
    }
}
