//! Slugs, the part of a URL that identifies a resource.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

/// Maximum length of a slug in bytes.
pub const MAX_BYTES: usize = 200;

/// Separates a series name from an occurrence date. Never appears elsewhere in slugs.
pub const SEPARATOR: &str = "--";

/// Maximum length of a series name in slugs, in bytes. Leaves room for a date, a number and the
/// trash suffix.
const NAME_BYTES: usize = 160;

/// Suffix for the slugs of trashed resources.
pub const TRASHED: &str = "__trashed";

/// Converts a string to a slug. The result is empty if none of its characters are allowed in slugs.
pub fn slugify(text: &str) -> String {
    cut(&normalized(text), MAX_BYTES).to_owned()
}

/// Normalizes a slug from a URL. The trash suffix can make a slug longer than the maximum.
pub fn lookup_form(text: &str) -> String {
    // An occurrence's slug has a separator before the date, which normalization would shorten.
    if let Some((name, date)) = text.rsplit_once(SEPARATOR)
        && date.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
    {
        return format!("{}{SEPARATOR}{}", cut(&normalized(name), MAX_BYTES), normalized(date));
    }
    let slug = normalized(text);
    match slug.strip_suffix(TRASHED) {
        Some(stem) => format!("{}{TRASHED}", cut(stem, MAX_BYTES)),
        None => cut(&slug, MAX_BYTES).to_owned(),
    }
}

/// Like [`slugify`], but keeps the separator of an occurrence's slug.
pub fn slugify_dated(text: &str) -> String {
    let dated = dated(text.trim()).map(|(name, date)| (name_of_series(name), date));
    match dated.filter(|(name, _)| !name.is_empty()) {
        Some((name, date)) => format!("{name}{SEPARATOR}{date}"),
        None => slugify(text),
    }
}

/// Splits an occurrence's slug into the series name and the date, such as `2027-03-09`,
/// `2027-03-09-1830` or `2027-03-09-2`. Returns `None` for other slugs.
pub fn dated(slug: &str) -> Option<(&str, &str)> {
    let (name, date) = slug.rsplit_once(SEPARATOR)?;
    let parts: Vec<&str> = date.split('-').collect();
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let is_date = match &parts[..] {
        [year, month, day, more @ ..] => {
            (year.len(), month.len(), day.len()) == (4, 2, 2)
                && more.len() <= 2
                && more.iter().all(|part| (1..=4).contains(&part.len()))
                && parts.iter().all(|part| is_number(part))
        }
        _ => false,
    };
    is_date.then_some((name, date))
}

/// Converts a string to a slug prefix for a series.
pub fn name_of_series(text: &str) -> String {
    cut(&normalized(text), NAME_BYTES).to_owned()
}

/// Returns whether a string is short enough for a slug, not counting the trash suffix.
pub fn fits(text: &str) -> bool {
    text.strip_suffix(TRASHED).unwrap_or(text).len() <= MAX_BYTES
}

/// Maximum number of passes. Later passes handle sequences that only became adjacent in the
/// previous one.
const PASSES: usize = 8;

/// Normalizes a string until it is stable, because a slug must also be found after a URL has been
/// decoded.
fn normalized(text: &str) -> String {
    let mut slug = cleaned(&super::html::strip_tags(text));
    for _ in 1..PASSES {
        let next = cleaned(&slug);
        if next == slug {
            break;
        }
        slug = next;
    }
    slug
}

fn cleaned(text: &str) -> String {
    let text = with_letters_decoded(text).to_lowercase();
    let text = ComposingNormalizerBorrowed::new_nfc().normalize(&text);
    let mut slug = String::with_capacity(text.len());
    text.chars().for_each(|c| push(&mut slug, c));
    slug.trim_matches('-').to_owned()
}

/// Decodes percent-encoded characters of the kind that slugs encode themselves. Other percent signs
/// count as punctuation, and URLs with `%2f` or invalid UTF-8 aren't found.
fn with_letters_decoded(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (c, length) = encoded_letter(rest).unwrap_or((c, c.len_utf8()));
        decoded.push(c);
        rest = &rest[length..];
    }
    decoded
}

/// Decodes the percent-encoded non-ASCII character at the start of a string, if any. Returns the
/// character and its encoded length.
fn encoded_letter(text: &str) -> Option<(char, usize)> {
    let mut bytes = Vec::with_capacity(4);
    while bytes.len() < 4 {
        let octet = text.get(3 * bytes.len()..)?.strip_prefix('%')?.get(..2)?;
        if !octet.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        bytes.push(u8::from_str_radix(octet, 16).ok()?);
        if let Ok(decoded) = std::str::from_utf8(&bytes) {
            let c = decoded.chars().next().filter(|c| !c.is_ascii())?;
            return Some((c, 3 * bytes.len()));
        }
    }
    None
}

fn push(slug: &mut String, c: char) {
    match c {
        'a'..='z' | '0'..='9' | '_' => slug.push(c),
        ' ' | '\t' | '\n' | '\r' | '.' | '/' | '-' | '\u{a0}' | '\u{2010}'..='\u{2015}' => {
            if !slug.ends_with('-') {
                slug.push('-');
            }
        }
        _ if c.is_ascii() => {}
        '\u{80}'..='\u{a9}' | '\u{ab}'..='\u{b4}' | '\u{b6}'..='\u{b9}' | '\u{bb}'..='\u{bf}' => {}
        '\u{d7}' | '\u{f7}' | '\u{2000}'..='\u{206f}' => {}
        _ => push_letter(slug, c),
    }
}

fn push_letter(slug: &mut String, c: char) {
    let plain = match c {
        'ß' => "s",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' | 'ð' => "d",
        'ł' => "l",
        'þ' => "th",
        'ı' => "i",
        'ħ' => "h",
        _ => "",
    };
    if !plain.is_empty() {
        slug.push_str(plain);
        return;
    }
    let mut buffer = [0; 4];
    let letter = c.encode_utf8(&mut buffer);
    let parts = DecomposingNormalizerBorrowed::new_nfd().normalize(letter);
    match parts.chars().next() {
        Some(base) if base.is_ascii_lowercase() => slug.push(base),
        _ => {
            for byte in letter.bytes() {
                slug.push_str(&format!("%{byte:02x}"));
            }
        }
    }
}

/// Truncates a slug without splitting percent-encoded characters.
fn cut(slug: &str, most: usize) -> &str {
    if slug.len() <= most {
        return slug;
    }
    let (mut end, mut at) = (0, 0);
    while at < slug.len() {
        at += encoded_letter(&slug[at..]).map_or(1, |(_, length)| length);
        if at > most {
            break;
        }
        end = at;
    }
    slug[..end].trim_end_matches('-')
}

/// Appends the trash suffix. The result can exceed the maximum length of a slug.
pub fn with_suffix(base: &str, suffix: &str) -> String {
    format!("{base}{suffix}")
}

/// Appends the parent's slug, and truncates the result to the maximum length.
pub fn below(base: &str, parent: &str) -> String {
    cut(&format!("{base}-{parent}"), MAX_BYTES).to_owned()
}

/// Returns a free slug: either `base` itself, or `base` followed by `-2`, `-3` and so on.
///
/// The number is found by doubling and bisection. For a title that has been used a thousand times,
/// this takes about twenty lookups. After deletions, it might not be the lowest free number.
pub fn free<E>(base: &str, mut taken: impl FnMut(&str) -> Result<bool, E>) -> Result<String, E> {
    if !taken(base)? {
        return Ok(base.to_owned());
    }
    let numbered = |n: u64| {
        let number = format!("-{n}");
        format!("{}{number}", cut(base, MAX_BYTES - number.len()))
    };
    let (mut used, mut open) = (1, 2);
    while taken(&numbered(open))? {
        used = open;
        open *= 2;
    }
    while open - used > 1 {
        let middle = used + (open - used) / 2;
        if taken(&numbered(middle))? {
            used = middle;
        } else {
            open = middle;
        }
    }
    Ok(numbered(open))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_slugs() {
        for (text, slug) in [
            ("Größe 日本 Übung", "grose-%e6%97%a5%e6%9c%ac-ubung"),
            ("Some Ünï Slug!", "some-uni-slug"),
            ("A  --  B", "a-b"),
            ("<b>Bold</b> move", "bold-move"),
            ("a.b/c", "a-b-c"),
            ("-- edge --", "edge"),
            ("Jazz – late", "jazz-late"),
            ("%E6%97%A5", "%e6%97%a5"),
            ("100%", "100"),
            ("100%Dance Party", "100dance-party"),
            ("a%2Fb", "a2fb"),
            ("50%25 off", "5025-off"),
            ("%E6%97", "e697"),
            ("%C3%9C%CC%88", "u"),
            ("u%CC%88", "u"),
            ("u!\u{308}", "u"),
            ("a%E2%80%93b", "a-b"),
            ("u\u{308}ber", "uber"),
            ("name__trashed", "name__trashed"),
            ("!!!", ""),
        ] {
            assert_eq!(slugify(text), slug, "{text}");
        }
    }

    #[test]
    fn long_slugs_end_between_characters() {
        for begin in ["", "a", "ab", "abc", "abcd", "abcde"] {
            for letter in ["日", "д", "𐍈"] {
                let slug = slugify(&format!("{begin}{}", letter.repeat(100)));
                let octets = slug.len() - begin.len();
                assert!(slug.len() <= MAX_BYTES, "{slug}");
                assert!(octets.is_multiple_of(3 * letter.len()), "{slug}");
                assert_eq!(slugify(&slug), slug);
            }
        }
    }

    #[test]
    fn suffixed_slugs_keep_the_length_limit() {
        let long = "a".repeat(MAX_BYTES);
        assert_eq!(
            free(&long, |slug| Ok::<_, ()>(slug == long)).unwrap(),
            long[2..].to_owned() + "-2"
        );
        assert_eq!(below("music", "art"), "music-art");
        assert_eq!(below("music", &long), format!("music-{}", &long[..MAX_BYTES - 6]));
        assert_eq!(below(&long, "art"), long);
        let octets = "%d0%b4".repeat(40);
        let cut = below("ab", &octets);
        assert!(cut.len() <= MAX_BYTES && cut.ends_with("%d0%b4"), "{cut}");
    }

    #[test]
    fn longest_slug_is_found_in_the_trash() {
        let long = "a".repeat(MAX_BYTES);
        let trashed = with_suffix(&long, TRASHED);
        assert_eq!(lookup_form(&trashed.to_uppercase()), trashed);
        assert_eq!(lookup_form(&format!("{long}b")), long);
        assert_eq!(slugify(&trashed), long);
        assert!(fits(&trashed) && fits(&long) && !fits(&format!("{long}b")));
    }

    #[test]
    fn slugs_of_occurrences_are_found_with_their_date() {
        for (text, slug) in [
            ("yoga--2027-03-09", "yoga--2027-03-09"),
            ("Yoga--2027-03-09-1830__trashed", "yoga--2027-03-09-1830__trashed"),
            ("a--b--2027-03-09", "a-b--2027-03-09"),
            ("a--b", "a-b"),
            ("--2027", "2027"),
        ] {
            assert_eq!(lookup_form(text), slug, "{text}");
        }
        for (text, slug) in [
            ("Yoga--2027-03-09", "yoga--2027-03-09"),
            ("a--b--2027-03-09-1830-2", "a-b--2027-03-09-1830-2"),
            ("日--2027-03-09", "%e6%97%a5--2027-03-09"),
            ("a--2027-03", "a-2027-03"),
            ("a--2027-03-09-x", "a-2027-03-09-x"),
            ("--2027-03-09", "2027-03-09"),
            ("!--2027-03-09", "2027-03-09"),
        ] {
            assert_eq!(slugify_dated(text), slug, "{text}");
            assert_eq!(lookup_form(slug), slug);
        }
        assert_eq!(name_of_series(&"a".repeat(300)).len(), NAME_BYTES);
    }

    #[test]
    fn collisions_are_numbered() {
        let mut used = std::collections::HashSet::new();
        for expected in ["a", "a-2", "a-3", "a-4", "a-5"] {
            let slug = free("a", |s| Ok::<_, ()>(used.contains(s))).unwrap();
            assert_eq!(slug, expected);
            used.insert(slug);
        }
    }

    proptest::proptest! {
        #[test]
        fn slugify_is_idempotent(text in "(\\PC|%[0-9a-fA-F]{2}){0,80}") {
            let once = slugify(&text);
            proptest::prop_assert_eq!(slugify(&once), once);
        }

        #[test]
        fn every_slug_is_one_path_segment(text in "(\\PC|%[0-9a-fA-F]{2}|%){0,80}") {
            let slug = slugify(&text);
            let decoded = url::form_urlencoded::parse(slug.as_bytes()).map(|(name, _)| name);
            let decoded: String = decoded.collect();
            proptest::prop_assert_eq!(lookup_form(&decoded), slug);
            proptest::prop_assert!(!decoded.contains(['/', '%']));
        }
    }
}
