//! Makes up brand names from a few words.

use crate::model::random::Random;

/// Number of names per response.
pub const BRANDS: usize = 20;

const SHORTEST: usize = 3;
const LONGEST: usize = 24;
/// Maximum number of letters to take from the words. This leaves room for the longest suffix.
const ROOT: usize = 15;

const SUFFIXES: [&str; 10] = ["ly", "ify", "io", "a", "ora", "eo", "verse", "lab", "hub", "kit"];
/// Suffixes that start with a vowel.
const VOWEL_SUFFIXES: [&str; 6] = ["ify", "io", "a", "ora", "eo", "ia"];
const PREFIXES: [&str; 6] = ["Go", "My", "Get", "Neo", "Pro", "On"];
const NOUNS: [&str; 20] = [
    "bay", "bee", "box", "cove", "dock", "echo", "fox", "glow", "jet", "kite", "leaf", "loop",
    "mint", "nest", "oak", "peak", "pulse", "spark", "tide", "wave",
];
const SYLLABLES: [&str; 12] =
    ["ba", "co", "di", "fe", "ko", "la", "mi", "no", "ra", "so", "ta", "vo"];
/// Consonants that are often doubled.
const DOUBLES: &str = "bdfglmnprst";

/// Returns whether names can be made from these words, which requires at least one letter or digit.
pub fn possible(words: &str) -> bool {
    words.chars().any(char::is_alphanumeric)
}

/// Generates a single name, like those from [`make`]. Returns an empty string if the words aren't
/// [`possible`].
pub fn make_one(words: &str, random: &mut Random) -> String {
    let root = root(words);
    loop {
        let name = if root.is_empty() { String::new() } else { capital(&name(&root, random)) };
        if root.is_empty() || (SHORTEST..=LONGEST).contains(&name.chars().count()) {
            return name;
        }
    }
}

/// Returns the letters and digits of the words, in lower case.
fn root(words: &str) -> String {
    // Filter after lowercasing, because that can add combining marks: İ becomes two characters.
    let lower = words.chars().flat_map(char::to_lowercase);
    lower.filter(|letter| letter.is_alphanumeric()).take(ROOT).collect()
}

/// Generates [`BRANDS`] distinct capitalized names of 3 to 24 letters and digits, or none if the
/// words aren't [`possible`].
pub fn make(words: &str, random: &mut Random) -> Vec<String> {
    let root = root(words);
    let mut names: Vec<String> = Vec::with_capacity(BRANDS);
    // Always terminates, because every method yields enough distinct names.
    while names.len() < BRANDS && !root.is_empty() {
        let name = capital(&name(&root, random));
        let length = name.chars().count();
        if (SHORTEST..=LONGEST).contains(&length) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn name(root: &str, random: &mut Random) -> String {
    if !root.chars().any(char::is_alphabetic) {
        return format!("{}{}{root}", random.pick(&PREFIXES), random.pick(&SYLLABLES));
    }
    match random.below(10) {
        0 => shortened(root, random),
        1 => with_double(root, random),
        2 => format!("{}{}", random.pick(&PREFIXES), capital(root)),
        3 | 4 => join(root, random.pick::<&str>(&NOUNS)),
        5 => join(random.pick::<&str>(&NOUNS), &cut(root, random)),
        _ => join(&cut(root, random), random.pick::<&str>(&SUFFIXES)),
    }
}

fn vowel(letter: char) -> bool {
    matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u' | 'y')
}

/// Keeps the first syllable plus one consonant, and appends a suffix that starts with a vowel.
fn shortened(root: &str, random: &mut Random) -> String {
    let first = root.chars().position(vowel).map_or(0, |at| at + 1);
    let mut kept: String = root.chars().take(first).collect();
    let consonants = root.chars().skip(first).filter(|letter| !vowel(*letter));
    kept.extend(consonants.take(1));
    join(&kept, random.pick::<&str>(&VOWEL_SUFFIXES))
}

/// Doubles a consonant after a vowel, and sometimes appends a suffix. A consonant isn't doubled at
/// the start or before another consonant, since that would be unpronounceable.
fn with_double(root: &str, random: &mut Random) -> String {
    let letters: Vec<char> = root.chars().collect();
    let is_vowel = |at: usize| letters.get(at).is_some_and(|letter| vowel(*letter));
    let consonants: Vec<usize> = (1..letters.len())
        .filter(|&at| {
            let is_end = at + 1 == letters.len();
            DOUBLES.contains(letters[at]) && is_vowel(at - 1) && (is_end || is_vowel(at + 1))
        })
        .collect();
    if consonants.is_empty() {
        return join(root, random.pick::<&str>(&SYLLABLES));
    }
    let chosen = *random.pick(&consonants);
    let mut doubled: String = letters[..=chosen].iter().collect();
    doubled.push(letters[chosen]);
    doubled.extend(&letters[chosen + 1..]);
    if random.percent(40) { doubled } else { join(&doubled, random.pick::<&str>(&SUFFIXES)) }
}

/// Returns the first 2 to 8 letters, or more if that's necessary to include a vowel.
fn cut(root: &str, random: &mut Random) -> String {
    let length = random.between(2, 8) as usize;
    let vowel_at = root.chars().position(vowel).map_or(0, |at| at + 1);
    root.chars().take(length.max(vowel_at)).collect()
}

/// Joins two strings. Where two vowels meet, one of them is dropped. Where more than two consonants
/// meet, a vowel is inserted.
fn join(first: &str, second: &str) -> String {
    let end = first.chars().next_back();
    let twice = end.is_some_and(vowel) && second.starts_with(vowel);
    let kept = if twice { &first[..first.len() - 1] } else { first };
    let consonants = |text: &mut dyn Iterator<Item = char>| text.take_while(consonant).count();
    let seam = consonants(&mut kept.chars().rev()) + consonants(&mut second.chars());
    let between = if seam > 2 { "o" } else { "" };
    format!("{kept}{between}{second}")
}

/// Returns whether a letter is an unaccented consonant.
fn consonant(letter: &char) -> bool {
    letter.is_ascii_alphabetic() && !vowel(letter.to_ascii_lowercase())
}

/// Capitalizes the first letter, if its capital form is a single character.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    let mut capital = first.to_uppercase();
    let first = if capital.len() == 1 { capital.next().unwrap_or(first) } else { first };
    std::iter::once(first).chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::seed::Seed;

    #[test]
    fn brands_are_distinct_short_and_ascii() {
        let long = "x".repeat(100);
        for words in
            ["blue river", "a", "7", "42 !", "日本", "ßß", "ŉ", "İ", "О", &long, "aaa eee", "  - z"]
        {
            assert!(possible(words));
            let mut random = Seed::parse("brand").unwrap().random("test", "");
            let names = make(words, &mut random);
            let distinct: std::collections::BTreeSet<_> = names.iter().collect();
            assert_eq!(distinct.len(), BRANDS, "{words}: {names:?}");
            for name in &names {
                assert!((3..=24).contains(&name.chars().count()), "{name}");
                assert!(
                    !name.chars().any(|c| c.is_whitespace() || c.is_ascii_punctuation()),
                    "{name}"
                );
                assert!(name.chars().all(char::is_alphanumeric), "{name}");
                let odd = ["ŉ", "ßß"].contains(&words);
                assert!(!name.starts_with(char::is_lowercase) || odd, "{name}");
            }
        }
    }

    #[test]
    fn brands_of_pronounceable_words_are_pronounceable() {
        let mut random = Seed::parse("spoken").unwrap().random("test", "");
        for words in
            ["blue river", "northwind", "kettle", "acme", "green leaf", "solstice", "strength"]
        {
            for _ in 0..50 {
                for name in make(words, &mut random) {
                    let lower = name.to_lowercase();
                    let runs = lower.split(vowel).map(|run| run.chars().count());
                    // The given words can already have runs of consonants: Northwind has three in a
                    // row.
                    let own = words.split(vowel).map(|run| run.chars().count()).max().unwrap();
                    let longest = runs.max().unwrap();
                    assert!(longest <= own.max(2) + 1, "{words}: {name}");
                    assert!(lower.chars().any(vowel), "{words}: {name}");
                    let letters: Vec<char> = format!("-{lower}").chars().collect();
                    let is_stuck = |three: &[char]| {
                        !vowel(three[0]) && !vowel(three[1]) && three[1] == three[2]
                    };
                    assert!(!letters.windows(3).any(is_stuck), "{words}: {name}");
                }
            }
        }
    }

    /// Tries every 67th Unicode letter or digit.
    #[test]
    fn words_in_any_script_give_brands() {
        let mut random = Seed::parse("world").unwrap().random("test", "");
        for letter in ('\0'..=char::MAX).filter(|letter| letter.is_alphanumeric()).step_by(67) {
            for root in [letter.to_string(), letter.to_string().repeat(40), format!("1{letter}")] {
                assert_eq!(make(&root, &mut random).len(), BRANDS, "{root}");
            }
        }
    }

    #[test]
    fn words_without_letters_and_digits_give_no_brands() {
        assert!(!possible(" -!"));
        let mut random = Seed::parse("brand").unwrap().random("test", "");
        assert!(make("-", &mut random).is_empty());
    }
}
