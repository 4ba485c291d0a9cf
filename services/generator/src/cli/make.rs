//! The `make` subcommand, which generates the same values as the HTTP API, but in bulk and without
//! a server.

use std::borrow::Cow;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use jiff::civil::Date;
use serde::Serialize;

use super::subject::{Subject, kind_of, unknown, unless_closed, without_kind};
use super::table::{Format, Row, Table};
use crate::model::names::Culture;
use crate::model::numbers::{self, Kind, Wanted};
use crate::model::person::{self, Limits};
use crate::model::text::{Lorem, Unit, Vocabulary};
use crate::model::{Random, SEEDED_DAY, Seed, card, crypto, iban, imei, names, phone, ssn};
use crate::wire::{AddressAnswer, AddressRow, PersonAnswer, Record};

/// Generates any number of values. With a seed, they are the same values that the HTTP operation
/// returns, except for `texts`, where each paragraph has its own seed.
#[derive(Clone, Debug, clap::Args)]
pub struct MakeCommand {
    /// Kind of value to generate
    pub(super) subject: Subject,
    /// Brand (default: any), coin (default: Bitcoin), country or culture (default: en_US, or en for
    /// addresses), if the subject has one
    #[arg(value_name = "KIND")]
    pub(super) of: Option<String>,
    /// Number of values to generate
    #[arg(long, short = 'n', default_value_t = 1)]
    pub(super) count: u64,
    /// Seed for reproducible values
    #[arg(long)]
    pub(super) seed: Option<String>,
    /// Number of values to skip. With the same seed, every part is a slice of the same list
    #[arg(long, default_value_t = 0)]
    pub(super) offset: u64,
    /// Start CSV with a byte order mark, which Excel needs to recognize UTF-8
    #[arg(long)]
    pub(super) bom: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Lines)]
    pub(super) format: Format,
}

/// Generates the row with the given index.
type Rows = Box<dyn FnMut(u64, &mut Random) -> anyhow::Result<Row>>;

/// Appends a generated value to a string.
type Maker = Box<dyn FnMut(&mut Random, &mut String) -> anyhow::Result<()>>;

impl MakeCommand {
    /// Writes the generated values to `out` until the count is reached or `out` is closed.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written, or if a brand, coin or country is unknown.
    pub fn run_to(self, today: Date, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
        unless_closed(self.write_to(today, out))
    }

    fn write_to(self, today: Date, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
        let seed = self.seed.as_deref().map_or_else(Seed::fresh, Seed::parse)?;
        let culture = self.culture()?;
        let mut random = seed.random(self.subject.operation(), culture.map_or("", |it| it.code));
        // As in the HTTP API, a seed pins the reference day.
        let day = if self.seed.is_some() { SEEDED_DAY } else { today };
        let mut row = self.rows(culture, today, day)?;
        let name = self.subject.table();
        let columns = match self.subject {
            Subject::Persons => PersonAnswer::COLUMNS,
            Subject::Addresses => AddressRow::COLUMNS,
            one_column => one_column.columns(),
        };
        let mut table = Table::begin(self.format, name, columns, self.bom, out)?;
        for index in self.offset..self.offset.saturating_add(self.count) {
            random.seek(index);
            table.push(&row(index, &mut random)?)?;
        }
        table.end()?;
        Ok(ExitCode::SUCCESS)
    }

    /// Returns the culture to generate values for, or `None` if the subject doesn't have one.
    fn culture(&self) -> anyhow::Result<Option<&'static Culture>> {
        let usual = match self.subject {
            Subject::Name => return Ok(Some(names::american())),
            Subject::Persons | Subject::Businesses => names::american(),
            Subject::Addresses => names::english(),
            _ => return Ok(None),
        };
        let Some(code) = self.of.as_deref() else { return Ok(Some(usual)) };
        Ok(Some(names::find(code).with_context(|| unknown(code))?))
    }

    fn rows(
        &self,
        culture: Option<&'static Culture>,
        today: Date,
        day: Date,
    ) -> anyhow::Result<Rows> {
        if let (Subject::Persons, Some(culture)) = (self.subject, culture) {
            let maker = person::Maker::new(culture, day, Limits::default())?;
            return Ok(Box::new(move |index, random| {
                row_of(&PersonAnswer::from(maker.make(index, random)))
            }));
        }
        if let (Subject::Addresses, Some(culture)) = (self.subject, culture) {
            return Ok(Box::new(move |_, random| {
                row_of(&AddressRow(AddressAnswer::new(culture.address(random), culture)))
            }));
        }
        let mut make = self.maker(today)?;
        let mut text = String::new();
        Ok(Box::new(move |_, random| {
            text.clear();
            make(random, &mut text)?;
            Ok(Row::of_text(&text))
        }))
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
                // Generate the whole card, so that the numbers are the same as in the HTTP API.
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
                plain(move |random, out| numbers.write(random, phone::Format::E164, out))
            }
            Subject::Businesses => {
                let culture = self.culture()?.unwrap_or_else(names::american);
                plain(move |random, out| culture.write_company(random, out))
            }
            Subject::Texts => without_kind(of, plain(text))?,
            // Multi-column subjects are handled in `rows`.
            Subject::Persons | Subject::Addresses => plain(|_, _| {}),
            Subject::Vat => number(of, Kind::Vat)?,
            Subject::Person => number(of, Kind::Person)?,
        })
    }
}

fn row_of(made: &(impl Record + Serialize)) -> anyhow::Result<Row> {
    let cells = made.cells().into_iter().map(Cow::into_owned).collect();
    Ok(Row { cells, json: serde_json::to_string(made)? })
}

fn plain(write: impl Fn(&mut Random, &mut String) + 'static) -> Maker {
    Box::new(move |random, out| {
        write(random, out);
        Ok(())
    })
}

/// Appends a paragraph of placeholder text.
fn text(random: &mut Random, out: &mut String) {
    let source = Random::from_key(random.bytes());
    let mut lorem = Lorem::new(source, Vocabulary::Latin, Unit::Paragraphs, 1);
    let mut bytes = Vec::new();
    while lorem.push(&mut bytes) {}
    out.push_str(&String::from_utf8_lossy(&bytes));
}

fn number(of: Option<&str>, kind: Kind) -> anyhow::Result<Maker> {
    let country = kind_of(of)?;
    let schemes = numbers::find(country, kind).with_context(|| unknown(country))?;
    Ok(Box::new(move |random, out| {
        let number =
            schemes.make(random, Wanted::default()).context("no number could be generated")?;
        out.push_str(&number);
        Ok(())
    }))
}
