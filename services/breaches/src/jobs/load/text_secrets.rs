//! Recognizes secrets in text that look like addresses.

use super::address_titles;
use super::secret_names::{is_label, is_secret};
use crate::model::website;

/// Returns `true` if a byte could be part of an address, or of an escape in one.
pub fn is_inside(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii() || b".-_+@%\\'&;#".contains(&byte)
}

/// Line ends as written in JSON, SQL and URLs.
const ESCAPED_LINE_ENDS: [&str; 6] = ["\\n", "\\r", "%0a", "%0A", "%0d", "%0D"];

/// Returns `true` if the text between an address and the next `@` belongs to a secret, as in
/// `address:secret`, `address|secret`, `address----secret`, `address password secret` and
/// `address;my$secret`.
///
/// Other separators, such as those in `address;secret` and `address,secret`, are also used between
/// two addresses.
pub fn follows_address(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let has_separator = text.starts_with([':', '|', '：', '｜']) || text.starts_with("--");
    let has_line_end =
        text.contains(['\r', '\n']) || ESCAPED_LINE_ENDS.iter().any(|end| text.contains(end));
    is_only_label(&text)
        || !has_line_end && (has_separator && !text.contains(is_end) || has_symbol(&text))
}

/// Returns `true` if a character ends a secret in a list of addresses and secrets.
fn is_end(c: char) -> bool {
    c.is_whitespace() || ",;\"'<>()，；、。（）".contains(c)
}

/// Returns `true` if the last word of a text has a symbol that is common in secrets, but not in the
/// text in front of an address.
fn has_symbol(text: &str) -> bool {
    let is_separator = |c: char| is_end(c) || ":=|：＝｜".contains(c);
    let word = text.rsplit(is_separator).next().unwrap_or_default();
    word.contains('$') || word.trim_start_matches('!').contains('!')
}

/// Returns `true` if there is nothing but the name of a secret before the last word of a text, as
/// in a `.netrc` file: `login ada@corp.example password secret`.
fn is_only_label(text: &str) -> bool {
    let before = text.trim_end_matches(is_in_word);
    let label = before.trim_matches(|c: char| is_gap(c) || c.is_ascii_punctuation());
    label.chars().all(char::is_alphanumeric) && is_secret(label)
}

/// Returns `true` if an address might be a secret that contains an `@` and a dot, because it's on
/// the same line as another address and its domain doesn't end in a top-level domain. `between` is
/// the text between these two.
pub fn is_doubtful(between: &[u8], domain: &str) -> bool {
    let is_number = domain.ends_with(|c: char| c.is_ascii_digit());
    // A domain that ends in another script was already compared with the top-level domains.
    let is_ascii = domain.rsplit('.').next().is_none_or(str::is_ascii);
    let has_known_end =
        !is_ascii || is_number || website::is_possible(&domain.to_ascii_lowercase());
    !has_known_end && !between.iter().any(|byte| b"\r\n".contains(byte))
}

/// Separators between a label and its value.
const SEPARATORS: [char; 4] = [':', '=', '：', '＝'];

/// Returns `true` if the last word of a text follows a label for a secret, as in `Password:
/// secret`, `"password" => "secret"` or `<password>secret`, or the same with escapes of URLs or
/// HTML. A label for a whole login, as in `Email:Password: address:secret`, doesn't count.
///
/// The secret may contain symbols and escaped quotes before its last word, as in `Password:
/// my$secret` and `"password":"my\"secret"`.
pub fn has_label(text: &[u8]) -> bool {
    let mut text = String::from_utf8_lossy(text).into_owned();
    loop {
        if has_plain_label(&text) {
            return true;
        }
        let Some(unescaped) = unescape_once(&text) else { return false };
        text = unescaped;
    }
}

/// Decodes `%XX` and HTML entities, except for letters beyond ASCII. Returns `None` if there are
/// none.
fn unescape_once(text: &str) -> Option<String> {
    let (mut unescaped, mut rest) = (String::new(), text);
    while let Some(place) = rest.find(['%', '&']) {
        unescaped.push_str(&rest[..place]);
        rest = &rest[place..];
        let (c, length) =
            escape(rest).unwrap_or((if rest.starts_with('%') { '%' } else { '&' }, 1));
        unescaped.push(c);
        rest = &rest[length..];
    }
    unescaped.push_str(rest);
    (unescaped.len() < text.len()).then_some(unescaped)
}

/// Decodes the escape at the start of a text and returns its length as well.
fn escape(text: &str) -> Option<(char, usize)> {
    const ENTITIES: [(&str, char); 9] = [
        ("&quot;", '"'),
        ("&#34;", '"'),
        ("&#x22;", '"'),
        ("&#39;", '\''),
        ("&apos;", '\''),
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&nbsp;", ' '),
        ("&amp;", '&'),
    ];
    if let Some((entity, c)) = ENTITIES.iter().find(|(entity, _)| text.starts_with(entity)) {
        return Some((*c, entity.len()));
    }
    let digits = text.strip_prefix('%')?.get(..2)?;
    let byte = u8::from_str_radix(digits, 16).ok().filter(u8::is_ascii)?;
    Some((char::from(byte), 3))
}

fn has_plain_label(text: &str) -> bool {
    let mut rest = text;
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
    if before.ends_with("\n\n") || before.ends_with("\r\n\r\n") {
        return is_part_of_form(before);
    }
    if let Some(key) = before_serialized(before) {
        return is_label(split_phrase(key.trim_end_matches(is_gap)).1);
    }
    if let Some(tag) = before.strip_suffix('>') {
        let Some(key) = tag.strip_suffix('=') else {
            return names_secret(start_tag(tag), &["name", "key"]) || ends_in_formatted(before);
        };
        return is_label(split_phrase(key.trim_end_matches(|c| is_gap(c) || c == ']')).1);
    }
    let Some(before) = before.strip_suffix(SEPARATORS) else { return false };
    // As in `user[password]=`, `<b>Password</b>:` and `Password....:`.
    let (before, _) = split_formatting(before.trim_end_matches(|c| is_gap(c) || "[].".contains(c)));
    let text = before.trim_end_matches(is_gap);
    let (before, label) = split_phrase(text);
    if label.split_whitespace().next_back().is_some_and(|word| word.eq_ignore_ascii_case("value")) {
        return names_secret(start_tag(text), &["name", "key", "type"]) || follows_name(text);
    }
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

/// Returns `true` for the header of a secret in `multipart/form-data`, which ends in
/// `name="password"` and an empty line.
fn is_part_of_form(text: &str) -> bool {
    let header = text.trim_end().strip_suffix('"');
    header
        .and_then(|header| header.rsplit_once(" name=\""))
        .is_some_and(|(_, name)| is_secret(name))
}

/// Returns `true` for the name of a secret and `value`, as in `"name":"password","value":"secret"`.
fn follows_name(text: &str) -> bool {
    let Some((before, _)) = text.rsplit_once(',') else { return false };
    let (before, name) = split_phrase(before.trim_end_matches(is_gap));
    let before = before.trim_end_matches(is_gap).strip_suffix(':');
    let is_named = |text: &str| split_phrase(text.trim_end_matches(is_gap)).1 == "name";
    is_secret(name) && before.is_some_and(is_named)
}

/// Returns the text before a string of PHP's `serialize`, as in `s:8:"password";s:6:"secret"`.
fn before_serialized(text: &str) -> Option<&str> {
    let text = text.strip_suffix(':')?;
    let start = text.trim_end_matches(|c: char| c.is_ascii_digit());
    if start.len() == text.len() {
        return None;
    }
    start.strip_suffix("s:")?.strip_suffix([';', '|', '{'])
}

/// Returns `true` for a label and tags, as in `<b>Password:</b>` and `<td>Password</td><td>`.
fn ends_in_formatted(text: &str) -> bool {
    let (before, is_next_cell) = split_formatting(text);
    let before = before.trim_end_matches(is_gap);
    if before.ends_with(SEPARATORS) {
        return ends_in_label(before);
    }
    let (_, label) = split_phrase(before);
    is_next_cell && !label.trim().contains(' ') && is_label(label)
}

/// Removes the tags that don't begin a new line from the end of a text. Also returns whether one of
/// them ends a cell.
fn split_formatting(text: &str) -> (&str, bool) {
    const TAGS: [&str; 16] = [
        "b", "strong", "i", "em", "u", "span", "font", "code", "label", "td", "th", "dt", "dd",
        "tt", "key", "string",
    ];
    const CELLS: [&str; 4] = ["/td", "/th", "/dt", "/key"];
    let (mut rest, mut is_next_cell) = (text, false);
    loop {
        let trimmed = rest.trim_end_matches(is_gap);
        let Some((before, tag)) = trimmed.strip_suffix('>').and_then(|text| text.rsplit_once('<'))
        else {
            return (rest, is_next_cell);
        };
        let name = tag.split_ascii_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        if tag.contains('>') || !TAGS.contains(&name.trim_start_matches('/')) {
            return (rest, is_next_cell);
        }
        is_next_cell |= CELLS.contains(&&*name);
        rest = before;
    }
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

/// Returns the start tag at the end of a text, without `<` and `>`. Empty if there is none.
fn start_tag(text: &str) -> &str {
    let tag = text.rsplit_once('<').map_or("", |(_, tag)| tag);
    if tag.starts_with('/') || tag.contains('>') { "" } else { tag }
}

/// Returns `true` if the element or one of these attributes is the name of a secret, as in
/// `<password>` and `<field name="password">`.
fn names_secret(tag: &str, attributes: &[&str]) -> bool {
    let (element, rest) = tag.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((tag, ""));
    let is_secret_attribute = |(name, value): (&str, &str)| {
        attributes.iter().any(|attribute| attribute.eq_ignore_ascii_case(name)) && is_secret(value)
    };
    is_secret(element)
        || rest
            .split_ascii_whitespace()
            .filter_map(|attribute| attribute.split_once('='))
            .any(is_secret_attribute)
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
            "['password'] = 'p",
            "user[password]=p",
            "user[password][]=p",
            "Password........: p",
            "s:8:\"password\";s:1:\"p",
            "s:8:\\\"password\\\";s:1:\\\"p",
            "password|s:1:\"p",
            "<field name=\"password\">p",
            "<add key=\"Password\" value=\"p",
            "<input type='password' name='x' value='p",
            "<b>Password:</b> p",
            "<b>Password</b>: p",
            "<th>Password</th> <td class=\"x\">p",
            "<key>password</key><string>p",
            "&quot;password&quot;:&quot;p",
            "{&amp;quot;password&amp;quot;:&amp;quot;p",
            "?next=%2Flogin%3Fpassword%3Dp",
            "%7B%22password%22%3A%22p",
            "user%5Bpassword%5D=p",
            "{\"name\": \"password\", \"value\": \"p",
            "form-data; name=\"password\"\r\n\r\np",
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
            "s:8:\"password\";s:1:\"x\";s:5:\"email\";s:3:\"ada",
            "<field name=\"email\">ada",
            "<input type='text' name='email' value='ada",
            "<th>Email</th><th>Password</th></tr><tr><td>ada",
            "<td>Change the password</td><td>ada",
            "<b>Password:</b> x<br>ada",
            "%22password%22%3A%22x%22%2C%22email%22%3A%22ada",
            "?next=%3Fpassword%3Dx%26email%3Dada",
            "100%password",
            "{\"name\":\"password\",\"value\":\"x\"},{\"name\":\"email\",\"value\":\"ada",
            "form-data; name=\"email\"\r\n\r\nada",
            "Password:\n\nada",
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
        for text in [
            ":p",
            "|p",
            "：p",
            "｜p",
            "--p",
            "----x/p",
            " password p",
            " (pw: p",
            "\tпароль\tp",
            ";my$p",
            ",$p",
            "\thi!p",
            " | x!y!p",
        ] {
            assert!(follows_address(text.as_bytes()), "{text}");
        }
        for text in [
            ",bob",
            ";bob",
            ": bob",
            " | bob",
            "|x,bob",
            "|x\nbob",
            "-bob",
            "\npw bob",
            " pw of bob",
            "：x，bob",
            "; !bob",
            ", Hi! bob",
            ";$2y$10$x;bob",
            "\",\"price\":\"5$\",\"bob",
            ";my$x\\nbob",
            "\nmy$p",
        ] {
            assert!(!follows_address(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn domain_without_a_top_level_domain_is_doubtful_after_an_address_on_the_same_line() {
        for between in [";p", ",p", "\tp", " p", " | p", ";5f4dcc3b5aa7;p"] {
            assert!(is_doubtful(between.as_bytes(), "ss.Word"), "{between}");
            assert!(is_doubtful(between.as_bytes(), "s\u{e4}.Word"), "{between}");
            let domains =
                ["Corp.Example", "192.0.2.1", "b\u{fc}cher.example", "shop.\u{440}\u{444}"];
            for domain in domains {
                assert!(!is_doubtful(between.as_bytes(), domain), "{between} {domain}");
            }
        }
        assert!(!is_doubtful(b"\nbob", "gmail.con"));
    }
}
