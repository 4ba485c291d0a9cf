//! Values generated from any seed must pass the checks of the service.
#![no_main]

use std::sync::LazyLock;

use generator::model::names::{self, Part};
use generator::model::numbers::{FIRST_BIRTH, Kind, Sex, Wanted, find};
use generator::model::person::{Limits, Maker};
use generator::model::phone::{self, Validation};
use generator::model::{Seed, card, crypto, iban, imei};
use jiff::civil::{Date, date};
use libfuzzer_sys::fuzz_target;

const TODAY: Date = date(2026, 11, 23);

/// The countries that have identity numbers.
static COUNTRIES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let letters =
        || ('A'..='Z').flat_map(|one| ('A'..='Z').map(move |other| format!("{one}{other}")));
    letters().filter(|country| find(country, Kind::Person).is_some()).collect()
});

fuzz_target!(|data: (&str, u8, u16, Option<bool>)| {
    let (seed, choice, days, male) = data;
    let Ok(seed) = Seed::parse(seed) else { return };
    let (mut random, choice) = (seed.random("fuzz", ""), usize::from(choice));
    let mut text = String::new();
    let brand = &card::CARD_TYPES[choice % card::CARD_TYPES.len()];
    brand.write_number(&mut random, &mut text);
    assert!(card::check(&text, Some(brand)).is_ok(), "{text}");

    text.clear();
    let country = &iban::all()[choice % iban::all().len()];
    country.write(&mut random, &mut text);
    assert!(iban::check(&text, Some(country)).is_ok(), "{text}");

    text.clear();
    let coin = &crypto::COINS[choice % crypto::COINS.len()];
    coin.write(&mut random, &mut text);
    assert!(crypto::check(&text, Some(coin)).is_ok(), "{text}");

    text.clear();
    imei::write(&mut random, &mut text);
    assert_eq!(imei::check(&text), Ok(()), "{text}");

    text.clear();
    let region = &phone::all()[choice % phone::all().len()];
    let numbers = region.numbers().expect("patterns compile");
    numbers.write(&mut random, phone::Format::International, &mut text);
    let valid = matches!(phone::validate(&text, Some(region)), Validation::Valid(_));
    assert!(valid, "{} {text}", region.code);

    let sex = male.map(|male| if male { Sex::Male } else { Sex::Female });
    let born = FIRST_BIRTH.saturating_add(jiff::Span::new().days(days)).min(TODAY);
    let wanted = Wanted { born: (days > 0).then_some(born), sex, ..Wanted::default() };
    let schemes = find(&COUNTRIES[choice % COUNTRIES.len()], Kind::Person).expect("it is listed");
    let number = schemes.make(&mut random, wanted).expect("a number is made for everybody");
    assert_eq!(schemes.check(&number, TODAY), Ok(()), "{} {number} {born}", schemes.country());

    let culture = &names::all()[choice % names::all().len()];
    for write in [names::Culture::write_full, names::Culture::write_address] {
        text.clear();
        write(culture, &mut random, &mut text);
        assert!(is_clean(&text), "{}: {text}", culture.code);
    }
    text.clear();
    culture.write(&mut random, Part::Last, &mut text);
    assert!(is_clean(&text), "{}: {text}", culture.code);
    let maker = Maker::new(culture, TODAY, Limits::default()).expect("patterns compile");
    let person = maker.make(0, &mut random);
    assert!(person.email.is_ascii() && person.email.contains('@'), "{}", person.email);
});

/// Returns whether all placeholders in a string have been expanded.
fn is_clean(text: &str) -> bool {
    let odd = |c: char| c.is_control() || matches!(c, '{' | '}' | '%' | '$' | '@' | '|');
    !text.is_empty() && text.trim() == text && !text.contains("  ") && !text.contains(odd)
}
