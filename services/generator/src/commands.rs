//! `make` and `check`: the same values as over HTTP, in bulk and without a server.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use jiff::civil::Date;

use crate::model::numbers::{self, Kind};
use crate::model::random::Random;
use crate::model::seed::Seed;
use crate::model::{CARD_TYPES, card, crypto, iban, imei, names, phone, ssn};

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

/// Tells what is wrong with a value.
type Judge = Box<dyn Fn(&str) -> Option<String>>;

impl Make {
    /// Writes the values to `out`, until it takes no more.
    ///
    /// # Errors
    /// One sentence for the operator.
    pub fn run_to(self, today: Date, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
        unless_closed(self.write_to(today, out))
    }

    fn write_to(self, today: Date, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
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
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }

    fn maker(&self, today: Date) -> anyhow::Result<Maker> {
        let of = self.of.as_deref();
        Ok(match self.subject {
            Subject::Imei => alone(of, plain(imei::write))?,
            Subject::Ssn => alone(of, plain(ssn::write))?,
            Subject::Name => {
                alone(of, plain(|random, out| names::american().write_full(random, out)))?
            }
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
    /// Checks the lines of `input`, until `out` takes no more.
    ///
    /// # Errors
    /// One sentence for the operator.
    pub fn run_to(
        self,
        today: Date,
        input: impl BufRead,
        out: &mut dyn Write,
    ) -> anyhow::Result<ExitCode> {
        unless_closed(self.write_to(today, input, out))
    }

    fn write_to(
        self,
        today: Date,
        input: impl BufRead,
        out: &mut dyn Write,
    ) -> anyhow::Result<ExitCode> {
        let judge = self.judge(today)?;
        let mut all_right = true;
        for line in input.lines() {
            let reason = judge(&line?);
            all_right &= reason.is_none();
            writeln!(out, "{}", reason.as_deref().unwrap_or("ok"))?;
        }
        out.flush()?;
        Ok(if all_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn judge(&self, today: Date) -> anyhow::Result<Judge> {
        let of = self.of.as_deref();
        Ok(match self.subject {
            Subject::Imei => alone(of, right(imei::accepts))?,
            Subject::Card => match of {
                None => right(|text| CARD_TYPES.iter().any(|kind| kind.accepts(text))),
                Some(name) => {
                    let kind = card::find(name).with_context(|| unknown(name))?;
                    right(|text| kind.accepts(text))
                }
            },
            Subject::Iban => {
                let country = |code| iban::find(code).with_context(|| unknown(code));
                let country = of.map(country).transpose()?;
                Box::new(move |text| account_fault(text, country))
            }
            Subject::Phone => {
                let region = |code| phone::find(code).with_context(|| unknown(code));
                let region = of.map(region).transpose()?;
                Box::new(move |text| match phone::judge(text, region) {
                    phone::Judgement::Valid(_) => None,
                    phone::Judgement::Invalid(reason) => Some(reason),
                })
            }
            Subject::Ssn => alone(of, verdicts("US", Kind::Person, today)?)?,
            Subject::Vat => verdicts(named(of)?, Kind::Vat, today)?,
            Subject::Person => verdicts(named(of)?, Kind::Person, today)?,
            Subject::Crypto | Subject::Name => bail!("these values cannot be checked"),
        })
    }
}

const WRONG: &str = "The value is not right.";

fn right(accepts: impl Fn(&str) -> bool + 'static) -> Judge {
    Box::new(move |text| (!accepts(text)).then(|| WRONG.to_owned()))
}

/// What is wrong with an account number of a country, else of the one that it names itself.
fn account_fault(text: &str, country: Option<&iban::Country>) -> Option<String> {
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let plain = plain.to_ascii_uppercase();
    let country = match (country, plain.get(..2)) {
        (Some(country), _) => country,
        (None, Some(code)) => match iban::find(code) {
            Some(country) => country,
            None => return Some(unknown(code)),
        },
        (None, None) => return Some(WRONG.to_owned()),
    };
    (!country.accepts(&plain)).then(|| WRONG.to_owned())
}

fn verdicts(country: &str, kind: Kind, today: Date) -> anyhow::Result<Judge> {
    let schemes = numbers::find(country, kind).with_context(|| unknown(country))?;
    Ok(Box::new(move |text| schemes.check(text, today).err().map(|reject| reject.to_string())))
}

/// Whoever reads the values may stop before their end, which is no failure.
fn unless_closed(outcome: anyhow::Result<ExitCode>) -> anyhow::Result<ExitCode> {
    outcome.or_else(|error| match error.downcast_ref::<io::Error>().map(io::Error::kind) {
        Some(io::ErrorKind::BrokenPipe) => Ok(ExitCode::SUCCESS),
        _ => Err(error),
    })
}

/// Refuses what the operator named beside a subject that has no kinds.
fn alone<T>(of: Option<&str>, subject: T) -> anyhow::Result<T> {
    ensure!(of.is_none(), "{} is one too many: there is only one kind", of.unwrap_or_default());
    Ok(subject)
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
    fn accounts_are_checked_line_by_line_in_any_spelling() {
        assert_eq!(
            verdicts(
                Subject::Iban,
                None,
                "DE89370400440532013001\nZZ89370400440532013000\n\nöä\nno93 8601 1117 947\n\
                 be43 0689 9999 9501\n"
            ),
            "The value is not right.\nZZ is not known\nThe value is not right.\nö is not \
             known\nok\nok\n"
        );
        let lines = "be43068999999501\nDE89370400440532013000\n";
        assert_eq!(verdicts(Subject::Iban, Some("be"), lines), "ok\nThe value is not right.\n");
    }

    #[test]
    fn cards_have_a_length_of_their_brand() {
        // All of them pass Luhn.
        let lines = "4111111111111111\n41111111111111113\n411111111111116\n30569309025904\n";
        let verdict = "The value is not right.\n";
        assert_eq!(verdicts(Subject::Card, None, lines), format!("ok\n{verdict}{verdict}ok\n"));
        assert_eq!(
            verdicts(Subject::Card, Some("visa"), lines),
            format!("ok\n{verdict}{verdict}{verdict}")
        );
    }

    #[test]
    fn subjects_without_kinds_take_none() {
        for (subject, of) in [(Subject::Name, "fr_FR"), (Subject::Imei, "FR"), (Subject::Ssn, "US")]
        {
            let make = Make { subject, of: Some(of.to_owned()), count: 1, seed: None };
            let error = make.run_to(date(2026, 11, 20), &mut Vec::new()).unwrap_err();
            assert_eq!(error.to_string(), format!("{of} is one too many: there is only one kind"));
        }
        let check = Check { subject: Subject::Imei, of: Some("FR".to_owned()) };
        assert!(check.run_to(date(2026, 11, 20), "1".as_bytes(), &mut Vec::new()).is_err());
    }

    /// Fails as a pipe does whose reader is gone, or as a full disk.
    struct Broken(io::ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    #[test]
    fn a_closed_pipe_is_success_and_a_full_disk_is_not() {
        let run = |kind, buffered: bool| {
            let make = Make { subject: Subject::Imei, of: None, count: 9, seed: None };
            let check = Check { subject: Subject::Imei, of: None };
            let mut out: Box<dyn Write> = match buffered {
                true => Box::new(io::BufWriter::new(Broken(kind))),
                false => Box::new(Broken(kind)),
            };
            let made = make.run_to(date(2026, 11, 20), &mut out).is_ok();
            assert_eq!(check.run_to(date(2026, 11, 20), "1\n".as_bytes(), &mut out).is_ok(), made);
            made
        };
        for buffered in [false, true] {
            assert!(run(io::ErrorKind::BrokenPipe, buffered));
            assert!(!run(io::ErrorKind::StorageFull, buffered));
        }
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
