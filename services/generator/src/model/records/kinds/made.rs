//! Types that reuse the generators behind the service's other operations.

use jiff::civil::Date;

use crate::model::numbers::{self, FIRST_BIRTH, Kind, LAST_BIRTH, Sex, Wanted};
use crate::model::random::Random;
use crate::model::records::cell::Cell;
use crate::model::records::fault::Faults;
use crate::model::records::field::{Make, Row};
use crate::model::records::members::Members;
use crate::model::text::{Classes, Lorem, Unit, Vocabulary, sampled};
use crate::model::{crypto, iban, imei, names, phone, suggestion};

/// Number of words that cost as much as one short value.
const WORDS_OF_A_COST: u64 = 10;
/// Maximum number of characters in the words for a company name.
const LONGEST_WORDS: usize = 100;
/// Cost of a paragraph.
const COST_OF_A_PARAGRAPH: u64 = 10;
/// Cost of a national number, in addition to the cost of a short value. It is high because the
/// number's rules reject most samples.
pub const COST_OF_A_NATIONAL_NUMBER: u64 = 15;
/// Number of password characters that cost as much as one short value.
const LETTERS_OF_A_COST: usize = 64;

/// A string that is appended by a function, and its additional cost.
struct Plain<F>(F, u64);

impl<F: Fn(&mut Random, &mut String)> Make for Plain<F> {
    fn write(&self, _: u64, random: &mut Random, _: &mut Row, cell: &mut Cell) {
        (self.0)(random, cell.begin());
    }

    fn more_cost(&self) -> u64 {
        self.1
    }
}

/// A value or null that is set by a function, and its additional cost.
struct Set<F>(F, u64);

impl<F: Fn(&mut Random, &mut Cell)> Make for Set<F> {
    fn write(&self, _: u64, random: &mut Random, _: &mut Row, cell: &mut Cell) {
        (self.0)(random, cell);
    }

    fn more_cost(&self) -> u64 {
        self.1
    }
}

fn plain(write: impl Fn(&mut Random, &mut String) + 'static) -> Box<dyn Make> {
    long(0, write)
}

fn long(more_cost: u64, write: impl Fn(&mut Random, &mut String) + 'static) -> Box<dyn Make> {
    Box::new(Plain(write, more_cost))
}

/// Generates telephone numbers, without duplicates if the field is unique.
struct Phones {
    numbers: phone::Numbers<'static>,
    format: phone::Format,
}

impl Make for Phones {
    fn write(&self, _: u64, random: &mut Random, _: &mut Row, cell: &mut Cell) {
        self.numbers.write(random, self.format, cell.begin());
    }

    fn space(&self) -> Option<u64> {
        Some(self.numbers.count())
    }

    fn write_nth(&self, nth: u64, _: &mut Row, cell: &mut Cell) {
        self.numbers.write_nth(nth, self.format, cell.begin());
    }
}

/// Looks up a value by the name in `member`. `list` is the operation that lists all valid names,
/// for the error message.
fn named<T>(
    members: &mut Members<'_>,
    member: &'static str,
    default: &str,
    list: &str,
    faults: &mut Faults,
    find: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    let name = members.text(member, faults).unwrap_or(default);
    let found = find(name);
    if found.is_none() {
        faults.add(members.at(member), format!("{name} is unknown; {list} lists the known ones"));
    }
    found
}

/// Whether to split card numbers and IBANs into groups.
pub const SPELLINGS: [(&str, bool); 2] = [("plain", false), ("pretty", true)];

/// Reads the type `iban`: `country` (DE) and `format` (plain).
pub fn ibans(members: &mut Members<'_>, faults: &mut Faults) -> Option<Box<dyn Make>> {
    let country = named(members, "country", "DE", "/api/Finance/Countries", faults, iban::find);
    let is_pretty = members.word("format", &SPELLINGS, faults);
    let (country, is_pretty) = (country?, is_pretty?);
    Some(plain(move |random, out| {
        country.write(random, out);
        if is_pretty {
            *out = iban::grouped(out);
        }
    }))
}

/// Telephone number formats.
const PHONE_FORMATS: [(&str, phone::Format); 4] = [
    ("e164", phone::Format::E164),
    ("international", phone::Format::International),
    ("national", phone::Format::National),
    ("rfc3966", phone::Format::Rfc3966),
];

/// Reads the type `phone`: `country` (US), `format` (e164) and `fictional` (false).
pub fn phones(members: &mut Members<'_>, faults: &mut Faults) -> Option<Box<dyn Make>> {
    let region = named(members, "country", "US", "/api/Phone/Countries", faults, phone::find);
    let format = members.word("format", &PHONE_FORMATS, faults);
    let is_fictional = members.flag("fictional", faults);
    let (region, format) = (region?, format?);
    let numbers = match is_fictional {
        true => region.fictional_numbers(),
        false => region.numbers().map(Some),
    };
    match numbers {
        Ok(Some(numbers)) => Some(Box::new(Phones { numbers, format })),
        Ok(None) => {
            let known: Vec<_> = phone::regions_with_fiction().collect();
            let text = format!("is only possible for {}", known.join(", "));
            faults.add(members.at("fictional"), text);
            None
        }
        Err(_) => {
            faults.add(members.at("country"), "has a numbering plan that cannot be parsed");
            None
        }
    }
}

/// Returns the generator for the type `imei`.
pub fn imeis() -> Box<dyn Make> {
    plain(imei::write)
}

/// Reads `sex` (any).
pub fn sex(members: &mut Members<'_>, faults: &mut Faults) -> Option<Sex> {
    let sexes = [("any", None), ("female", Some(Sex::Female)), ("male", Some(Sex::Male))];
    members.word("sex", &sexes, faults).flatten()
}

/// Reads `birthDate` (any), a date that isn't after `day` or [`LAST_BIRTH`].
pub fn birth(members: &mut Members<'_>, day: Date, faults: &mut Faults) -> Option<Date> {
    let text = members.text("birthDate", faults)?;
    let last = day.min(LAST_BIRTH);
    let born = text.parse().ok().filter(|born| (FIRST_BIRTH..=last).contains(born));
    if born.is_none() {
        let text = format!("must be a date from {FIRST_BIRTH} to {last}");
        faults.add(members.at("birthDate"), text);
    }
    born
}

/// Reads the types `socialNumber` and `vat`: `country`. For `socialNumber`, also reads `sex` and
/// `birthDate`.
pub fn national(
    members: &mut Members<'_>,
    kind: Kind,
    day: Date,
    faults: &mut Faults,
) -> Option<Box<dyn Make>> {
    let before = faults.count();
    let wanted = match kind {
        Kind::Person => {
            Wanted { sex: sex(members, faults), born: birth(members, day, faults), place: None }
        }
        Kind::Vat => Wanted::default(),
    };
    let find = |code: &str| numbers::find(code, kind);
    let (default, list) = match kind {
        Kind::Person => ("SE", "the document of /api/SocialNumber"),
        Kind::Vat => ("DE", "the document of /api/Finance/Vat"),
    };
    let schemes = named(members, "country", default, list, faults, find)?;
    let make = move |random: &mut Random, cell: &mut Cell| {
        cell.set_text(schemes.make(random, wanted).as_deref());
    };
    (faults.count() == before).then(|| Box::new(Set(make, COST_OF_A_NATIONAL_NUMBER)) as _)
}

/// Reads the type `crypto`: `coin` (Bitcoin).
pub fn coins(members: &mut Members<'_>, faults: &mut Faults) -> Option<Box<dyn Make>> {
    let list = "/api/Finance/CryptoAddress/Types";
    let coin = named(members, "coin", "Bitcoin", list, faults, crypto::find)?;
    Some(plain(move |random, out| coin.write(random, out)))
}

/// Reads the type `company`: `words` that the names contain. If missing, the names come from a
/// culture.
pub fn companies(
    members: &mut Members<'_>,
    culture: &'static names::Culture,
    faults: &mut Faults,
) -> Option<Box<dyn Make>> {
    if members.value("words").is_none() {
        return Some(plain(move |random, out| culture.write_company(random, out)));
    }
    let words = members.text("words", faults)?.to_owned();
    if words.trim().is_empty() || words.chars().count() > LONGEST_WORDS {
        let text = format!("must have 1 to {LONGEST_WORDS} characters, not only blanks");
        faults.add(members.at("words"), text);
        return None;
    }
    Some(plain(move |random, out| out.push_str(&suggestion::suggest_one(&words, random))))
}

/// Reads the type `text`: `words` (10) or `paragraphs`, and `vocabulary` (latin).
pub fn texts(members: &mut Members<'_>, faults: &mut Faults) -> Option<Box<dyn Make>> {
    let words = members.integer("words", 10, (1, 1_000), faults) as u64;
    let paragraphs = members.integer("paragraphs", 0, (0, 20), faults) as u64;
    let (unit, number) =
        if paragraphs > 0 { (Unit::Paragraphs, paragraphs) } else { (Unit::Words, words) };
    let vocabularies = [("latin", Vocabulary::Latin), ("business", Vocabulary::Business)];
    let vocabulary = members.word("vocabulary", &vocabularies, faults)?;
    let more_cost = match unit {
        Unit::Paragraphs => paragraphs * COST_OF_A_PARAGRAPH,
        _ => (words - 1) / WORDS_OF_A_COST,
    };
    Some(long(more_cost, move |random, out| {
        let source = Random::of_row([random.bits(), random.bits()], 0);
        let mut lorem = Lorem::new(source, vocabulary, unit, number).without_opening();
        let mut bytes = std::mem::take(out).into_bytes();
        while lorem.push(&mut bytes) {}
        // The text is always ASCII.
        *out = String::from_utf8(bytes).unwrap_or_default();
        if unit == Unit::Paragraphs {
            *out = out.replace("<br>", "\n\n");
        }
    }))
}

/// Reads the type `password`: `length` (12), and `digits`, `upper` and `special` (all false). The
/// passwords are reproducible, so they must only be used for tests.
pub fn passwords(members: &mut Members<'_>, faults: &mut Faults) -> Box<dyn Make> {
    let length = members.integer("length", 12, (3, 250), faults) as usize;
    let classes = Classes {
        digits: members.flag("digits", faults),
        upper: members.flag("upper", faults),
        special: members.flag("special", faults),
    };
    let more_cost = (length / LETTERS_OF_A_COST) as u64;
    long(more_cost, move |random, out| out.push_str(&sampled(random, length, classes)))
}
