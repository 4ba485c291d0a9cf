//! Whom a number is made for.

use jiff::ToSpan;
use jiff::civil::{Date, date};

use crate::model::random::Random;

/// The day on which persons are 0 to 99 years old.
///
/// It is fixed, for the numbers of a seed may not change with the day, and moves on with the data
/// version: a year later they are at most 100, and never unborn.
pub const REFERENCE_DAY: Date = date(2026, 1, 1);
/// The first day of birth that may be asked for: some numbers have no earlier century.
pub const FIRST_BIRTH: Date = date(1900, 1, 1);

/// How many ages there are.
const AGES: u64 = 100;

/// Sex as numbers tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sex {
    /// Female.
    Female,
    /// Male.
    Male,
}

/// A person, as far as numbers tell of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Person {
    /// Day of birth.
    pub born: Date,
    /// Sex.
    pub sex: Sex,
}

/// What is asked of the persons; the rest is sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Day of birth.
    pub born: Option<Date>,
    /// Sex.
    pub sex: Option<Sex>,
}

impl Wanted {
    /// Samples a person: all years of age are equally likely, and so are the sexes.
    pub fn person(self, random: &mut Random) -> Person {
        let (age, days) = (random.below(AGES) as i64, random.below(365) as i64);
        let female = random.percent(50);
        let born = REFERENCE_DAY.saturating_sub(age.years()).saturating_sub(days.days());
        let sex = if female { Sex::Female } else { Sex::Male };
        Person { born: self.born.unwrap_or(born), sex: self.sex.unwrap_or(sex) }
    }
}

impl Person {
    /// Whether the person is male, which most numbers tell by an odd digit.
    pub fn is_male(&self) -> bool {
        self.sex == Sex::Male
    }

    /// Whether the person was born in 2000 or later.
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
        let wanted = Wanted { born: Some(born), sex: Some(sex) };
        assert_eq!(wanted.person(&mut random), Person { born, sex });
    }
}
