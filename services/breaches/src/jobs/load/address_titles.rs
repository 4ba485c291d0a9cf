//! Recognizes titles of columns and fields that contain addresses.

use std::sync::LazyLock;

use super::folded_name::{fold, joined};

/// Names of an email address.
const NAMES: [&str; 60] = [
    "email",
    "mail",
    "email address",
    "mail address",
    "email addr",
    "mail addr",
    "email adr",
    "email id",
    "mail id",
    "E-Mail-Adresse",
    "Mailadresse",
    "emailadres",
    "adresse mail",
    "adresse e-mail",
    "adres e-mail",
    "courriel",
    "adresse courriel",
    "correo",
    "correo electrónico",
    "dirección de correo",
    "correu",
    "indirizzo email",
    "indirizzo e-mail",
    "posta elettronica",
    "endereço de e-mail",
    "correio eletrônico",
    "e-post",
    "e-postadress",
    "e-postadresse",
    "sähköposti",
    "sähköpostiosoite",
    "e-posta",
    "eposta adresi",
    "mejl",
    "poczta",
    "e-mail cím",
    "alamat email",
    "địa chỉ email",
    "почта",
    "эл. почта",
    "электронная почта",
    "адрес электронной почты",
    "имейл",
    "имейл адрес",
    "електронна пошта",
    "пошта",
    "邮箱",
    "邮件",
    "电子邮箱",
    "电子邮件",
    "電子郵件",
    "電子信箱",
    "メール",
    "メールアドレス",
    "電子メール",
    "이메일",
    "이메일 주소",
    "البريد الإلكتروني",
    "דואל",
    "อีเมล",
];

/// Words before a name that say whose address it is, or which one.
const PREFIXES: [&str; 48] = [
    "user",
    "users",
    "usr",
    "u",
    "member",
    "members",
    "customer",
    "customers",
    "client",
    "clients",
    "contact",
    "contacts",
    "account",
    "accounts",
    "acct",
    "login",
    "primary",
    "main",
    "personal",
    "private",
    "business",
    "work",
    "company",
    "office",
    "home",
    "billing",
    "owner",
    "admin",
    "author",
    "subscriber",
    "person",
    "profile",
    "student",
    "employee",
    "buyer",
    "seller",
    "payer",
    "paypal",
    "secondary",
    "alternate",
    "alternative",
    "alt",
    "recovery",
    "backup",
    "registered",
    "current",
    "your",
    "my",
];

/// Words after a name. Browsers and address books export `email_value` and `E-mail 1 - Value`.
const SUFFIXES: [&str; 2] = ["value", "primary"];

/// Names of columns that contain a login, which is often an address.
const LOGINS: [&str; 8] = [
    "username",
    "user",
    "login",
    "user name",
    "login name",
    "username_value",
    "login_username",
    "логин",
];

/// Parts of titles that have something to do with addresses, such as `mail_verified`.
const MENTIONS: [&str; 10] =
    ["mail", "correo", "courriel", "poczt", "почт", "пошт", "邮箱", "邮件", "メール", "메일"];

fn folded(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| joined(&fold(name))).collect()
}

static FOLDED_NAMES: LazyLock<Vec<String>> = LazyLock::new(|| folded(&NAMES));
static FOLDED_LOGINS: LazyLock<Vec<String>> = LazyLock::new(|| folded(&LOGINS));
static FOLDED_MENTIONS: LazyLock<Vec<String>> = LazyLock::new(|| folded(&MENTIONS));

/// Longer titles aren't recognized.
const LONGEST: usize = 100;

/// The meaning of a column title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Title {
    /// Addresses, as in `email`.
    Email,
    /// Particular addresses, as in `user_email`, `billing_email` or `email2`.
    ParticularEmail,
    /// Mentions addresses but may contain something else, as in `mail_verified`.
    Mention,
    /// Logins. Contains the title's index in `LOGINS`.
    Login(usize),
}

impl Title {
    /// Recognizes a title, regardless of its spelling.
    pub fn of(title: &str) -> Option<Self> {
        if title.len() > LONGEST || title.contains('@') {
            return None;
        }
        let title = joined(&fold(title));
        let is_digit = |c: char| c.is_ascii_digit();
        let mut name = title.trim_end_matches(is_digit);
        for suffix in SUFFIXES {
            name = name.strip_suffix(suffix).unwrap_or(name).trim_end_matches(is_digit);
        }
        let is_email = FOLDED_NAMES
            .iter()
            .any(|known| name.strip_suffix(known.as_str()).is_some_and(consists_of_prefixes));
        if is_email {
            let is_whole = FOLDED_NAMES.contains(&title);
            return Some(if is_whole { Self::Email } else { Self::ParticularEmail });
        }
        if let Some(place) = FOLDED_LOGINS.iter().position(|known| *known == title) {
            return Some(Self::Login(place));
        }
        let is_mention = FOLDED_MENTIONS.iter().any(|known| title.contains(known.as_str()));
        is_mention.then_some(Self::Mention)
    }
}

fn consists_of_prefixes(text: &str) -> bool {
    let mut prefixes = PREFIXES.iter().filter_map(|prefix| text.strip_prefix(prefix));
    text.is_empty() || prefixes.any(consists_of_prefixes)
}

/// The column that contains the addresses, according to the titles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Index of the column.
    Column(usize),
    Missing,
    /// Any of the columns with these indexes may contain them.
    Ambiguous(Vec<usize>),
}

/// Chooses the column of addresses. Titles that say so take precedence over logins.
pub fn choose<'t>(titles: impl Iterator<Item = &'t str>) -> Choice {
    let (mut emails, mut particular, mut mentions) = (Vec::new(), Vec::new(), Vec::new());
    let (mut exact, mut login) = (Vec::new(), None);
    for (place, title) in titles.enumerate() {
        match Title::of(title) {
            Some(Title::Email) => {
                if title.trim().eq_ignore_ascii_case("email") {
                    exact.push(place);
                }
                emails.push(place);
            }
            Some(Title::ParticularEmail) => particular.push(place),
            Some(Title::Mention) => mentions.push(place),
            Some(Title::Login(rank)) if login.is_none_or(|(best, _)| rank < best) => {
                login = Some((rank, place));
            }
            Some(Title::Login(_)) | None => {}
        }
    }
    match exact.as_slice() {
        [] => {}
        [place] => return Choice::Column(*place),
        _ => return Choice::Ambiguous(exact),
    }
    match (emails.as_slice(), particular.as_slice(), login) {
        ([place], ..) | ([], [place], _) => Choice::Column(*place),
        ([], [], None) => Choice::Missing,
        ([], [], Some((_, place))) if mentions.is_empty() => Choice::Column(place),
        ([], [], Some((_, place))) => {
            mentions.push(place);
            mentions.sort_unstable();
            Choice::Ambiguous(mentions)
        }
        ([], ..) => Choice::Ambiguous(particular),
        _ => Choice::Ambiguous(emails),
    }
}

/// Returns `true` if a title says that its column contains addresses or logins.
pub fn is_address(title: &str) -> bool {
    matches!(Title::of(title), Some(Title::Email | Title::ParticularEmail | Title::Login(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_of_addresses_are_recognised_in_any_spelling() {
        for title in [
            "email",
            "E-Mail",
            "e_mail",
            "mail_address",
            "email_id",
            "EmailAddr",
            "E-Mail-Adresse",
            "Correo electrónico",
            "CORREO",
            "Почта",
            "メールアドレス",
        ] {
            assert_eq!(Title::of(title), Some(Title::Email), "{title}");
        }
        for title in [
            "user_email",
            "useremail",
            "userEmail",
            "user_mail",
            "customer_email",
            "Contact E-mail",
            "customer_contact_email",
            "email1",
            "E-mail 1 - Value",
            "email_value",
        ] {
            assert_eq!(Title::of(title), Some(Title::ParticularEmail), "{title}");
        }
        for title in ["user_allow_viewemail", "email_verified", "mail_hash", "verified_email"] {
            assert_eq!(Title::of(title), Some(Title::Mention), "{title}");
        }
        for title in ["name", "id", "ada@mail.example", ""] {
            assert_eq!(Title::of(title), None, "{title}");
        }
    }

    #[test]
    fn column_of_addresses_takes_precedence_over_logins() {
        let chosen = |titles: &str| choose(titles.split(' '));
        for (titles, expected) in [
            ("id username user_email", Choice::Column(2)),
            ("username user_allow_viewemail user_email", Choice::Column(2)),
            ("billing_email e-mail recovery_email", Choice::Column(1)),
            ("mail email", Choice::Column(1)),
            ("email name Email mail", Choice::Ambiguous(vec![0, 2])),
            ("id login username", Choice::Column(2)),
            ("name login_uri login_username login_password", Choice::Column(2)),
            ("id name", Choice::Missing),
            ("id email_verified", Choice::Missing),
            ("mail username e-mail", Choice::Ambiguous(vec![0, 2])),
            ("billing_email username contact_email", Choice::Ambiguous(vec![0, 2])),
            ("username email_verified", Choice::Ambiguous(vec![0, 1])),
        ] {
            assert_eq!(chosen(titles), expected, "{titles}");
        }
    }
}
