//! Recognizes columns of secrets in text whose first line has titles, as in `email;password`.

use super::address_titles;
use super::secret_names::is_secret;

/// Separators of columns.
const SEPARATORS: [char; 4] = ['\t', ';', ',', '|'];
/// Longer phrases aren't titles.
const MAX_WORDS: usize = 2;

/// Columns of secrets, according to the titles.
#[derive(Debug, PartialEq, Eq)]
pub struct SecretColumns {
    separator: u8,
    /// Indexes of the columns.
    columns: Vec<usize>,
}

impl SecretColumns {
    /// Reads the first line of a text. Returns `None` unless it consists of titles, at least one of
    /// which is that of an address and another one that of a secret.
    pub fn of(line: &[u8]) -> Option<Self> {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_start_matches('\u{feff}');
        SEPARATORS.into_iter().find_map(|separator| {
            let is_around = |c: char| c.is_whitespace() || "\"'".contains(c);
            let titles: Vec<&str> =
                line.split(separator).map(|title| title.trim_matches(is_around)).collect();
            let is_title = |title: &&str| title.split_whitespace().count() <= MAX_WORDS;
            let has_address = titles.iter().any(|title| address_titles::is_address(title));
            if !has_address || !titles.iter().all(is_title) {
                return None;
            }
            let secrets = titles.iter().enumerate().filter(|(_, title)| is_secret(title));
            let columns: Vec<usize> = secrets.map(|(column, _)| column).collect();
            let separator = u8::try_from(separator).ok()?;
            (!columns.is_empty()).then_some(Self { separator, columns })
        })
    }

    /// Returns `true` if the start of a line ends within one of these columns.
    pub fn include_end(&self, line: &[u8]) -> bool {
        let (mut column, mut is_quoted) = (0, false);
        for byte in line {
            match byte {
                b'"' => is_quoted = !is_quoted,
                byte if *byte == self.separator && !is_quoted => column += 1,
                _ => {}
            }
        }
        self.columns.contains(&column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_secrets_are_found_by_their_titles() {
        for (line, columns) in [
            ("email;password", vec![1]),
            ("\u{feff}\"E-Mail\",\"Passwort\"", vec![1]),
            ("id\tuser_email\tPIN\tname\tpass word", vec![2, 4]),
            ("Логин | Пароль", vec![1]),
        ] {
            let found = SecretColumns::of(line.as_bytes());
            assert_eq!(found.map(|found| found.columns), Some(columns), "{line}");
        }
        for line in [
            "",
            "email",
            "email;name",
            "name;password",
            "Email, phone and password list",
            "ada@corp.example;password",
            "email:password",
        ] {
            assert_eq!(SecretColumns::of(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn separators_in_quotes_are_not_counted() {
        let columns = SecretColumns::of(b"name;email;password").unwrap();
        for (line, expected) in [
            ("Ada;ada@corp.example;p", true),
            ("\"Ada; B.\";ada@corp.example;\"p", true),
            ("Ada;ada", false),
            ("\"Ada; B.\";ada", false),
            ("Ada;ada@corp.example;p;bob", false),
        ] {
            assert_eq!(columns.include_end(line.as_bytes()), expected, "{line}");
        }
    }
}
