//! Mails, whoever takes them.

use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::{Address, Message};

use super::asked::Asked;

/// A mail in plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// Address of the one recipient.
    pub to: String,
    /// Subject.
    pub subject: String,
    /// Text.
    pub text: String,
}

/// Why a mail was not taken; the text names neither its recipient nor its content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct MailError {
    /// Whether no later attempt will do better.
    pub permanent: bool,
    /// The reason, for the operator.
    pub why: String,
}

impl MailError {
    /// A failure after which a later attempt may succeed.
    pub(super) fn temporary(why: impl std::fmt::Display) -> Self {
        Self { permanent: false, why: why.to_string() }
    }

    /// A failure after which no further attempt makes sense.
    pub(super) fn permanent(why: impl std::fmt::Display) -> Self {
        Self { permanent: true, why: why.to_string() }
    }
}

/// Takes mails.
pub trait Mailer: Send + Sync {
    /// Hands a mail over, once.
    fn send(&self, mail: Mail) -> Asked<'_, (), MailError>;
}

/// Whether a mail can be addressed to a text. Breaches hold addresses, and searches take them, that
/// no mail can carry.
pub fn takes_mail(address: &str) -> bool {
    let Ok(address) = address.parse::<Address>() else { return false };
    let party = Mailbox::new(None, address);
    // Whether a header can hold the address shows when the mail is put together.
    Message::builder().from(party.clone()).to(party).body(String::new()).is_ok()
}

/// The mail as it travels. Its id is random and names the domain of the sender, not this host.
pub(super) fn message(from: &Mailbox, mail: Mail) -> Result<Message, MailError> {
    let to = mail.to.parse().map_err(|_| MailError::permanent("the address takes no mail"))?;
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(MailError::temporary)?;
    let id = format!("<{:032x}@{}>", u128::from_ne_bytes(random), from.email.domain());
    Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .subject(mail.subject)
        .message_id(Some(id))
        .header(ContentType::TEXT_PLAIN)
        .body(mail.text)
        .map_err(MailError::permanent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_no_mail_can_carry_are_known() {
        for address in ["owner@example.org", "o'b+c@mail.corp.example", "a-b_c.d@x-y.example"] {
            assert!(takes_mail(address), "{address}");
        }
        for address in [
            "a..b@x.example",
            ".a@x.example",
            "a;b@x.example",
            "<a>@x.example",
            "a(b)@x.example",
            "a@-x.example",
            "a@[127.0.0.1]",
            "a@b.example,c@d.example",
            "a@x.example\r\nbcc: b@x.example",
            "",
        ] {
            assert!(!takes_mail(address), "{address}");
        }
    }
}
