//! `check`: checks values in bulk and without a server.

use std::io::{BufRead, Write};
use std::process::ExitCode;

use anyhow::{Context, bail};
use jiff::civil::Date;

use super::subject::{Subject, kind_of, unknown, unless_closed, without_kind};
use crate::model::card::CARD_TYPES;
use crate::model::numbers::{self, Kind};
use crate::model::{card, iban, imei, phone};

/// Checks values, one a line of stdin: prints `ok` or what is wrong, and exits with 1 if any is.
#[derive(Clone, Debug, clap::Args)]
pub struct CheckCommand {
    /// What to check
    pub(super) subject: Subject,
    /// Brand or country, where the subject has such
    pub(super) of: Option<String>,
}

/// Says what is wrong with a value.
type Checker = Box<dyn Fn(&str) -> Option<String>>;

impl CheckCommand {
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
        let check = self.checker(today)?;
        let mut all_right = true;
        for line in input.lines() {
            let reason = check(&line?);
            all_right &= reason.is_none();
            writeln!(out, "{}", reason.as_deref().unwrap_or("ok"))?;
        }
        out.flush()?;
        Ok(if all_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn checker(&self, today: Date) -> anyhow::Result<Checker> {
        let of = self.of.as_deref();
        Ok(match self.subject {
            Subject::Imei => without_kind(of, right(imei::accepts))?,
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
                Box::new(move |text| match phone::validate(text, region) {
                    phone::Validation::Valid(_) => None,
                    phone::Validation::Invalid(reason) => Some(reason),
                })
            }
            Subject::Ssn => without_kind(of, verdicts("US", Kind::Person, today)?)?,
            Subject::Vat => verdicts(kind_of(of)?, Kind::Vat, today)?,
            Subject::Person => verdicts(kind_of(of)?, Kind::Person, today)?,
            Subject::Crypto | Subject::Name => bail!("these values cannot be checked"),
        })
    }
}

const INVALID: &str = "The value is not valid.";

fn right(accepts: impl Fn(&str) -> bool + 'static) -> Checker {
    Box::new(move |text| (!accepts(text)).then(|| INVALID.to_owned()))
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
        (None, None) => return Some(INVALID.to_owned()),
    };
    (!country.accepts(&plain)).then(|| INVALID.to_owned())
}

fn verdicts(country: &str, kind: Kind, today: Date) -> anyhow::Result<Checker> {
    let schemes = numbers::find(country, kind).with_context(|| unknown(country))?;
    Ok(Box::new(move |text| schemes.check(text, today).err().map(|reject| reject.to_string())))
}
