//! A generated person with all data.

use jiff::ToSpan;
use jiff::civil::Date;

use super::{email, national};
use crate::model::card::Card;
use crate::model::iban;
use crate::model::names::{Address, Culture, Identity};
use crate::model::numbers::{self, Kind, REFERENCE_DAY, Schemes, Sex, Wanted};
use crate::model::phone::{self, Format, Numbers, PatternError};
use crate::model::random::Random;

/// The minimum and maximum age. Children have neither cards nor accounts.
const AGES: (u64, u64) = (18, 89);

/// A person of a culture.
pub struct Person {
    /// The culture.
    pub culture: &'static Culture,
    /// Sex, consistent with name and number.
    pub sex: Sex,
    /// The name.
    pub name: Identity,
    /// Birth date, consistent with the number.
    pub born: Date,
    /// An address in the country.
    pub address: Address,
    /// A telephone number of the country in E.164.
    pub phone: String,
    /// An e-mail address at a domain reserved for examples, unique within a stream.
    pub email: String,
    /// A user name, unique within a stream.
    pub username: String,
    /// The national identity number, or `None` if its rule is not supported.
    pub national_number: Option<String>,
    /// A bank account in the country, or `None` if the country has no IBANs.
    pub iban: Option<String>,
    /// A card of the person.
    pub card: Card,
}

/// Generates persons of one culture.
pub struct Maker {
    culture: &'static Culture,
    phone: Option<Numbers<'static>>,
    schemes: Option<Schemes>,
    iban: Option<&'static iban::Country>,
    /// The reference day for the expiry of cards.
    day: Date,
}

impl Maker {
    /// Prepares what all persons of a culture share.
    ///
    /// # Errors
    /// A telephone pattern does not compile. A test compiles all of them.
    pub fn new(culture: &'static Culture, day: Date) -> Result<Self, PatternError> {
        let country = culture.country;
        Ok(Self {
            culture,
            phone: phone::find(country).map(phone::Region::numbers).transpose()?,
            schemes: numbers::find(country, Kind::Person),
            iban: iban::find(country),
            day,
        })
    }

    /// Generates the person at `index` of a stream.
    pub fn make(&self, index: u64, random: &mut Random) -> Person {
        let female = random.percent(50);
        let sex = if female { Sex::Female } else { Sex::Male };
        let (age, days) = (random.between(AGES.0, AGES.1) as i64, random.below(365) as i64);
        let born = REFERENCE_DAY.saturating_sub(age.years()).saturating_sub(days.days());
        let name = self.culture.identity(female, random);
        let address = self.culture.address(random);
        let mut phone = String::with_capacity(16);
        if let Some(numbers) = self.phone {
            numbers.write(random, Format::E164, &mut phone);
        }
        let language = self.culture.language();
        let email = email::address(&name, language, index, random);
        let username = email::username(&name, language, index, random);
        let national_number =
            self.national_number(&name, Wanted { born: Some(born), sex: Some(sex) }, random);
        let iban = self.iban.map(|country| {
            let mut iban = String::with_capacity(34);
            country.write(random, &mut iban);
            iban
        });
        let card = Card::issue(random, None, self.day, |_, holder| holder.push_str(&name.latin));
        let culture = self.culture;
        Person {
            culture,
            sex,
            name,
            born,
            address,
            phone,
            email,
            username,
            national_number,
            iban,
            card,
        }
    }

    fn national_number(
        &self,
        name: &Identity,
        wanted: Wanted,
        random: &mut Random,
    ) -> Option<String> {
        if let Some(number) = national::computed(self.culture.country, random) {
            return Some(number);
        }
        let schemes = self.schemes.as_ref()?;
        Some(national::with_name(schemes.make(random, wanted)?, name, schemes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::names;
    use crate::model::phone::{Validation, validate};
    use crate::model::seed::Seed;

    #[test]
    fn everything_about_a_person_is_valid_in_every_culture() {
        let day = jiff::civil::date(2030, 1, 1);
        for culture in names::all() {
            let maker = Maker::new(culture, day).unwrap();
            let mut random = Seed::parse("persons").unwrap().random("test", culture.code);
            for index in 0..25 {
                let person = maker.make(index, &mut random);
                let code = culture.code;
                assert!(person.name.full.contains(&person.name.given), "{code}");
                assert!(person.address.line.contains(&person.address.city), "{code}");
                assert!(
                    person.address.postcode.iter().all(|p| person.address.line.contains(p)),
                    "{code}"
                );
                let region = phone::find(culture.country);
                assert!(matches!(validate(&person.phone, region), Validation::Valid(_)), "{code}");
                let (local, domain) = person.email.split_once('@').unwrap();
                assert!(
                    domain.starts_with("example.") && local.is_ascii(),
                    "{code} {}",
                    person.email
                );
                assert!(!local.contains(char::is_whitespace), "{code} {}", person.email);
                if let (Some(number), Some(schemes)) = (&person.national_number, &maker.schemes) {
                    assert!(schemes.check(number, REFERENCE_DAY).is_ok(), "{code} {number}");
                }
                assert_eq!(person.iban.is_some(), iban::find(culture.country).is_some());
                assert_eq!(person.card.holder, person.name.latin);
            }
        }
    }

    #[test]
    fn swedish_numbers_tell_birth_and_sex() {
        let maker = Maker::new(names::find("sv").unwrap(), REFERENCE_DAY).unwrap();
        let mut random = Seed::parse("persons").unwrap().random("test", "sv");
        for index in 0..200 {
            let person = maker.make(index, &mut random);
            let digits: Vec<u8> =
                person.national_number.unwrap().bytes().filter(u8::is_ascii_digit).collect();
            let last = &digits[digits.len() - 10..];
            let born = person.born.strftime("%y%m%d").to_string();
            assert_eq!(&last[..6], born.as_bytes());
            assert_eq!(last[8].is_multiple_of(2), person.sex == Sex::Female);
        }
    }
}
