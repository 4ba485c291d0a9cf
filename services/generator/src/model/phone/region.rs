//! The regions and the numbers that are made from their numbering plans.

use std::sync::{LazyLock, OnceLock};

use super::automaton::{Automaton, PatternError};
use crate::model::ascii_buffer::AsciiBuffer;
use crate::model::random::Random;

const TABLE: &str = include_str!("../../../data/phones.tsv");

/// A region with a numbering plan.
pub struct Region {
    /// The two letters.
    pub code: &'static str,
    pub(super) calling_code: &'static str,
    mobile: &'static str,
    fixed: &'static str,
    /// Premium, toll-free and other numbers that must not be made.
    other: &'static str,
    plan: OnceLock<Plan>,
}

/// The compiled patterns of a region.
struct Plan {
    mobile: Automaton,
    fixed: Automaton,
}

static REGIONS: LazyLock<Vec<Region>> =
    LazyLock::new(|| TABLE.lines().map(Region::parse).collect());

/// Every region, by code.
pub fn all() -> &'static [Region] {
    &REGIONS
}

/// Finds a region by its two letters in any case; `UK` is the United Kingdom.
pub fn find(code: &str) -> Option<&'static Region> {
    let code = if code.eq_ignore_ascii_case("UK") { "GB" } else { code };
    REGIONS.iter().find(|region| region.code.eq_ignore_ascii_case(code))
}

impl Region {
    fn parse(line: &'static str) -> Self {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_default();
        Self {
            code: next(),
            calling_code: next(),
            mobile: next(),
            fixed: next(),
            other: next(),
            plan: OnceLock::new(),
        }
    }

    /// Writes a number in the form E.164: 70 percent mobile, the others fixed lines.
    ///
    /// # Errors
    /// When a pattern of the table does not compile; a test compiles all of them.
    pub fn write(&self, random: &mut Random, out: &mut String) -> Result<(), PatternError> {
        let plan = self.plan()?;
        let mobile = match (plan.mobile.is_empty(), plan.fixed.is_empty()) {
            (false, false) => random.percent(70),
            (no_mobile, _) => !no_mobile,
        };
        let mut number = AsciiBuffer::new();
        number.push(b'+');
        number.push_str(self.calling_code);
        (if mobile { &plan.mobile } else { &plan.fixed }).push(random, &mut number);
        out.push_str(number.as_str());
        Ok(())
    }

    /// Compiles the patterns when the region is first used.
    fn plan(&self) -> Result<&Plan, PatternError> {
        if let Some(plan) = self.plan.get() {
            return Ok(plan);
        }
        let plan = Plan {
            mobile: Automaton::compile(self.mobile, self.other)?,
            fixed: Automaton::compile(self.fixed, self.other)?,
        };
        Ok(self.plan.get_or_init(|| plan))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::phone::{Validation, validate};
    use crate::model::seed::Seed;

    #[test]
    fn every_region_gives_numbers_that_the_library_calls_valid_there() {
        assert_eq!(all().len(), 245);
        for region in all() {
            let mut random = Seed::parse("phones").unwrap().random(region.code, "");
            for _ in 0..2_000 {
                let mut number = String::new();
                region.write(&mut random, &mut number).unwrap();
                match validate(&number, Some(region)) {
                    Validation::Valid(valid) => {
                        assert_eq!(valid.e164, number);
                        let kind = valid.kind;
                        assert!(kind.contains("MOBILE") || kind == "FIXED_LINE", "{number} {kind}");
                    }
                    Validation::Invalid(reason) => panic!("{} {number}: {reason}", region.code),
                }
            }
        }
    }

    #[test]
    fn mobile_and_fixed_lines_are_mixed() {
        let france = find("fr").unwrap();
        let mut random = Seed::parse("mix").unwrap().random("phones", "");
        let mut mobile = 0;
        for _ in 0..2_000 {
            let mut number = String::new();
            france.write(&mut random, &mut number).unwrap();
            mobile += u32::from(number.starts_with("+336") || number.starts_with("+337"));
        }
        assert!((1_300..1_500).contains(&mobile), "{mobile}");
    }
}
