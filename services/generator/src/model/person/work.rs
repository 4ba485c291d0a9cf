//! Occupations and employers.

use std::sync::LazyLock;

use crate::model::names::{Culture, Identity, plain};
use crate::model::random::Random;

/// Occupations in English, with weights.
const OCCUPATIONS: &str = include_str!("../../../data/occupations.tsv");
/// Number of employers per stream.
const EMPLOYERS: f64 = 2_000.0;
/// Working age, from the first job to retirement.
const WORKING: std::ops::Range<i16> = 16..67;

static NAMES: LazyLock<Vec<(&str, u16)>> = LazyLock::new(|| {
    let rows = OCCUPATIONS.lines().filter_map(|row| row.split_once('\t'));
    rows.map(|(weight, name)| (name, weight.parse().unwrap_or(1))).collect()
});

/// An employer.
pub struct Employer {
    /// The name, including its legal form.
    pub name: String,
    /// A domain under the reserved `.example` (RFC 2606).
    pub domain: String,
}

/// Returns an occupation in English that is plausible at this age.
pub fn occupation(age: i16, random: &mut Random) -> &'static str {
    if age < WORKING.start {
        return "Pupil";
    }
    if age >= WORKING.end {
        return "Retired";
    }
    // Up to the age of 17, everyone is a student. The share then drops to one in eight at 24.
    if age < 25 && random.below(8) < (25 - age).unsigned_abs().into() {
        return "Student";
    }
    random.pick_weighted::<&str>(&NAMES)
}

/// Returns whether people with this occupation have an employer.
pub fn is_employed(occupation: &str) -> bool {
    !matches!(occupation, "Pupil" | "Student" | "Retired")
}

/// Draws an employer number. Some employers are much more frequent than others.
pub fn employer_number(random: &mut Random) -> u64 {
    (random.unit().powi(2) * EMPLOYERS) as u64
}

/// Returns the employer with the given number. `random` must be the employer's own stream.
pub fn employer(culture: &Culture, number: u64, random: &mut Random) -> Employer {
    let mut name = String::with_capacity(48);
    culture.write_company(random, &mut name);
    let latin: Vec<_> = name
        .split(|letter: char| !letter.is_alphanumeric())
        .map(|word| plain(word, culture.language()))
        .filter(|word| !word.is_empty())
        .collect();
    let stem = match latin.concat().len() {
        0..3 => "company".to_owned(),
        _ => latin.join("-").chars().take(40).collect(),
    };
    // The number keeps domains distinct if several employers have the same name.
    let domain = format!("{}-{number}.example", stem.trim_end_matches('-'));
    Employer { name, domain }
}

/// Returns an employee's address at the employer's domain.
pub fn address(name: &Identity, index: u64, domain: &str) -> String {
    let part = |text: &str| {
        let first = text.split(' ').next().unwrap_or_default();
        Some(plain(first, "en")).filter(|text| !text.is_empty()).unwrap_or_else(|| "x".to_owned())
    };
    format!("{}.{}{index}@{domain}", part(&name.given_latin), part(&name.surname_latin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{names, seed::Seed};

    #[test]
    fn domains_of_every_culture_are_ascii_and_reserved() {
        for culture in names::all() {
            let mut random = Seed::parse("work").unwrap().random("test", culture.code);
            for number in 0..50 {
                let Employer { name, domain } = employer(culture, number, &mut random);
                let stem = domain.strip_suffix(".example").unwrap();
                let fits = |letter: char| {
                    letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-'
                };
                assert!(stem.chars().all(fits) && !stem.starts_with('-'), "{name} {domain}");
                assert!(stem.len() <= 63, "{domain}");
            }
        }
    }

    #[test]
    fn occupations_fit_the_age() {
        let mut random = Seed::parse("work").unwrap().random("test", "");
        assert_eq!(occupation(10, &mut random), "Pupil");
        assert_eq!(occupation(70, &mut random), "Retired");
        let students = (0..1_000).filter(|_| !is_employed(occupation(20, &mut random))).count();
        // Five out of eight, within four standard deviations.
        assert!((564..687).contains(&students), "{students}");
        assert!((0..100).all(|_| is_employed(occupation(40, &mut random))));
    }
}
