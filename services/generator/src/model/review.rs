//! Product reviews.

use std::sync::LazyLock;

use crate::model::random::Random;

const TEMPLATES: &str = include_str!("../../data/reviews.txt");

/// Percentages of positive and neutral reviews. The remaining 15 percent are negative.
const GOOD: u64 = 60;
const MIXED: u64 = 25;

const TIMES: [&str; 12] = [
    "a week",
    "two weeks",
    "ten days",
    "three weeks",
    "a month",
    "six weeks",
    "two months",
    "three months",
    "half a year",
    "a whole winter",
    "almost a year",
    "a year",
];
/// People with their pronouns.
const PERSONS: [(&str, &str); 16] = [
    ("my sister", "she"),
    ("my brother", "he"),
    ("my mum", "she"),
    ("my dad", "he"),
    ("my wife", "she"),
    ("my husband", "he"),
    ("my neighbour", "he"),
    ("my best friend", "she"),
    ("my boss", "she"),
    ("my grandmother", "she"),
    ("my grandfather", "he"),
    ("my daughter", "she"),
    ("my son", "he"),
    ("my roommate", "he"),
    ("a colleague", "she"),
    ("my uncle", "he"),
];
const PLACES: [&str; 14] = [
    "the kitchen",
    "the office",
    "the garage",
    "the living room",
    "the garden",
    "our tiny flat",
    "the workshop",
    "the bathroom",
    "the camper",
    "the hallway",
    "my home office",
    "the basement",
    "the holiday cottage",
    "my student room",
];
const GLAD: [&str; 10] = [
    "delighted",
    "more than happy",
    "really pleased",
    "very satisfied",
    "thrilled",
    "over the moon",
    "completely happy",
    "so pleased",
    "impressed",
    "absolutely happy",
];
const SAD: [&str; 8] = [
    "disappointed",
    "really annoyed",
    "not amused",
    "fed up",
    "very unhappy",
    "quite angry",
    "upset",
    "more than disappointed",
];

/// Closing remarks, one list per tone.
const GOOD_ENDS: [&str; 12] = [
    "Recommended!",
    "Would buy it again.",
    "Thanks!",
    "Well done.",
    "Thumbs up.",
    "A clear yes from me.",
    "Keep it up!",
    "No regrets.",
    "Top!",
    "I can only recommend it.",
    "Money well spent.",
    "Happy customer here.",
];
const MIXED_ENDS: [&str; 8] = [
    "Three stars.",
    "Make of that what you will.",
    "It is what it is.",
    "We will see.",
    "Your mileage may vary.",
    "Room for improvement.",
    "So, so.",
    "Fair enough.",
];
const BAD_ENDS: [&str; 8] = [
    "Never again.",
    "Avoid.",
    "What a waste.",
    "Not recommended.",
    "Stay away from it.",
    "A pity.",
    "I want my money back.",
    "Hands off!",
];
/// Percentage of reviews with a closing remark.
const ENDED: u64 = 40;

/// Openings that mention the product, for templates that don't.
const OPENINGS: [&str; 8] = [
    "{p}: ",
    "About the {p}: ",
    "My verdict on the {p}: ",
    "The {p} in one line: ",
    "After {time} with the {p}: ",
    "{Person} asked me about the {p}. ",
    "So, the {p}. ",
    "Review of the {p}: ",
];
/// Percentage of reviews with an opening, if the template doesn't mention the product.
const OPENED: u64 = 65;

/// Neutral remarks to put before the closing remark.
const REMARKS: [&str; 20] = [
    "I have had it for {time}.",
    "It is in {place} now.",
    "It came within two days.",
    "Delivery took a week.",
    "{Person} recommended it to me.",
    "It was a present from {person}.",
    "Ordered for {place}.",
    "I waited {time} before writing this.",
    "{Person} has the same one.",
    "We mostly use it in {place}.",
    "I had an older model for {time}.",
    "The parcel was left in {place}.",
    "{Person} uses it more often than I do.",
    "It replaced one that lasted {time}.",
    "I keep it in {place}.",
    "It was in its box for {time} before I tried it.",
    "{Person} found the offer.",
    "Between {place} and the car it has seen a lot.",
    "I compared prices for {time}.",
    "{Person} has asked for one, too.",
];
/// Percentage of reviews with a neutral remark.
const REMARKED: u64 = 85;

/// Templates for each tone.
struct Tones {
    good: Vec<&'static str>,
    mixed: Vec<&'static str>,
    bad: Vec<&'static str>,
}

static TONES: LazyLock<Tones> = LazyLock::new(|| {
    let texts_of = |tone: &str| {
        let templates = TEMPLATES.lines().filter_map(|line| line.split_once('\t'));
        templates.filter(|(known, _)| *known == tone).map(|(_, template)| template).collect()
    };
    Tones { good: texts_of("good"), mixed: texts_of("mixed"), bad: texts_of("bad") }
});

/// Appends a review, which contains the product name verbatim.
pub fn write(product: &str, random: &mut Random, out: &mut String) {
    let tones = &*TONES;
    let (templates, ends) = match random.below(100) {
        0..GOOD => (&tones.good, GOOD_ENDS.as_slice()),
        tone if tone < GOOD + MIXED => (&tones.mixed, MIXED_ENDS.as_slice()),
        _ => (&tones.bad, BAD_ENDS.as_slice()),
    };
    let (person, pronoun) = *random.pick(&PERSONS);
    let template = *random.pick(templates);
    let mut fill = |text: &str, random: &mut Random| {
        fill(text, product, (person, pronoun), random, out);
    };
    if !template.contains("{p}") && random.percent(OPENED) {
        fill(random.pick::<&str>(&OPENINGS), random);
    }
    fill(template, random);
    if random.percent(REMARKED) {
        fill(" ", random);
        fill(random.pick::<&str>(&REMARKS), random);
    }
    if random.percent(ENDED) {
        fill(" ", random);
        fill(random.pick::<&str>(ends), random);
    }
}

/// Appends a template, filling in its placeholders.
fn fill(
    text: &str,
    product: &str,
    (person, pronoun): (&str, &str),
    random: &mut Random,
    out: &mut String,
) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let (slot, after) = after.split_once('}').unwrap_or((after, ""));
        match slot {
            "p" => out.push_str(product),
            "time" => out.push_str(random.pick::<&str>(&TIMES)),
            "person" => out.push_str(person),
            "Person" => {
                out.push_str(&person[..1].to_uppercase());
                out.push_str(&person[1..]);
            }
            "pronoun" => out.push_str(pronoun),
            "place" => out.push_str(random.pick::<&str>(&PLACES)),
            "glad" => out.push_str(random.pick::<&str>(&GLAD)),
            "sad" => out.push_str(random.pick::<&str>(&SAD)),
            _ => {}
        }
        rest = after;
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::seed::Seed;

    #[test]
    fn there_are_enough_templates_and_their_slots_are_known() {
        let known = ["p", "time", "person", "Person", "pronoun", "place", "glad", "sad"];
        let count = TONES.good.len() + TONES.mixed.len() + TONES.bad.len();
        assert!(count >= 120 && count == TEMPLATES.lines().count(), "{count}");
        for slot in TEMPLATES.split('{').skip(1) {
            let name = slot.split('}').next().unwrap();
            assert!(known.contains(&name), "{name}");
        }
    }

    #[test]
    fn few_of_500_reviews_are_repeats_and_most_name_the_product() {
        let mut random = Seed::parse("repeats").unwrap().random("test", "");
        for _ in 0..40 {
            let mut made = std::collections::HashSet::new();
            let mut named = 0;
            for _ in 0..500 {
                let mut review = String::new();
                write("kettle", &mut random, &mut review);
                named += u32::from(review.contains("kettle"));
                made.insert(review);
            }
            assert!(made.len() > 480 && named > 300, "{} {named}", made.len());
        }
    }

    #[test]
    fn tones_have_the_documented_shares() {
        let mut random = Seed::parse("review").unwrap().random("test", "");
        let mut sad = 0;
        for _ in 0..10_000 {
            let mut review = String::new();
            write("{p}<b>", &mut random, &mut review);
            assert!(review.ends_with(['.', '!', '?']), "{review}");
            assert!(!review.replace("{p}<b>", "").contains(['{', '}', '\t']), "{review}");
            sad += u32::from(SAD.iter().any(|word| review.contains(word)));
        }
        // Three of the 23 negative templates contain this word.
        assert!((100..300).contains(&sad), "{sad}");
    }
}
