//! Suggests business names based on a few words.

use crate::model::random::Random;

/// Number of names to suggest.
pub const SUGGESTIONS: usize = 20;

const TRADES: [&str; 24] = [
    "Bakery",
    "Books",
    "Catering",
    "Coffee",
    "Consulting",
    "Design",
    "Electronics",
    "Events",
    "Fitness",
    "Foods",
    "Furniture",
    "Gardens",
    "Interiors",
    "Kitchens",
    "Logistics",
    "Marketing",
    "Media",
    "Outdoors",
    "Photography",
    "Plumbing",
    "Software",
    "Sports",
    "Textiles",
    "Travel",
];
const NOUNS: [&str; 20] = [
    "Bridge", "Corner", "Craft", "Harbor", "Haven", "House", "Junction", "Loft", "Market", "Mill",
    "Nest", "Point", "Post", "Room", "Shed", "Square", "Station", "Workshop", "Yard", "Garage",
];
const SUFFIXES: [&str; 12] = [
    "& Co.",
    "& Partners",
    "Collective",
    "Company",
    "Group",
    "International",
    "Lab",
    "Services",
    "Solutions",
    "Studio",
    "Supply",
    "Works",
];
const OPENINGS: [&str; 14] = [
    "The", "Blue", "Bright", "Little", "Royal", "Simply", "Golden", "Urban", "First", "Modern",
    "Silver", "True", "Original", "Green",
];
const ENDINGS: [&str; 18] = [
    "base", "berry", "bird", "craft", "field", "forge", "gate", "hive", "land", "leaf", "mark",
    "nest", "path", "point", "smith", "ware", "wave", "works",
];

/// Capitalizes each word, and separates words with single spaces.
pub fn title(words: &str) -> String {
    let mut title = String::with_capacity(words.len());
    for word in words.split_whitespace() {
        if !title.is_empty() {
            title.push(' ');
        }
        let mut letters = word.chars();
        title.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        title.push_str(letters.as_str());
    }
    title
}

/// Generates [`SUGGESTIONS`] distinct names: 12 that start with the words, 4 that contain them, and
/// 4 that extend the last word.
pub fn suggest(words: &str, random: &mut Random) -> Vec<String> {
    let title = title(words);
    let mut names: Vec<String> = Vec::with_capacity(SUGGESTIONS);
    while names.len() < SUGGESTIONS {
        let name = nth(names.len(), &title, random);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Generates one of the names that [`suggest`] could return.
pub fn suggest_one(words: &str, random: &mut Random) -> String {
    let place = random.index(SUGGESTIONS);
    nth(place, &title(words), random)
}

fn nth(place: usize, title: &str, random: &mut Random) -> String {
    match place {
        0..12 => beginning(title, random),
        12..16 => inside(title, random),
        _ => format!("{title}{}", random.pick(&ENDINGS)),
    }
}

fn beginning(title: &str, random: &mut Random) -> String {
    match random.below(5) {
        0 => format!("{title} {}", random.pick(&NOUNS)),
        1 => format!("{title} {}", random.pick(&SUFFIXES)),
        2 => format!("{title} {} {}", random.pick(&TRADES), random.pick(&SUFFIXES)),
        3 => format!("{title} {} {}", random.pick(&NOUNS), random.pick(&TRADES)),
        _ => format!("{title} {}", random.pick(&TRADES)),
    }
}

fn inside(title: &str, random: &mut Random) -> String {
    let mut opening = random.pick(&OPENINGS);
    // Avoid repetitions such as "Blue Blue Sky".
    while title.split(' ').next().is_some_and(|first| first.eq_ignore_ascii_case(opening)) {
        opening = random.pick(&OPENINGS);
    }
    match random.below(3) {
        0 => format!("{opening} {title} {}", random.pick(&TRADES)),
        1 => format!("{opening} {title} {}", random.pick(&NOUNS)),
        _ => format!("{} at {title} {}", random.pick(&TRADES), random.pick(&NOUNS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::seed::Seed;

    #[test]
    fn twenty_distinct_names_contain_the_words() {
        for words in ["blue  river", "ß", "日本 酒", "x", "élan vital de la mer"] {
            let mut random = Seed::parse("suggest").unwrap().random("test", "");
            let names = suggest(words, &mut random);
            let title = title(words);
            let distinct: std::collections::BTreeSet<_> = names.iter().collect();
            assert_eq!(distinct.len(), SUGGESTIONS);
            assert!(names.iter().all(|name| name.contains(&title)), "{names:?}");
            assert_eq!(names.iter().filter(|name| name.starts_with(&title)).count(), 16);
        }
    }

    #[test]
    fn first_word_is_not_repeated() {
        for seed in 0..200 {
            let mut random = Seed::parse(&seed.to_string()).unwrap().random("test", "");
            let names = suggest("blue sky", &mut random);
            assert!(names.iter().all(|name| !name.contains("Blue Blue")), "{names:?}");
        }
    }

    #[test]
    fn words_are_in_title_case() {
        assert_eq!(title("  blue \t river McFly "), "Blue River McFly");
    }
}
