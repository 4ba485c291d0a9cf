//! What is wrong with an account number.

/// Why a text is no IBAN.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IbanFault {
    /// Something other than letters and digits, or nothing at all.
    #[error("An IBAN has only letters, digits and blanks.")]
    Characters,
    /// The first two letters are those of no country with IBANs.
    #[error("{0} is no country with IBANs.")]
    Country(String),
    /// It begins with another country than the wanted one.
    #[error("The IBAN is not one of {0}.")]
    OtherCountry(&'static str),
    /// Too many or too few characters.
    #[error("An IBAN of {0} has {1} characters, not {2}.")]
    Length(&'static str, usize, usize),
    /// A letter where a digit belongs, or the other way round.
    #[error("The account number does not have the structure of {0}.")]
    Structure(&'static str),
    /// The check digits behind the country are wrong.
    #[error("The check digits are wrong.")]
    Checksum,
    /// The check digits of the country's own account number are wrong.
    #[error("The national check digits of {0} are wrong.")]
    National(&'static str),
}
