//! Generated people with all their data.

use jiff::civil::Date;

use super::age::Ages;
use super::{Employer, email, national, place, work};
use crate::model::card::{Card, CardType, issued};
use crate::model::iban;
use crate::model::names::{Address, Culture, Identity};
use crate::model::numbers::{self, Kind, Schemes, Sex, Wanted};
use crate::model::phone::{self, Format, PatternError, Region};
use crate::model::random::Random;

/// A person from a given culture.
pub struct Person {
    /// The culture.
    pub culture: &'static Culture,
    /// The sex, which matches the name and the national number.
    pub sex: Sex,
    /// The name.
    pub name: Identity,
    /// The birth date, which matches the national number.
    pub born: Date,
    /// An address in the country.
    pub address: Address,
    /// A telephone number in the country, in E.164 format.
    pub phone: String,
    /// An email address at a reserved example domain. Unique within a stream.
    pub email: String,
    /// A username. Unique within a stream.
    pub username: String,
    /// The national identity number, or `None` if the country's numbers aren't supported.
    pub national_number: Option<String>,
    /// A bank account in the country, or `None` if the country doesn't use IBANs.
    pub iban: Option<String>,
    /// A card in the person's name.
    pub card: Card,
}

/// The properties requested by a caller.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// The minimum age in years.
    pub least: Option<u8>,
    /// The maximum age in years.
    pub most: Option<u8>,
    /// The sex.
    pub sex: Option<Sex>,
    /// The birth date. Takes precedence over the ages.
    pub born: Option<Date>,
}

/// Generates people from one culture.
pub struct Maker {
    culture: &'static Culture,
    phone: Option<&'static Region>,
    schemes: Option<Schemes>,
    iban: Option<&'static iban::Country>,
    ages: Ages,
    brands: Vec<(&'static CardType, u16)>,
    limits: Limits,
    /// The reference date for ages and card expiry dates.
    day: Date,
}

impl Maker {
    /// Prepares everything that all people from a culture have in common.
    ///
    /// # Errors
    /// Returns an error if a telephone pattern doesn't compile. A test compiles them all.
    pub fn new(culture: &'static Culture, day: Date, limits: Limits) -> Result<Self, PatternError> {
        let country = culture.country;
        Ok(Self {
            culture,
            phone: phone::find(country)
                .map(|region| region.numbers().map(|_| region))
                .transpose()?,
            schemes: numbers::find(country, Kind::Person),
            iban: iban::find(country),
            ages: Ages::new(country, limits.least, limits.most, day),
            brands: issued(country),
            limits,
            day,
        })
    }

    /// Generates the person at `index` in a stream.
    pub fn make(&self, index: u64, random: &mut Random) -> Person {
        let sex = self.sex(random);
        let born = self.birth(random);
        let name = self.culture.identity(sex == Sex::Female, random);
        let address = self.culture.address(random);
        let mut phone = String::with_capacity(16);
        self.write_phone(&address, random, &mut phone);
        let mut email = String::with_capacity(32);
        self.write_email(&name, index, random, &mut email);
        let mut username = String::with_capacity(16);
        self.write_username(&name, index, random, &mut username);
        let national_number = self.national_number(&name, &address, (sex, born), random);
        let iban = self.iban(random);
        let card = self.card(&name, random);
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

    /// Returns the culture.
    pub fn culture(&self) -> &'static Culture {
        self.culture
    }

    /// Generates a sex.
    pub fn sex(&self, random: &mut Random) -> Sex {
        let sex = if random.percent(50) { Sex::Female } else { Sex::Male };
        self.limits.sex.unwrap_or(sex)
    }

    /// Generates a birth date.
    pub fn birth(&self, random: &mut Random) -> Date {
        let born = self.ages.birth(random);
        self.limits.born.unwrap_or(born)
    }

    /// Replaces `name` with a new one. If `family` is given, the surname is drawn from that.
    pub fn write_name(
        &self,
        sex: Sex,
        family: Option<&mut Random>,
        random: &mut Random,
        name: &mut Identity,
    ) {
        self.culture.write_identity(sex == Sex::Female, family, random, name);
    }

    /// Generates an occupation that fits the person's age.
    pub fn occupation(&self, born: Date, random: &mut Random) -> &'static str {
        let age = self.day.since((jiff::Unit::Year, born)).map_or(0, |span| span.get_years());
        work::occupation(age, random)
    }

    /// Draws an employer number, or returns `None` for someone without an employer.
    pub fn employer_number(&self, occupation: &str, random: &mut Random) -> Option<u64> {
        work::is_employed(occupation).then(|| work::employer_number(random))
    }

    /// Generates the employer with the given number. `random` must be the employer's own stream.
    pub fn employer(&self, number: u64, random: &mut Random) -> Employer {
        work::employer(self.culture, number, random)
    }

    /// Returns the work email address of the person at `index` in a stream, at the domain of the
    /// employer.
    pub fn work_email(&self, name: &Identity, index: u64, employer: &Employer) -> String {
        work::address(name, index, &employer.domain)
    }

    /// Replaces `address` with a new one.
    pub fn write_address(&self, random: &mut Random, address: &mut Address) {
        self.culture.write_parts(random, address);
    }

    /// Appends a telephone number that matches an address.
    pub fn write_phone(&self, address: &Address, random: &mut Random, out: &mut String) {
        let numbers =
            |region: &'static Region| region.numbers_in(&address.city, &address.region).ok();
        if let Some(numbers) = self.phone.and_then(numbers) {
            numbers.write(random, Format::E164, out);
        }
    }

    /// Appends the email address of the person at `index` in a stream.
    pub fn write_email(&self, name: &Identity, index: u64, random: &mut Random, out: &mut String) {
        email::write_address(name, self.culture.language(), index, random, out);
    }

    /// Appends the username of the person at `index` in a stream.
    pub fn write_username(
        &self,
        name: &Identity,
        index: u64,
        random: &mut Random,
        out: &mut String,
    ) {
        email::write_username(name, self.culture.language(), index, random, out);
    }

    /// Generates a national identity number, or returns `None` if the country's numbers aren't
    /// supported.
    pub fn national_number(
        &self,
        name: &Identity,
        address: &Address,
        (sex, born): (Sex, Date),
        random: &mut Random,
    ) -> Option<String> {
        if self.culture.country == "US" {
            return Some(national::american(&address.region, born, random));
        }
        let computed = national::computed(self.culture.country, &address.region, random);
        if computed.is_some() {
            return computed;
        }
        let place = place::code(self.culture.country, address, born);
        let wanted = Wanted { born: Some(born), sex: Some(sex), place };
        let schemes = self.schemes.as_ref()?;
        Some(national::with_name(schemes.make(random, wanted)?, name, schemes))
    }

    /// Generates a bank account, or returns `None` if the country doesn't use IBANs.
    pub fn iban(&self, random: &mut Random) -> Option<String> {
        let country = self.iban?;
        let mut iban = String::with_capacity(34);
        country.write(random, &mut iban);
        Some(iban)
    }

    /// Generates a card.
    pub fn card(&self, name: &Identity, random: &mut Random) -> Card {
        let brand = *random.pick_weighted(&self.brands);
        Card::issue(random, Some(brand), self.day, |_, holder| holder.push_str(&name.latin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::names;
    use crate::model::numbers::REFERENCE_DAY;
    use crate::model::phone::{Validation, validate};
    use crate::model::seed::Seed;

    #[test]
    fn everything_about_a_person_is_valid_in_every_culture() {
        let day = jiff::civil::date(2030, 1, 1);
        for culture in names::all() {
            let maker = Maker::new(culture, day, Limits::default()).unwrap();
            let mut random = Seed::parse("persons").unwrap().random("test", culture.code);
            for index in 0..25 {
                let person = maker.make(index, &mut random);
                let code = culture.code;
                assert!(person.name.full.contains(&person.name.given), "{code}");
                assert!(person.address.line.contains(&person.address.city), "{code}");
                assert!(person.address.line.contains(&person.address.postcode), "{code}");
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
                    assert!(schemes.check(number, day).is_ok(), "{code} {number}");
                }
                assert_eq!(person.iban.is_some(), iban::find(culture.country).is_some());
                assert_eq!(person.card.holder, person.name.latin);
            }
        }
    }

    #[test]
    fn swedish_numbers_encode_birth_date_and_sex() {
        let maker =
            Maker::new(names::find("sv").unwrap(), REFERENCE_DAY, Limits::default()).unwrap();
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

    fn persons(code: &str, limits: Limits, count: u64) -> Vec<Person> {
        let maker = Maker::new(names::find(code).unwrap(), REFERENCE_DAY, limits).unwrap();
        let mut random = Seed::parse("persons").unwrap().random("test", code);
        (0..count).map(|index| maker.make(index, &mut random)).collect()
    }

    #[test]
    fn numbers_encode_the_place_of_the_address() {
        let number = |person: &Person| person.national_number.clone().unwrap();
        for person in persons("fr", Limits::default(), 300) {
            let postcode = &person.address.postcode;
            let department = &number(&person)[5..7];
            assert!(postcode.starts_with(&department[..1]), "{department} {postcode}");
            assert!(department == &postcode[..2] || postcode.starts_with("20"), "{department}");
        }
        for person in persons("it", Limits::default(), 300) {
            let rome = person.address.city == "Roma";
            assert_eq!(&number(&person)[11..15] == "H501", rome, "{}", person.address.city);
        }
        for person in persons("zh_CN", Limits::default(), 300) {
            let expected = match &*person.address.region {
                "北京市" => "1101",
                "广东省" => "44",
                "江苏省" => "32",
                _ => continue,
            };
            assert!(number(&person).starts_with(expected), "{} {expected}", number(&person));
        }
        let limits = Limits { least: Some(40), ..Limits::default() };
        for person in persons("en_US", limits, 300) {
            let texan = person.address.region == "TX";
            let area: u32 = number(&person)[..3].parse().unwrap();
            assert_eq!((449..=467).contains(&area), texan, "{area}");
        }
    }

    #[test]
    fn brazilian_and_pakistani_numbers_encode_state_province_and_sex() {
        let number = |person: &Person| person.national_number.clone().unwrap();
        for person in persons("pt_BR", Limits::default(), 300) {
            let regions = [
                "RS",
                "DF GO MS MT TO",
                "AC AM AP PA RO RR",
                "CE MA PI",
                "AL PB PE RN",
                "BA SE",
                "MG",
                "ES RJ",
                "SP",
                "PR SC",
            ];
            let state = &person.address.region;
            let region = regions.iter().position(|states| states.contains(&**state)).unwrap();
            assert_eq!(number(&person)[8..9], region.to_string(), "{state}");
        }
        for person in persons("en_PK", Limits::default(), 300) {
            let number = number(&person);
            let is_odd = number.ends_with(['1', '3', '5', '7', '9']);
            assert_eq!(is_odd, person.sex == Sex::Male, "{number}");
            let expected = match &*person.address.city {
                "Peshawar" | "Mardan" => "1",
                "Lahore" | "Faisalabad" | "Rawalpindi" => "3",
                "Karachi" | "Hyderabad" => "4",
                "Quetta" => "5",
                "Islamabad" => "6",
                _ => continue,
            };
            assert!(number.starts_with(expected), "{} {number}", person.address.city);
        }
    }

    #[test]
    fn fixed_lines_have_the_area_code_of_the_town() {
        // A town, its area codes, and the possible first digits of its landlines.
        for (code, town, own, fixed) in [
            ("de", "Berlin", "30", &["2", "3", "4", "5", "6", "7", "8", "9"][..]),
            ("fr", "Marseille", "4", &["1", "2", "3", "4", "5"]),
            ("it", "Roma", "06", &["0"]),
            ("en_GB", "London", "20", &["1", "2"]),
            ("es", "Madrid", "91", &["8", "9"]),
            ("en_US", "Houston", "281 346 713 832 621", &[""]),
        ] {
            let mut seen = 0;
            for person in persons(code, Limits::default(), 1_500) {
                let number = match &*person.phone {
                    phone if phone.starts_with("+1") => &phone[2..],
                    phone => &phone[3..],
                };
                let is_fixed = fixed.iter().any(|digits| number.starts_with(digits));
                if is_fixed && person.address.city == town {
                    assert!(own.split(' ').any(|area| number.starts_with(area)), "{town} {number}");
                    seen += 1;
                }
            }
            assert!(seen > 0, "{town}");
        }
    }

    #[test]
    fn ages_are_within_limits_and_cards_are_issued_in_the_country() {
        let born = jiff::civil::date(1984, 2, 29);
        let limits = Limits { sex: Some(Sex::Female), born: Some(born), ..Limits::default() };
        for person in persons("de", limits, 100) {
            assert_eq!((person.sex, person.born), (Sex::Female, born));
            let brands = ["Visa", "Mastercard", "AmericanExpress"];
            assert!(brands.contains(&person.card.kind.name), "{}", person.card.kind.name);
        }
        let limits = Limits { least: Some(3), most: Some(5), ..Limits::default() };
        for person in persons("ja", limits, 100) {
            assert!((2020..=2022).contains(&person.born.year()), "{}", person.born);
        }
    }
}
