//! Names in plain Latin letters, for e-mail addresses and identity numbers.

use icu_normalizer::DecomposingNormalizerBorrowed;

const CYRILLIC: [(char, &str); 43] = [
    ('а', "a"),
    ('б', "b"),
    ('в', "v"),
    ('г', "g"),
    ('ґ', "g"),
    ('д', "d"),
    ('ѓ', "gj"),
    ('е', "e"),
    ('ё', "e"),
    ('є', "ie"),
    ('ж', "zh"),
    ('з', "z"),
    ('ѕ', "dz"),
    ('и', "i"),
    ('і', "i"),
    ('ї', "i"),
    ('й', "i"),
    ('ј', "j"),
    ('к', "k"),
    ('л', "l"),
    ('љ', "lj"),
    ('м', "m"),
    ('н', "n"),
    ('њ', "nj"),
    ('о', "o"),
    ('п', "p"),
    ('р', "r"),
    ('с', "s"),
    ('т', "t"),
    ('у', "u"),
    ('ф', "f"),
    ('х', "kh"),
    ('ц', "ts"),
    ('ч', "ch"),
    ('џ', "dj"),
    ('ш', "sh"),
    ('щ', "sht"),
    ('ъ', "a"),
    ('ы', "y"),
    ('ь', ""),
    ('э', "e"),
    ('ю', "iu"),
    ('я', "ia"),
];
const GREEK: [(char, &str); 25] = [
    ('α', "a"),
    ('β', "v"),
    ('γ', "g"),
    ('δ', "d"),
    ('ε', "e"),
    ('ζ', "z"),
    ('η', "i"),
    ('θ', "th"),
    ('ι', "i"),
    ('κ', "k"),
    ('λ', "l"),
    ('μ', "m"),
    ('ν', "n"),
    ('ξ', "x"),
    ('ο', "o"),
    ('π', "p"),
    ('ρ', "r"),
    ('σ', "s"),
    ('ς', "s"),
    ('τ', "t"),
    ('υ', "y"),
    ('φ', "f"),
    ('χ', "ch"),
    ('ψ', "ps"),
    ('ω', "o"),
];
const GEORGIAN: [(char, &str); 33] = [
    ('ა', "a"),
    ('ბ', "b"),
    ('გ', "g"),
    ('დ', "d"),
    ('ე', "e"),
    ('ვ', "v"),
    ('ზ', "z"),
    ('თ', "t"),
    ('ი', "i"),
    ('კ', "k"),
    ('ლ', "l"),
    ('მ', "m"),
    ('ნ', "n"),
    ('ო', "o"),
    ('პ', "p"),
    ('ჟ', "zh"),
    ('რ', "r"),
    ('ს', "s"),
    ('ტ', "t"),
    ('უ', "u"),
    ('ფ', "p"),
    ('ქ', "k"),
    ('ღ', "gh"),
    ('ყ', "q"),
    ('შ', "sh"),
    ('ჩ', "ch"),
    ('ც', "ts"),
    ('ძ', "dz"),
    ('წ', "ts"),
    ('ჭ', "ch"),
    ('ხ', "kh"),
    ('ჯ', "j"),
    ('ჰ', "h"),
];
const ARMENIAN: [(char, &str); 39] = [
    ('ա', "a"),
    ('բ', "b"),
    ('գ', "g"),
    ('դ', "d"),
    ('ե', "e"),
    ('զ', "z"),
    ('է', "e"),
    ('ը', "y"),
    ('թ', "t"),
    ('ժ', "zh"),
    ('ի', "i"),
    ('լ', "l"),
    ('խ', "kh"),
    ('ծ', "ts"),
    ('կ', "k"),
    ('հ', "h"),
    ('ձ', "dz"),
    ('ղ', "gh"),
    ('ճ', "ch"),
    ('մ', "m"),
    ('յ', "y"),
    ('ն', "n"),
    ('շ', "sh"),
    ('ո', "o"),
    ('չ', "ch"),
    ('պ', "p"),
    ('ջ', "j"),
    ('ռ', "r"),
    ('ս', "s"),
    ('վ', "v"),
    ('տ', "t"),
    ('ր', "r"),
    ('ց', "ts"),
    ('ւ', "u"),
    ('փ', "p"),
    ('ք', "k"),
    ('օ', "o"),
    ('ֆ', "f"),
    ('և', "ev"),
];
/// Letters that do not decompose into an ASCII letter and a mark.
const LATIN: [(char, &str); 14] = [
    ('ß', "ss"),
    ('æ', "ae"),
    ('ø', "o"),
    ('œ', "oe"),
    ('ł', "l"),
    ('đ', "d"),
    ('ð', "d"),
    ('þ', "th"),
    ('ı', "i"),
    ('ə', "a"),
    ('ŋ', "n"),
    ('ħ', "h"),
    ('ɔ', "o"),
    ('ɛ', "e"),
];

/// Converts a name to lower-case ASCII letters, without blanks and marks. Returns `None` if a
/// letter has no known Latin form. In German, `ü` becomes `ue`.
pub fn plain(name: &str, german: bool) -> Option<String> {
    let mut plain = String::with_capacity(name.len());
    for letter in name.chars().flat_map(char::to_lowercase) {
        match letter {
            'a'..='z' => plain.push(letter),
            'ä' if german => plain.push_str("ae"),
            'ö' if german => plain.push_str("oe"),
            'ü' if german => plain.push_str("ue"),
            ' ' | '-' | '\'' | '’' | 'ʻ' | 'ʼ' | '.' | '·' => {}
            _ => push(letter, &mut plain)?,
        }
    }
    (!plain.is_empty()).then_some(plain)
}

fn push(letter: char, plain: &mut String) -> Option<()> {
    if let Some((_, text)) = known(letter) {
        plain.push_str(text);
        return Some(());
    }
    let mut buffer = [0; 4];
    let whole = letter.encode_utf8(&mut buffer);
    let apart = DecomposingNormalizerBorrowed::new_nfd().normalize(whole);
    for part in apart.chars() {
        match part {
            'a'..='z' => plain.push(part),
            // Combining marks.
            '\u{300}'..='\u{36f}' => {}
            other => plain.push_str(known(other)?.1),
        }
    }
    Some(())
}

fn known(letter: char) -> Option<&'static (char, &'static str)> {
    let table: &[_] = match letter {
        '\u{df}'..='\u{2ff}' => &LATIN,
        '\u{370}'..='\u{3ff}' => &GREEK,
        '\u{400}'..='\u{52f}' => &CYRILLIC,
        '\u{530}'..='\u{58f}' => &ARMENIAN,
        '\u{10a0}'..='\u{10ff}' => &GEORGIAN,
        _ => return None,
    };
    table.iter().find(|(own, _)| *own == letter)
}

#[cfg(test)]
mod tests {
    use super::plain;
    use crate::model::names;

    #[test]
    fn names_become_plain() {
        for (name, expected) in [
            ("Müller", "muller"),
            ("O'Brien-Ní Ó", "obriennio"),
            ("Łukasz", "lukasz"),
            ("Đặng", "dang"),
            ("İsmayılov", "ismayilov"),
            ("Щербакова", "shterbakova"),
            ("Ελένη", "eleni"),
            ("ჭავჭავაძე", "chavchavadze"),
            ("Սարգսյան", "sargsyan"),
        ] {
            assert_eq!(plain(name, false).as_deref(), Some(expected), "{name}");
        }
        assert_eq!(plain("Jürgen Weiß", true), Some("juergenweiss".to_owned()));
        assert_eq!(plain("田中", false), None);
        assert_eq!(plain("-", false), None);
    }

    #[test]
    fn names_of_latin_greek_cyrillic_georgian_and_armenian_cultures_all_become_plain() {
        let others = "ar ar_DZ ar_PS bn_BD fa he hi ja ko mr_IN ne ta_IN th zh_CN zh_TW";
        for culture in names::all() {
            let expected = !others.split(' ').any(|code| code == culture.code);
            let mut random = crate::model::Seed::parse("plain").unwrap().random("test", "");
            for _ in 0..300 {
                let identity = culture.identity(true, &mut random);
                let found = plain(&identity.full, false).is_some();
                assert_eq!(found, expected, "{} {}", culture.code, identity.full);
            }
        }
    }
}
