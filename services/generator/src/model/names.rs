//! Names of people, sampled by how common they are.

use std::sync::LazyLock;

use super::random::Random;

/// The names of one culture.
pub struct Culture {
    /// The canonical code, like `en_US`.
    pub code: &'static str,
    /// The English name of the culture.
    pub name: &'static str,
    /// Other codes that mean it.
    aliases: &'static [&'static str],
    female: Weighted,
    male: Weighted,
    surnames: Weighted,
}

/// Which part of a name is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The given name.
    First,
    /// The family name.
    Last,
    /// Both, in the order of the culture.
    Full,
}

static CULTURES: LazyLock<[Culture; 1]> = LazyLock::new(|| {
    [Culture {
        code: "en_US",
        name: "English (United States)",
        aliases: &[],
        female: Weighted::parse(include_str!("../../data/cultures/en_US/given_female.tsv")),
        male: Weighted::parse(include_str!("../../data/cultures/en_US/given_male.tsv")),
        surnames: Weighted::parse(include_str!("../../data/cultures/en_US/surname.tsv")),
    }]
});

/// Every culture, sorted by code.
pub fn all() -> &'static [Culture] {
    &*CULTURES
}

/// The culture `en_US`, the default everywhere.
pub fn american() -> &'static Culture {
    &CULTURES[0]
}

/// Finds a culture; case does not count and `-` equals `_`.
pub fn find(code: &str) -> Option<&'static Culture> {
    let code = code.replace('-', "_");
    let same = |known: &str| known.eq_ignore_ascii_case(&code);
    CULTURES.iter().find(|culture| same(culture.code) || culture.aliases.iter().any(|a| same(a)))
}

impl Culture {
    /// Writes a name.
    pub fn write(&self, random: &mut Random, part: Part, out: &mut String) {
        match part {
            Part::First => out.push_str(self.given(random)),
            Part::Last => out.push_str(self.surnames.sample(random)),
            Part::Full => self.write_full(random, out),
        }
    }

    /// Writes a given name and a surname.
    pub fn write_full(&self, random: &mut Random, out: &mut String) {
        out.push_str(self.given(random));
        out.push(' ');
        out.push_str(self.surnames.sample(random));
    }

    fn given(&self, random: &mut Random) -> &'static str {
        if random.percent(50) { self.female.sample(random) } else { self.male.sample(random) }
    }
}

/// Names with the sum of the weights up to each.
struct Weighted {
    names: Vec<&'static str>,
    sums: Vec<u32>,
    /// For each 1/1024 of the whole weight the first name that reaches it, to shorten the search.
    guide: Vec<u32>,
}

const GUIDE: u64 = 1_024;

impl Weighted {
    /// Reads lines of a name, a tab and a weight; the weight may be absent.
    fn parse(text: &'static str) -> Self {
        let mut total = 0;
        let (mut names, mut sums) = (Vec::new(), Vec::new());
        for line in text.lines().filter(|line| !line.is_empty()) {
            let (name, weight) = line.split_once('\t').unwrap_or((line, "1"));
            total += weight.parse().unwrap_or(1);
            names.push(name);
            sums.push(total);
        }
        let start = |slot: u64| {
            let first = (slot * u64::from(total) / GUIDE) as u32;
            sums.partition_point(|sum| *sum <= first) as u32
        };
        let guide = (0..GUIDE).map(start).collect();
        Self { names, sums, guide }
    }

    fn sample(&self, random: &mut Random) -> &'static str {
        let total = u64::from(self.sums.last().copied().unwrap_or(1));
        let nth = random.below(total);
        let mut position = self.guide[(nth * GUIDE / total) as usize] as usize;
        while u64::from(self.sums[position]) <= nth {
            position += 1;
        }
        self.names[position]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::seed::Seed;

    #[test]
    fn common_names_come_more_often() {
        let mut random = Seed::parse("names").unwrap().random("test", "");
        let mut smith = 0;
        for _ in 0..20_000 {
            let mut name = String::new();
            american().write(&mut random, Part::Last, &mut name);
            smith += u32::from(name == "Smith");
        }
        // 2.2 percent of the weighted names.
        assert!((300..700).contains(&smith), "{smith}");
    }

    #[test]
    fn guide_never_skips_a_name() {
        let list = Weighted::parse("A\t1\nB\t1\nC\t5000\nD\t1\n");
        let mut random = Seed::parse("guide").unwrap().random("test", "");
        let sampled: Vec<_> = (0..40_000).map(|_| list.sample(&mut random)).collect();
        for name in ["A", "B", "C", "D"] {
            assert!(sampled.contains(&name), "{name}");
        }
    }

    #[test]
    fn cultures_are_found_in_any_spelling() {
        assert_eq!(find("EN-us").unwrap().code, "en_US");
        assert!(find("xx").is_none());
    }

    #[test]
    fn lists_reach_the_minimum_of_a_culture() {
        for culture in all() {
            assert!(culture.female.names.len() + culture.male.names.len() >= 50);
            assert!(culture.surnames.names.len() >= 30);
        }
    }
}
