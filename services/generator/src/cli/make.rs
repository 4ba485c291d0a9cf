//! `make`: generates the same values as the HTTP API, in bulk and without a server.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use jiff::civil::Date;

use super::subject::{Subject, kind_of, unknown, unless_closed, without_kind};
use crate::model::numbers::{self, Kind, Wanted};
use crate::model::phone::Format;
use crate::model::{Random, Seed, card, crypto, iban, imei, names, phone, ssn};

/// Generates values, one on each line. With a seed, they are the values of the HTTP operation.
#[derive(Clone, Debug, clap::Args)]
pub struct MakeCommand {
    /// Kind of value to generate
    pub(super) subject: Subject,
    /// Brand (default: any), coin (default: Bitcoin) or country, for subjects that have one
    #[arg(value_name = "KIND")]
    pub(super) of: Option<String>,
    /// Number of values
    #[arg(long, short = 'n', default_value_t = 1)]
    pub(super) count: u64,
    /// Seed for repeatable values
    #[arg(long)]
    pub(super) seed: Option<String>,
}

/// Appends a value to a line.
type Maker = Box<dyn FnMut(&mut Random, &mut String) -> anyhow::Result<()>>;

impl MakeCommand {
    /// Writes the values to `out` until it is closed.
    ///
    /// # Errors
    /// An unwritable output, or an unknown brand, coin or country.
    pub fn run_to(self, today: Date, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
        unless_closed(self.write_to(today, out))
    }

    fn write_to(self, today: Date, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
        let seed = self.seed.as_deref().map_or_else(Seed::fresh, Seed::parse)?;
        let mut random = seed.random(self.subject.operation(), self.subject.culture());
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
            Subject::Imei => without_kind(of, plain(imei::write))?,
            Subject::Ssn => without_kind(of, plain(ssn::write))?,
            Subject::Name => {
                without_kind(of, plain(|random, out| names::american().write_full(random, out)))?
            }
            Subject::Card => {
                let brand = |name| card::find(name).with_context(|| unknown(name));
                let brand = of.map(brand).transpose()?;
                // Generate whole cards, so the numbers equal those of the HTTP API.
                plain(move |random, out| {
                    out.push_str(&card::Card::generate(random, brand, today).number);
                })
            }
            Subject::Crypto => {
                let name = of.unwrap_or("Bitcoin");
                let coin = crypto::find(name).with_context(|| unknown(name))?;
                plain(|random, out| coin.write(random, out))
            }
            Subject::Iban => {
                let code = kind_of(of)?;
                let country = iban::find(code).with_context(|| unknown(code))?;
                plain(|random, out| country.write(random, out))
            }
            Subject::Phone => {
                let code = kind_of(of)?;
                let numbers = phone::find(code).with_context(|| unknown(code))?.numbers()?;
                plain(move |random, out| numbers.write(random, Format::E164, out))
            }
            Subject::Vat => number(of, Kind::Vat)?,
            Subject::Person => number(of, Kind::Person)?,
        })
    }
}

fn plain(write: impl Fn(&mut Random, &mut String) + 'static) -> Maker {
    Box::new(move |random, out| {
        write(random, out);
        Ok(())
    })
}

fn number(of: Option<&str>, kind: Kind) -> anyhow::Result<Maker> {
    let country = kind_of(of)?;
    let schemes = numbers::find(country, kind).with_context(|| unknown(country))?;
    Ok(Box::new(move |random, out| {
        let number = schemes.make(random, Wanted::default()).context("no number could be made")?;
        out.push_str(&number);
        Ok(())
    }))
}
