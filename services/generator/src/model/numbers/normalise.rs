//! Normalizes numbers as entered by users.

/// Converts to upper case, maps lookalike characters to ASCII, and strips spaces and all separators
/// that aren't in `keep`.
pub fn normalise(text: &str, keep: &[char]) -> String {
    text.chars()
        .map(plain)
        .filter(|c| keep.contains(c) || !matches!(c, ' ' | '-' | '.' | '/' | ',' | ':'))
        .flat_map(char::to_uppercase)
        .map(latin)
        .collect()
}

/// Maps digits from other scripts and typographic separators to ASCII.
fn plain(c: char) -> char {
    let digit = |zero: u32| char::from(b'0' + ((c as u32 - zero) % 10) as u8);
    match c {
        '\u{ff10}'..='\u{ff19}' => digit(0xff10),
        '\u{1d7ce}'..='\u{1d7ff}' => digit(0x1d7ce),
        '\u{660}'..='\u{669}' => digit(0x660),
        '\u{6f0}'..='\u{6f9}' => digit(0x6f0),
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{ad}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => {
            '-'
        }
        '\u{2024}' | '\u{fe52}' | '\u{ff0e}' | '\u{b7}' => '.',
        '\u{2044}' | '\u{2215}' | '\u{ff0f}' => '/',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        c if c.is_whitespace() || matches!(c, '\u{200b}' | '\u{feff}') => ' ',
        c => c,
    }
}

/// Maps Cyrillic and Greek capitals to the Latin letters that look the same.
fn latin(c: char) -> char {
    match c {
        'А' | 'Α' => 'A',
        'В' | 'Β' => 'B',
        'С' => 'C',
        'Е' | 'Ε' => 'E',
        'Н' | 'Η' => 'H',
        'І' | 'Ι' => 'I',
        'К' | 'Κ' => 'K',
        'М' | 'Μ' => 'M',
        'О' | 'Ο' => 'O',
        'Р' | 'Ρ' => 'P',
        'Т' | 'Τ' => 'T',
        'Х' | 'Χ' => 'X',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::normalise;

    #[test]
    fn digits_and_separators_of_other_scripts_become_ascii() {
        assert_eq!(normalise("１２–３４ ٥٦/𝟕𝟖.９", &[]), "123456789");
        assert_eq!(normalise("ab-c", &['-']), "AB-C");
        assert_eq!(normalise("МК 12", &[]), "MK12");
    }
}
