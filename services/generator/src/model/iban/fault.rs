//! Why IBANs are invalid.

/// The reason an IBAN is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IbanFault {
    /// It is empty or contains characters other than letters and digits.
    #[error("An IBAN has only letters, digits and blanks.")]
    Characters,
    /// The first two letters are not the code of a country with IBANs.
    #[error("{0} does not use IBANs.")]
    Country(String),
    /// The country is not the requested one.
    #[error("The IBAN is not one of {0}.")]
    OtherCountry(&'static str),
    /// It has too many or too few characters.
    #[error("An IBAN of {0} has {1} characters, not {2}.")]
    Length(&'static str, usize, usize),
    /// It has a letter where a digit is required, or the reverse.
    #[error("The account number does not have the structure of {0}.")]
    Structure(&'static str),
    /// The check digits after the country code are wrong.
    #[error("The check digits are wrong.")]
    Checksum,
    /// The national check digits are wrong.
    #[error("The national check digits of {0} are wrong.")]
    National(&'static str),
}
