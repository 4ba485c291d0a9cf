//! Regions and the telephone numbers generated from their numbering plans.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use super::areas::{self, Area};
use super::automaton::PatternError;
use super::fiction;
use super::format::Format;
use super::patterns::{KindPatterns, Patterns};
use super::plan::Plan;
use crate::model::ascii_buffer::AsciiBuffer;
use crate::model::random::Random;

const TABLE: &str = include_str!("../../../data/phones.tsv");

/// A region with a numbering plan.
pub struct Region {
    /// The two-letter code.
    pub code: &'static str,
    pub(super) calling_code: &'static str,
    patterns: Patterns,
    plan: OnceLock<Plan>,
    fiction: OnceLock<Plan>,
    /// Towns with known area codes, by name. Several states can have a town with the same name.
    areas: OnceLock<HashMap<&'static str, Vec<Area>>>,
}

static REGIONS: LazyLock<Vec<Region>> =
    LazyLock::new(|| TABLE.lines().map(Region::parse).collect());

/// Returns all regions, sorted by code.
pub fn all() -> &'static [Region] {
    &REGIONS
}

/// Finds a region by its two-letter code, in either case. Also accepts `UK` for the United Kingdom.
pub fn find(code: &str) -> Option<&'static Region> {
    let code = if code.eq_ignore_ascii_case("UK") { "GB" } else { code };
    REGIONS.iter().find(|region| region.code.eq_ignore_ascii_case(code))
}

impl Region {
    fn parse(line: &'static str) -> Self {
        let mut fields = line.split('\t');
        let [
            code,
            calling_code,
            mobile,
            fixed,
            other,
            mobile_length,
            fixed_length,
            was_mobile,
            was_fixed,
        ] = std::array::from_fn(|_| fields.next().unwrap_or_default());
        let kind = |pattern, carried, length: &str| KindPatterns {
            pattern,
            carried,
            example: length.parse().unwrap_or_default(),
        };
        let kinds = [kind(mobile, was_mobile, mobile_length), kind(fixed, was_fixed, fixed_length)];
        let general = fields.next().unwrap_or_default();
        let patterns = Patterns { code, calling_code, kinds, other, general };
        let (plan, fiction, areas) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { code, calling_code, patterns, plan, fiction, areas }
    }

    /// Returns the region's subscriber numbers, which are compiled on first use.
    ///
    /// # Errors
    /// Returns an error if a pattern in the table doesn't compile. A test compiles them all.
    pub fn numbers(&self) -> Result<Numbers<'_>, PatternError> {
        let plan = compiled(&self.plan, || Plan::compile(&self.patterns))?;
        Ok(Numbers { calling_code: self.calling_code, plan, area: None })
    }

    /// Returns the subscriber numbers in a town. If its area code is known, landlines have this
    /// code. In North America, so do mobile numbers.
    ///
    /// # Errors
    /// Returns an error if a pattern doesn't compile. A test compiles them all.
    pub fn numbers_in(&self, town: &str, state: &str) -> Result<Numbers<'_>, PatternError> {
        let numbers = self.numbers()?;
        let areas = self.areas.get_or_init(|| {
            let mut towns: HashMap<_, Vec<_>> = HashMap::new();
            for area in areas::of(self.code) {
                towns.entry(area.town).or_default().push(area);
            }
            towns
        });
        let mut same_name = areas.get(town).into_iter().flatten();
        let Some(area) = same_name.find(|area| area.state == state) else {
            return Ok(numbers);
        };
        let compile = || Plan::compile_area(&self.patterns, &area.pattern);
        let area = compiled(&area.plan, compile)?;
        match self.calling_code {
            "1" if !area.is_empty() => Ok(Numbers { plan: area, ..numbers }),
            _ => Ok(Numbers { area: Some(area), ..numbers }),
        }
    }

    /// Returns the numbers reserved for films and books, or `None` if no such numbers are known.
    ///
    /// # Errors
    /// Returns an error if a pattern doesn't compile. A test compiles them all.
    pub fn fictional_numbers(&self) -> Result<Option<Numbers<'_>>, PatternError> {
        let Some(fiction) = fiction::of(self.code) else { return Ok(None) };
        let compile = || Plan::compile_fiction(&self.patterns, fiction);
        let plan = compiled(&self.fiction, compile)?;
        Ok(Some(Numbers { calling_code: self.calling_code, plan, area: None }))
    }

    /// Returns whether any numbers are known to be reserved for films and books.
    pub fn has_fiction(&self) -> bool {
        fiction::of(self.code).is_some()
    }
}

fn compiled(
    place: &OnceLock<Plan>,
    compile: impl FnOnce() -> Result<Plan, PatternError>,
) -> Result<&Plan, PatternError> {
    match place.get() {
        Some(plan) => Ok(plan),
        None => {
            let plan = compile()?;
            Ok(place.get_or_init(|| plan))
        }
    }
}

/// The numbers of a region, ready to be sampled.
#[derive(Clone, Copy)]
pub struct Numbers<'a> {
    calling_code: &'static str,
    plan: &'a Plan,
    /// Landlines in the town, if its area code is known.
    area: Option<&'a Plan>,
}

impl Numbers<'_> {
    /// Appends a random number.
    pub fn write(&self, random: &mut Random, format: Format, out: &mut String) {
        let mut number = self.begin();
        self.plan.push(self.area, random, &mut number);
        format.write(number.as_str(), out);
    }

    /// Returns how many different numbers [`write_nth`](Self::write_nth) can append.
    pub fn count(&self) -> u64 {
        self.plan.count()
    }

    /// Appends the `nth` number. Different values of `nth` yield different numbers.
    pub fn write_nth(&self, nth: u64, format: Format, out: &mut String) {
        let mut number = self.begin();
        self.plan.push_nth(nth, &mut number);
        format.write(number.as_str(), out);
    }

    fn begin(&self) -> AsciiBuffer {
        let mut number = AsciiBuffer::new();
        number.push(b'+');
        number.push_str(self.calling_code);
        number
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::model::phone::{Valid, Validation, validate};
    use crate::model::seed::Seed;

    fn sampled(numbers: Numbers<'_>, seed: &str, count: usize) -> Vec<String> {
        let mut random = Seed::parse(seed).unwrap().random("phones", "");
        let write = |_| {
            let mut number = String::new();
            numbers.write(&mut random, Format::E164, &mut number);
            number
        };
        (0..count).map(write).collect()
    }

    fn valid(number: &str, region: &Region) -> Box<Valid> {
        match validate(number, Some(region)) {
            Validation::Valid(valid) => valid,
            Validation::Invalid(reason) => panic!("{} {number}: {reason}", region.code),
        }
    }

    /// Number of samples to check per region. The library is slow without optimization.
    const SAMPLES: usize = if cfg!(debug_assertions) { 300 } else { 2_000 };

    #[test]
    fn numbers_of_every_region_are_valid_there_by_the_library() {
        assert_eq!(all().len(), 245);
        for region in all() {
            for number in sampled(region.numbers().unwrap(), region.code, SAMPLES) {
                let valid = valid(&number, region);
                assert_eq!(valid.e164, number);
                let kind = valid.kind;
                assert!(kind.contains("MOBILE") || kind == "FIXED_LINE", "{number} {kind}");
                assert!(number.len() <= 16, "{number}");
            }
        }
    }

    #[test]
    fn numbers_at_different_places_differ_and_are_valid() {
        for region in all().iter().step_by(7) {
            let numbers = region.numbers().unwrap();
            let step = (numbers.count() / 50).max(1);
            let mut made = BTreeSet::new();
            for nth in 0..numbers.count().min(50) {
                let mut number = String::new();
                numbers.write_nth(nth * step, Format::E164, &mut number);
                assert_eq!(valid(&number, region).e164, number);
                assert!(made.insert(number), "{}", region.code);
            }
            assert!(!made.is_empty(), "{}", region.code);
        }
    }

    #[test]
    fn every_town_with_an_area_code_has_numbers_of_it() {
        for code in ["DE", "ES", "FR", "GB", "IT", "US"] {
            let region = find(code).unwrap();
            let towns = areas::of(code);
            assert!(towns.len() >= 70, "{code}");
            for town in towns.iter().step_by(7) {
                let numbers = region.numbers_in(town.town, town.state).unwrap();
                let area = numbers.area.unwrap_or(numbers.plan);
                assert!(!area.is_empty(), "{code} {}", town.town);
            }
        }
    }

    #[test]
    fn numbers_have_the_length_of_their_example() {
        for region in all() {
            let plan = region.numbers().unwrap().plan;
            for (at, kind) in region.patterns.kinds.iter().enumerate() {
                let compiled = if at == 0 { plan.mobile_lengths() } else { plan.fixed_lengths() };
                assert!(
                    compiled.is_empty() || compiled.contains(&kind.example),
                    "{} {at}: {compiled:?}",
                    region.code
                );
            }
            let lengths = region.patterns.kinds.iter().map(|kind| kind.example);
            let lengths: Vec<_> = lengths.map(|n| n + 1 + region.calling_code.len()).collect();
            let numbers = sampled(region.numbers().unwrap(), "lengths", 300);
            let usual = numbers.iter().filter(|number| lengths.contains(&number.len())).count();
            assert!(usual >= 285, "{} {usual}", region.code);
        }
    }

    #[test]
    fn machine_numbers_are_rare() {
        for (code, prefix) in [("NL", "+3197"), ("KR", "+8211"), ("NO", "+4759")] {
            let numbers = sampled(find(code).unwrap().numbers().unwrap(), "machines", 5_000);
            let machines = numbers.iter().filter(|number| number.starts_with(prefix)).count();
            assert!(machines <= 100, "{code} {machines}");
        }
    }

    #[test]
    fn fictional_numbers_are_in_the_ranges_of_the_regulators() {
        let mut seen = BTreeMap::new();
        for code in fiction::regions() {
            let numbers = find(code).unwrap().fictional_numbers().unwrap().unwrap();
            seen.insert(code, sampled(numbers, "fiction", 500));
        }
        let all = |code: &str, test: fn(&str) -> bool| seen[code].iter().all(|n| test(n));
        assert!(all("US", |n| n.len() == 12 && &n[5..10] == "55501"));
        assert!(all("CA", |n| n.len() == 12 && &n[5..10] == "55501"));
        assert!(all("FR", |n| n.starts_with("+3363998")
            || n.starts_with("+3319900")
            || ["26191", "35301", "46571", "53649"].contains(&&n[3..8])));
        assert!(seen["GB"].iter().any(|n| n.starts_with("+447700900")));
        assert!(seen["GB"].iter().any(|n| n.starts_with("+442079460")));
        assert!(seen["DE"].iter().any(|n| n.starts_with("+493023125")));
        for (code, numbers) in ["US", "CA", "AU", "SE"].map(|code| (code, &seen[code])) {
            numbers.iter().for_each(|number| drop(valid(number, find(code).unwrap())));
        }
        assert!(find("JP").unwrap().fictional_numbers().unwrap().is_none());
    }

    #[test]
    fn mobile_and_fixed_lines_are_mixed() {
        let numbers = sampled(find("fr").unwrap().numbers().unwrap(), "mix", 2_000);
        let mobile = |number: &&String| number.starts_with("+336") || number.starts_with("+337");
        let mobile = numbers.iter().filter(mobile).count();
        assert!((1_300..1_500).contains(&mobile), "{mobile}");
    }

    #[test]
    fn every_format_can_be_parsed_again() {
        let france = find("FR").unwrap();
        for (format, beginning) in [
            (Format::E164, "+33"),
            (Format::International, "+33 "),
            (Format::National, "0"),
            (Format::Rfc3966, "tel:+33-"),
        ] {
            let mut random = Seed::parse("forms").unwrap().random("phones", "");
            let mut number = String::new();
            france.numbers().unwrap().write(&mut random, format, &mut number);
            assert!(number.starts_with(beginning), "{number}");
            valid(&number, france);
        }
    }
}
