//! The `check` subcommand, which validates values in bulk without a server.

use std::io::{BufRead, Write};
use std::process::ExitCode;

use anyhow::{Context, bail};
use jiff::civil::Date;

use super::lines::{Line, Lines};
use super::subject::{Subject, kind_of, unknown, unless_closed, without_kind};
use crate::model::numbers::{self, Kind};
use crate::model::{card, crypto, iban, imei, phone};

/// Checks the values on standard input, one per line. Prints `ok` or the error for each, and exits
/// with status 1 if any value is invalid.
#[derive(Clone, Debug, clap::Args)]
pub struct CheckCommand {
    /// Kind of value to check
    pub subject: Subject,
    /// Brand, coin or country, if the subject has one
    #[arg(value_name = "KIND")]
    pub of: Option<String>,
}

/// Returns the error message for a value, or `None` if the value is valid.
type Checker = Box<dyn Fn(&str) -> Option<String>>;

impl CheckCommand {
    /// Checks each line of `input` until EOF or until `out` is closed.
    ///
    /// # Errors
    /// Returns an error if the input cannot be read, the output cannot be written, or a brand, coin
    /// or country is unknown.
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
        let check = self.checker(today)?;
        let mut lines = Lines::new(input);
        let mut all_right = true;
        while let Some(line) = lines.next()? {
            let reason = match line {
                Line::Text(text) => check(text),
                Line::NotUtf8 => Some("The line is not UTF-8 text.".to_owned()),
                Line::TooLong => Some("The line is too long.".to_owned()),
            };
            all_right &= reason.is_none();
            writeln!(out, "{}", reason.as_deref().unwrap_or("ok"))?;
        }
        out.flush()?;
        Ok(if all_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn checker(&self, today: Date) -> anyhow::Result<Checker> {
        let of = self.of.as_deref();
        Ok(match self.subject {
            Subject::Imei => without_kind(of, fault_of(imei::check))?,
            Subject::Card => {
                let brand = |name| card::find(name).with_context(|| unknown(name));
                let brand = of.map(brand).transpose()?;
                fault_of(move |text| card::check(text, brand))
            }
            Subject::Crypto => {
                let coin = |name| crypto::find(name).with_context(|| unknown(name));
                let coin = of.map(coin).transpose()?;
                fault_of(move |text| crypto::check(text, coin))
            }
            Subject::Iban => {
                let country = |code| iban::find(code).with_context(|| unknown(code));
                let country = of.map(country).transpose()?;
                fault_of(move |text| iban::check(text, country))
            }
            Subject::Phone => {
                let region = |code| phone::find(code).with_context(|| unknown(code));
                let region = of.map(region).transpose()?;
                Box::new(move |text| match phone::validate(text, region) {
                    phone::Validation::Valid(_) => None,
                    phone::Validation::Invalid(reason) => Some(reason),
                })
            }
            Subject::Ssn => without_kind(of, verdicts("US", Kind::Person, today)?)?,
            Subject::Vat => verdicts(kind_of(of)?, Kind::Vat, today)?,
            Subject::Person => verdicts(kind_of(of)?, Kind::Person, today)?,
            Subject::Name => bail!("names cannot be checked"),
            Subject::Persons | Subject::Addresses | Subject::Businesses | Subject::Texts => {
                bail!("{} cannot be checked", self.subject.table())
            }
        })
    }
}

fn fault_of<T, E: ToString>(check: impl Fn(&str) -> Result<T, E> + 'static) -> Checker {
    Box::new(move |text| check(text).err().map(|fault| fault.to_string()))
}

fn verdicts(country: &str, kind: Kind, today: Date) -> anyhow::Result<Checker> {
    let schemes = numbers::find(country, kind).with_context(|| unknown(country))?;
    Ok(fault_of(move |text| schemes.check(text, today)))
}
