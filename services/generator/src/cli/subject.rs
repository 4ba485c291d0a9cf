//! The subjects of `make` and `check`.

use std::io;
use std::process::ExitCode;

use anyhow::{Context, ensure};

/// The kind of value to generate or check.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Subject {
    /// Card numbers, from one brand or any
    Card,
    /// Wallet addresses for a cryptocurrency
    Crypto,
    /// IBANs for a country
    Iban,
    /// IMEI numbers of mobile devices
    Imei,
    /// US full names (make only)
    Name,
    /// Telephone numbers for a country
    Phone,
    /// National identity numbers for a country
    Person,
    /// Complete personal profiles for a culture (make only)
    Persons,
    /// Postal addresses for a culture (make only)
    Addresses,
    /// Business names for a culture (make only)
    Businesses,
    /// Paragraphs of placeholder text (make only)
    Texts,
    /// US Social Security numbers
    Ssn,
    /// Tax numbers for a country
    Vat,
}

impl Subject {
    /// Returns the name of the HTTP operation that generates the same values for the same seed.
    pub fn operation(self) -> &'static str {
        match self {
            Self::Card => "generateCard",
            Self::Crypto => "generateCryptoAddress",
            Self::Iban => "generateIban",
            Self::Imei => "generateImeis",
            Self::Name => "generateNames",
            Self::Phone => "generatePhoneNumbers",
            Self::Persons => "generatePersons",
            Self::Addresses => "generateAddresses",
            Self::Businesses => "generateBusinessNames",
            Self::Texts => "generateLoremIpsum",
            Self::Person | Self::Ssn | Self::Vat => "generateSocialNumber",
        }
    }

    /// Returns the column names.
    pub fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Card => &["cardNumber"],
            Self::Crypto => &["address"],
            Self::Iban => &["iban"],
            Self::Imei => &["imei"],
            Self::Name | Self::Businesses => &["name"],
            Self::Phone => &["phoneNumber"],
            Self::Person | Self::Ssn | Self::Vat => &["number"],
            // The columns of these subjects come from the HTTP record types.
            Self::Persons | Self::Addresses => &[],
            Self::Texts => &["text"],
        }
    }

    /// Returns the table name for SQL output.
    pub fn table(self) -> &'static str {
        match self {
            Self::Card => "cards",
            Self::Crypto => "crypto_addresses",
            Self::Iban => "ibans",
            Self::Imei => "imeis",
            Self::Name => "names",
            Self::Phone => "phone_numbers",
            Self::Person | Self::Ssn => "identity_numbers",
            Self::Vat => "tax_numbers",
            Self::Persons => "persons",
            Self::Addresses => "addresses",
            Self::Businesses => "businesses",
            Self::Texts => "texts",
        }
    }
}

/// Treats a closed pipe as success, because readers such as `head` may stop early.
pub fn unless_closed(outcome: anyhow::Result<ExitCode>) -> anyhow::Result<ExitCode> {
    outcome.or_else(|error| match error.downcast_ref::<io::Error>().map(io::Error::kind) {
        Some(io::ErrorKind::BrokenPipe) => Ok(ExitCode::SUCCESS),
        _ => Err(error),
    })
}

/// Returns an error if a brand, coin or country was passed for a subject that doesn't take one.
pub fn without_kind<T>(of: Option<&str>, subject: T) -> anyhow::Result<T> {
    ensure!(of.is_none(), "{}: this subject has no brand or country", of.unwrap_or_default());
    Ok(subject)
}

/// Returns the brand, coin or country, which the subject requires.
pub fn kind_of(of: Option<&str>) -> anyhow::Result<&str> {
    of.context("this subject needs a brand, coin or country")
}

/// Returns the error message for an unrecognised brand, coin or country.
pub fn unknown(name: &str) -> String {
    format!("{name} is not known")
}
