//! `make` and `check`: the same values as over HTTP, in bulk and without a server.

use std::io::{BufRead, Write};
use std::process::ExitCode;

use anyhow::{Context, bail};
use jiff::civil::Date;

use crate::model::numbers::{self, Kind};
use crate::model::random::Random;
use crate::model::seed::Seed;
use crate::model::{card, check, crypto, iban, imei, names, phone, ssn};

/// What is made or checked.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Subject {
    /// Card numbers; of a brand
    Card,
    /// Crypto addresses; of a coin (made only)
    Crypto,
    /// Bank account numbers; of a country
    Iban,
    /// Device identifiers
    Imei,
    /// Full names (made only)
    Name,
    /// Telephone numbers; of a country
    Phone,
    /// Numbers of persons; of a country
    Person,
    /// Social security numbers of the United States
    Ssn,
    /// Tax numbers; of a country
    Vat,
}

/// Makes values, one a line.
#[derive(Clone, Debug, clap::Args)]
pub struct Make {
    /// What to make
    subject: Subject,
    /// Brand, coin or country, where the subject has such
    of: Option<String>,
    /// How many
    #[arg(long, short = 'n', default_value_t = 1)]
    count: u64,
    /// Makes the values repeatable
    #[arg(long)]
    seed: Option<String>,
}

/// Checks values, one a line of stdin: prints `ok` or what is wrong, and exits with 1 if any is.
#[derive(Clone, Debug, clap::Args)]
pub struct Check {
    /// What to check
    subject: Subject,
    /// Brand or country, where the subject has such
    of: Option<String>,
}

type Maker = Box<dyn FnMut(&mut Random, &mut String) -> anyhow::Result<()>>;

impl Make {
    /// Writes the values to `out`.
    ///
    /// # Errors
    /// One sentence for the operator.
    pub fn run_to(self, today: Date, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
        let seed = self.seed.as_deref().map_or_else(Seed::fresh, Seed::parse)?;
        let mut random = seed.random("make", "");
        let mut make = self.maker(today)?;
        let mut line = String::new();
        for _ in 0..self.count {
            line.clear();
            make(&mut random, &mut line)?;
            line.push('\n');
            out.write_all(line.as_bytes())?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn maker(&self, today: Date) -> anyhow::Result<Maker> {
        let of = self.of.as_deref();
        Ok(match self.subject {
            Subject::Imei => plain(imei::write),
            Subject::Ssn => plain(ssn::write),
            Subject::Name => plain(|random, out| names::american().write_full(random, out)),
            Subject::Card => {
                let brand = named(of)?;
                let kind = card::find(brand).with_context(|| unknown(brand))?;
                plain(|random, out| kind.write_number(random, out))
            }
            Subject::Crypto => {
                let coin = named(of)?;
                let coin = crypto::find(coin).with_context(|| unknown(coin))?;
                plain(|random, out| coin.write(random, out))
            }
            Subject::Iban => {
                let code = named(of)?;
                let country = iban::find(code).with_context(|| unknown(code))?;
                plain(|random, out| country.write(random, out))
            }
            Subject::Phone => {
                let code = named(of)?;
                let region = phone::find(code).with_context(|| unknown(code))?;
                Box::new(|random, out| Ok(region.write(random, out)?))
            }
            Subject::Vat => number(of, Kind::Vat, today)?,
            Subject::Person => number(of, Kind::Person, today)?,
        })
    }
}

fn plain(write: impl Fn(&mut Random, &mut String) + 'static) -> Maker {
    Box::new(move |random, out| {
        write(random, out);
        Ok(())
    })
}

fn number(of: Option<&str>, kind: Kind, today: Date) -> anyhow::Result<Maker> {
    let country = named(of)?;
    let schemes = numbers::find(country, kind).with_context(|| unknown(country))?;
    Ok(Box::new(move |random, out| {
        let number = schemes.make(random, today).context("no number could be made")?;
        out.push_str(&number);
        Ok(())
    }))
}

impl Check {
    /// Checks the lines of `input`.
    ///
    /// # Errors
    /// One sentence for the operator.
    pub fn run_to(
        self,
        today: Date,
        input: impl BufRead,
        out: &mut dyn Write,
    ) -> anyhow::Result<ExitCode> {
        let mut all_right = true;
        for line in input.lines() {
            let reason = self.fault(&line?, today)?;
            all_right &= reason.is_none();
            writeln!(out, "{}", reason.as_deref().unwrap_or("ok"))?;
        }
        Ok(if all_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// What is wrong with a value.
    fn fault(&self, text: &str, today: Date) -> anyhow::Result<Option<String>> {
        let of = self.of.as_deref();
        let unless = |right: bool| (!right).then(|| "The value is not right.".to_owned());
        Ok(match self.subject {
            Subject::Imei => unless(imei::accepts(text)),
            Subject::Card => {
                let digits = text.bytes().all(|byte| byte.is_ascii_digit());
                let brand = of.map(named_brand).transpose()?;
                let known = card::detect(text);
                let fits = brand.map_or(!known.is_empty(), |brand| known.contains(&brand));
                unless(digits && fits && check::luhn_holds(text.as_bytes()))
            }
            Subject::Iban => {
                let code = of.or_else(|| text.get(..2)).unwrap_or_default();
                let country = iban::find(code).with_context(|| unknown(code))?;
                unless(country.accepts(text))
            }
            Subject::Phone => {
                let region = of.map(|code| phone::find(code).with_context(|| unknown(code)));
                match phone::judge(text, region.transpose()?) {
                    phone::Judgement::Valid(_) => None,
                    phone::Judgement::Invalid(reason) => Some(reason),
                }
            }
            Subject::Ssn => verdict("US", Kind::Person, text, today)?,
            Subject::Vat => verdict(named(of)?, Kind::Vat, text, today)?,
            Subject::Person => verdict(named(of)?, Kind::Person, text, today)?,
            Subject::Crypto | Subject::Name => bail!("these values cannot be checked"),
        })
    }
}

fn verdict(country: &str, kind: Kind, text: &str, today: Date) -> anyhow::Result<Option<String>> {
    let schemes = numbers::find(country, kind).with_context(|| unknown(country))?;
    Ok(schemes.check(text, today).err().map(|reject| reject.to_string()))
}

fn named_brand(name: &str) -> anyhow::Result<&'static crate::model::CardType> {
    card::find(name).with_context(|| unknown(name))
}

fn named(of: Option<&str>) -> anyhow::Result<&str> {
    of.context("say of which brand, coin or country")
}

fn unknown(name: &str) -> String {
    format!("{name} is not known")
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn made(subject: Subject, of: Option<&str>, count: u64) -> String {
        let of = of.map(str::to_owned);
        let make = Make { subject, of, count, seed: Some("commands".to_owned()) };
        let mut out = Vec::new();
        make.run_to(date(2026, 11, 20), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn verdicts(subject: Subject, of: Option<&str>, lines: &str) -> String {
        let check = Check { subject, of: of.map(str::to_owned) };
        let mut out = Vec::new();
        check.run_to(date(2026, 11, 20), lines.as_bytes(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_made_is_accepted() {
        for (subject, of) in [
            (Subject::Card, Some("Visa")),
            (Subject::Iban, Some("FR")),
            (Subject::Imei, None),
            (Subject::Phone, Some("IT")),
            (Subject::Person, Some("IT")),
            (Subject::Ssn, None),
            (Subject::Vat, Some("IT")),
        ] {
            let lines = made(subject, of, 20);
            assert_eq!(lines.lines().count(), 20);
            assert_eq!(verdicts(subject, of, &lines), "ok\n".repeat(20), "{lines}");
        }
    }

    #[test]
    fn wrong_values_are_refused_with_a_reason() {
        assert_eq!(
            verdicts(Subject::Vat, Some("DE"), "DE136695976\nDE136695977\n"),
            "ok\nThe USt-IdNr has a check digit mismatch.\n"
        );
        assert_eq!(
            verdicts(Subject::Card, None, "4111111111111112\n"),
            "The value is not right.\n"
        );
        assert_eq!(verdicts(Subject::Imei, None, "490154203237518\n"), "The value is not right.\n");
    }

    #[test]
    fn the_same_seed_makes_the_same_values() {
        assert_eq!(made(Subject::Name, None, 5), made(Subject::Name, None, 5));
        assert!(made(Subject::Crypto, Some("btc"), 9).starts_with(&made(
            Subject::Crypto,
            Some("btc"),
            3
        )));
    }

    #[test]
    fn unknown_names_are_an_error() {
        let make = Make { subject: Subject::Iban, of: Some("ZZ".to_owned()), count: 1, seed: None };
        let error = make.run_to(date(2026, 11, 20), &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "ZZ is not known");
        let check = Check { subject: Subject::Name, of: None };
        let error = check.run_to(date(2026, 11, 20), "x".as_bytes(), &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "these values cannot be checked");
    }
}
