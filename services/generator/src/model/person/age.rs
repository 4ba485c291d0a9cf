//! Ages, sampled from each country's age distribution.

use jiff::ToSpan;
use jiff::civil::Date;

use crate::model::numbers::{FIRST_BIRTH, LAST_BIRTH};
use crate::model::random::Random;

/// Population shares by ten-year age group, along with the countries they roughly apply to.
const PYRAMIDS: &str = include_str!("../../../data/ages.tsv");

/// Maximum age.
pub const OLDEST: u8 = 99;
/// Default age range, which excludes children because they have neither cards nor accounts.
const USUAL: (u8, u8) = (18, 89);

/// The cumulative weight and the latest birth date for each age.
pub struct Ages(Vec<(u64, Date)>);

impl Ages {
    /// Creates a country's ages from `least` to `most`, by default 18 to 89. Leaves out ages whose
    /// birth date, as seen from `day`, would be outside the supported years. If none are left, uses
    /// all other possible ages instead.
    pub fn new(country: &str, least: Option<u8>, most: Option<u8>, day: Date) -> Self {
        let is_possible = |age: &u8| (first_day(*age)..=last_day(*age)).contains(&day);
        let (mut least, mut most) = range(least, most);
        if !(least..=most).any(|age| is_possible(&age)) {
            (least, most) = (0, OLDEST);
        }
        let is_any_possible = (least..=most).any(|age| is_possible(&age));
        let shares = pyramid(country);
        let weight = |age: u8| shares.get(usize::from(age / 10)).map_or(1, |share| (*share).max(1));
        let ages = (least..=most).filter(|age| !is_any_possible || is_possible(age));
        let mut sum = 0;
        let entry = |age: u8| {
            sum += u64::from(weight(age));
            (sum, day.saturating_sub(i64::from(age).years()))
        };
        Self(ages.map(entry).collect())
    }

    /// Samples a birth date for someone who has one of these ages on the reference date.
    pub fn birth(&self, random: &mut Random) -> Date {
        let drawn = random.below(self.0.last().map_or(0, |(sum, _)| *sum));
        let (_, latest) = self.0[self.0.partition_point(|(sum, _)| *sum <= drawn)];
        let days = random.below(365) as i64;
        latest.saturating_sub(days.days()).clamp(FIRST_BIRTH, LAST_BIRTH)
    }
}

/// Returns the first and last reference date on which any of these ages is possible, given the
/// supported birth years.
pub fn possible_days(least: Option<u8>, most: Option<u8>) -> (Date, Date) {
    let (least, most) = match (least, most) {
        (None, None) => (0, OLDEST),
        _ => range(least, most),
    };
    (first_day(least), last_day(most))
}

fn first_day(age: u8) -> Date {
    FIRST_BIRTH.saturating_add(i64::from(age).years())
}

fn last_day(age: u8) -> Date {
    LAST_BIRTH.saturating_add(i64::from(age).years()).saturating_add(364.days())
}

/// Fills in the missing ends of an age range.
pub fn range(least: Option<u8>, most: Option<u8>) -> (u8, u8) {
    let least =
        least.unwrap_or_else(|| if most.is_some_and(|most| most < USUAL.0) { 0 } else { USUAL.0 });
    (least, most.unwrap_or_else(|| USUAL.1.max(least)))
}

/// Returns a country's population shares by ten-year age group, in tenths of a percent.
fn pyramid(country: &str) -> Vec<u16> {
    let rows = PYRAMIDS.lines().filter_map(|row| row.split_once('\t'));
    let mut rows = rows.filter(|row| row.1.split(' ').any(|code| code == country));
    let shares = rows.next().map_or("", |row| row.0).split(' ');
    shares.filter_map(|share| share.replace('.', "").parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::model::{Seed, names};

    #[test]
    fn every_country_has_an_age_distribution() {
        for culture in names::all() {
            let shares = pyramid(culture.country);
            let sum: u16 = shares.iter().sum();
            assert_eq!((shares.len(), sum), (10, 1_000), "{}", culture.country);
        }
    }

    #[test]
    fn ages_refer_to_the_day_and_follow_the_age_distribution() {
        let mut random = Seed::parse("ages").unwrap().random("test", "");
        let day = date(2010, 6, 15);
        let old = |country: &str, random: &mut Random| {
            let ages = Ages::new(country, None, None, day);
            let born = (0..4_000).map(|_| ages.birth(random));
            let years = born.map(|born| (day - born).get_days() / 365);
            years
                .inspect(|age| assert!((18..=90).contains(age), "{age}"))
                .filter(|a| *a >= 65)
                .count()
        };
        let (japanese, kenyan) = (old("JP", &mut random), old("KE", &mut random));
        assert!(japanese > 1_100 && kenyan < 400, "{japanese} {kenyan}");
        let ages = Ages::new("FR", Some(30), Some(30), day);
        for _ in 0..500 {
            let born = ages.birth(&mut random);
            assert!(born > date(1979, 6, 15) && born <= date(1980, 6, 15), "{born}");
        }
    }

    #[test]
    fn births_in_supported_years_fit_the_ages() {
        let mut random = Seed::parse("ages").unwrap().random("test", "");
        for (least, most) in [(None, None), (Some(0), Some(0)), (Some(40), Some(50))] {
            let (first, last) = possible_days(least, most);
            for day in [first, first.saturating_add(5.years()), last] {
                let ages = Ages::new("US", least, most, day);
                for _ in 0..200 {
                    let born = ages.birth(&mut random);
                    assert!((FIRST_BIRTH..=LAST_BIRTH.min(day)).contains(&born), "{born} {day}");
                    let age = day.since((jiff::Unit::Year, born)).unwrap().get_years();
                    let wanted = i16::from(least.unwrap_or(0))..=i16::from(most.unwrap_or(OLDEST));
                    assert!(wanted.contains(&age), "{born} {day}");
                }
            }
        }
    }

    #[test]
    fn missing_age_bound_fits_the_given_one() {
        assert_eq!(range(None, None), (18, 89));
        assert_eq!(range(None, Some(10)), (0, 10));
        assert_eq!(range(Some(95), None), (95, 95));
    }
}
