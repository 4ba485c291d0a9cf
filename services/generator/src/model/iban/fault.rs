//! IBAN validation errors.

/// An error found while checking an IBAN.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IbanFault {
    /// The IBAN is empty, or contains something other than letters and digits.
    #[error("An IBAN can contain only letters, digits and spaces.")]
    Characters,
    /// The first two letters aren't the code of a country with IBANs.
    #[error("{0} does not use IBANs.")]
    Country(String),
    /// The IBAN belongs to a country other than the requested one.
    #[error("The IBAN is not one of {0}.")]
    OtherCountry(&'static str),
    /// The IBAN is too long or too short.
    #[error("An IBAN from {0} has {1} characters, not {2}.")]
    Length(&'static str, usize, usize),
    /// There is a letter in place of a digit, or vice versa.
    #[error("The account number does not have the structure of {0}.")]
    Structure(&'static str),
    /// The check digits after the country code are wrong.
    #[error("The check digits are wrong.")]
    Checksum,
    /// The national check digits are wrong.
    #[error("The national check digits of {0} are wrong.")]
    National(&'static str),
}
