//! Recognizes secrets in text that look like addresses.

use super::address_titles;
use super::secret_names::{is_label, is_secret};
use crate::model::website;

/// Returns `true` if a byte could be part of an address, or of an escape in one.
pub fn is_inside(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii() || b".-_+@%\\'&;#".contains(&byte)
}

/// Returns `true` if the text between an address and the next `@` belongs to a secret, as in
/// `address:secret`, `address|secret` and `address----secret`.
pub fn follows_address(text: &[u8]) -> bool {
    const ESCAPED_LINE_ENDS: [&[u8]; 6] = [b"\\n", b"\\r", b"%0a", b"%0A", b"%0d", b"%0D"];
    let is_end = |byte: &u8| b",;\"'<>()".contains(byte) || byte.is_ascii_whitespace();
    [&b":"[..], b"|", b"--"].iter().any(|separator| text.starts_with(separator))
        && !text.iter().any(is_end)
        && !ESCAPED_LINE_ENDS.iter().any(|end| memchr::memmem::find(text, end).is_some())
}

/// Returns `true` if an address might be a secret that contains an `@` and a dot, because it's on
/// the same line as another address and its domain doesn't end in a top-level domain. `between` is
/// the text between these two.
pub fn is_doubtful(between: &[u8], domain: &str) -> bool {
    let is_number = domain.ends_with(|c: char| c.is_ascii_digit());
    let has_known_end =
        !domain.is_ascii() || is_number || website::is_possible(&domain.to_ascii_lowercase());
    !has_known_end && !between.iter().any(|byte| b"\r\n".contains(byte))
}

/// Separators between a label and its value.
const SEPARATORS: [char; 4] = [':', '=', '：', '＝'];

/// Returns `true` if the last word of a text follows a label for a secret, as in `Password:
/// secret`, `"password" => "secret"` or `<password>secret`. A label for a whole login, as in
/// `Email:Password: address:secret`, doesn't count.
///
/// The secret may contain symbols and escaped quotes before its last word, as in `Password:
/// my$secret` and `"password":"my\"secret"`.
pub fn has_label(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let mut rest = &*text;
    loop {
        let before = rest.trim_end_matches(is_in_word);
        if ends_in_label(before) {
            return true;
        }
        let Some(shorter) = before.strip_suffix("\\\"").or_else(|| before.strip_suffix(is_symbol))
        else {
            return false;
        };
        if before.ends_with(SEPARATORS) && ends_in_other_name(shorter) {
            return false;
        }
        rest = shorter;
    }
}

/// Returns `true` if a character may be in a secret, although it isn't in an address. Others, such
/// as commas, more often separate values.
fn is_symbol(c: char) -> bool {
    SEPARATORS.contains(&c) || "!$*?^~/`()[]{}".contains(c)
}

/// Returns `true` if the text before a separator ends in the name of something other than a
/// secret, as in `password=secret&name`.
fn ends_in_other_name(text: &str) -> bool {
    let word = &text[text.trim_end_matches(is_in_word).len()..];
    let (_, name) = split_phrase(text.trim_end_matches(is_gap));
    word.contains(['&', ';', '，', '、', '；']) || address_titles::is_address(name.trim())
}

/// Returns `true` if a text ends in a label for a secret and its separator.
fn ends_in_label(text: &str) -> bool {
    let before = text.trim_end_matches(is_gap);
    if let Some(before) = before.strip_suffix('>') {
        let Some(key) = before.strip_suffix('=') else { return is_secret(element(before)) };
        return is_label(split_phrase(key.trim_end_matches(|c| is_gap(c) || c == ']')).1);
    }
    let Some(before) = before.strip_suffix(SEPARATORS) else { return false };
    let (before, label) = split_phrase(before.trim_end_matches(is_gap));
    // A label in an unknown encoding could mean anything.
    if !is_label(label) && !label.contains(char::REPLACEMENT_CHARACTER) {
        return false;
    }
    let Some(before) = before.trim_end_matches(is_gap).strip_suffix([':', '/', '|', '：', '／'])
    else {
        return true;
    };
    let (_, first) = split_phrase(before.trim_end_matches(is_gap));
    !address_titles::is_address(first.trim())
}

fn is_in_word(c: char) -> bool {
    match u8::try_from(c) {
        Ok(byte) if byte.is_ascii() => is_inside(byte),
        // CJK punctuation ends a label without a space, as in `密码：secret`.
        _ => !"：＝\u{3000}".contains(c),
    }
}

fn is_gap(c: char) -> bool {
    (c.is_whitespace() && !"\r\n".contains(c)) || "\"'*`\\".contains(c)
}

/// Returns the name of the start tag at the end of a text, without its `>`. Empty if there is none.
fn element(text: &str) -> &str {
    let Some((_, tag)) = text.rsplit_once('<') else { return "" };
    let end = tag.find(|c: char| c.is_ascii_whitespace()).unwrap_or(tag.len());
    if tag.starts_with('/') || tag.contains('>') { "" } else { &tag[..end] }
}

/// Splits off the last words of a text, up to a line break or punctuation.
fn split_phrase(text: &str) -> (&str, &str) {
    let is_end = |c: char| match c {
        '_' | '-' | '\'' => false,
        c if c.is_ascii() => c.is_ascii_punctuation() || c.is_ascii_control(),
        c => "：／｜＝，。、；！？（）「」【】".contains(c),
    };
    text.split_at(text.trim_end_matches(|c| !is_end(c)).len())
}

/// Returns `true` if the text ends with the user name and password of a URL, as in
/// `ftp://user:secret`.
pub fn is_user_info(text: &[u8]) -> bool {
    let is_end = |byte: &u8| b"/?#<>\"".contains(byte) || byte.is_ascii_whitespace();
    let Some(slash) = text.iter().rposition(is_end) else { return false };
    let (scheme, rest) = text.split_at(slash + 1);
    (scheme.ends_with(b"://") || scheme.ends_with(b":\\/\\/")) && rest.contains(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_secrets_are_recognised_in_common_notations() {
        for text in [
            "Password: p",
            "\"password\": \"p",
            "'password' => 'p",
            "    [user_pass] => p",
            "<password>p",
            "<user-pass type='x'>p",
            "**Password:** p",
            "Pass phrase: p",
            "Your new password is here. Mot de passe\u{a0}: p",
            "Логин: ada\nПароль: p",
            "ПАРОЛЬ=p",
            "密码：p",
            "パスワード: p",
            "비밀번호 : p",
            "mật khẩu: p",
            "MDP: p",
            "Password: s$cr!p",
            "Password: (s:c=r/e)p",
            "\"password\":\"s\\\"p",
            "{\\\"password\\\":\\\"p",
            "{\\\"password\\\": \\\"s\\\\\\\"p",
            "password=MD5('p",
            "密码：s＝p",
        ] {
            assert!(has_label(text.as_bytes()), "{text}");
        }
        for text in [
            "ada",
            "<password>x</password>ada",
            "<passwords> are > ada",
            "<email type=\"password\">ada",
            "[email] => ada",
            "> password > ada",
            "Password: x => ada",
            "Логин/Пароль: ada",
            "mot de passe de Max: ada",
            "密码：x，邮箱：ada",
            "密码：x，用户：ada",
            "?password=x&name=ada",
            "Password=x;Name=ada",
            "Password:x/Email:ada",
            "Login:Password:ada",
            "Username/Password:ada",
            "{\\\"password\\\":\\\"x\\\",\\\"email\\\":\\\"ada",
            "{\\\"password\\\":\\\"x\\\",\\\"name\\\":\\\"ada",
            "Password: x | ada",
            "Password: x!\nada",
        ] {
            assert!(!has_label(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn label_in_another_encoding_may_be_that_of_a_secret() {
        let label = b"\xCF\xE0\xF0\xEE\xEB\xFC: p";
        assert!(has_label(label));
        assert!(!has_label(b"caf\xE9\nEmail: p"));
    }

    #[test]
    fn secret_follows_an_address_after_a_separator_of_combo_lists() {
        for text in [":p", "|p", "--p", "----x/p"] {
            assert!(follows_address(text.as_bytes()), "{text}");
        }
        for text in [",bob", ";bob", ": bob", " | bob", "|x,bob", "|x\nbob", "-bob"] {
            assert!(!follows_address(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn domain_without_a_top_level_domain_is_doubtful_after_an_address_on_the_same_line() {
        for between in [";p", ",p", "\tp", " p", " | p", ";5f4dcc3b5aa7;p"] {
            assert!(is_doubtful(between.as_bytes(), "ss.Word"), "{between}");
            for domain in ["Corp.Example", "192.0.2.1", "b\u{fc}cher.example"] {
                assert!(!is_doubtful(between.as_bytes(), domain), "{between} {domain}");
            }
        }
        assert!(!is_doubtful(b"\nbob", "gmail.con"));
    }
}
