//! The person a number is generated for.

use jiff::ToSpan;
use jiff::civil::{Date, date};

use crate::model::random::Random;

/// The reference date for ages. People are 0 to 99 years old on this day.
///
/// This is a constant, because a seed must keep producing the same numbers over time. It is moved
/// whenever the data version changes. Even a year later, ages don't exceed 100, and no birth date
/// is in the future.
pub const REFERENCE_DAY: Date = date(2026, 1, 1);
/// The earliest birth date that callers can request. Not all numbers support earlier centuries.
pub const FIRST_BIRTH: Date = date(1900, 1, 1);
/// The latest birth date that callers can request. Many numbers only encode two digits of the year,
/// so later dates would look like dates a century earlier.
pub const LAST_BIRTH: Date = date(2099, 12, 31);

/// Number of different ages.
const AGES: u64 = 100;

/// The sex encoded in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sex {
    /// Female.
    Female,
    /// Male.
    Male,
}

/// A place code of up to six letters and digits, e.g. for a county or a department.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceCode {
    bytes: [u8; 6],
    length: usize,
}

impl PlaceCode {
    /// Creates a code, or returns `None` if it's longer than six bytes.
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

/// Everything that a number can encode about a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Person {
    /// The birth date.
    pub born: Date,
    /// The sex.
    pub sex: Sex,
    /// The place of birth, or `None` for a random one.
    pub place: Option<PlaceCode>,
}

/// The properties requested by a caller. All others are sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The birth date.
    pub born: Option<Date>,
    /// The sex.
    pub sex: Option<Sex>,
    /// The place of birth, as encoded in the number.
    pub place: Option<PlaceCode>,
}

impl Wanted {
    /// Samples a person. Ages and sexes are uniformly distributed.
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
    /// Returns whether the person is male. Most numbers use an odd digit for men.
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
    fn ages_are_uniform_and_birth_dates_are_in_the_past() {
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
    fn wanted_birth_date_and_sex_are_kept() {
        let mut random = Seed::parse("ages").unwrap().random("test", "");
        let (born, sex) = (date(1984, 2, 29), Sex::Female);
        let wanted = Wanted { born: Some(born), sex: Some(sex), place: None };
        assert_eq!(wanted.person(&mut random), Person { born, sex, place: None });
    }
}
