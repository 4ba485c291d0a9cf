//! Romanises names, in the same way as each country does in its passports.
//!
//! Alphabets are converted letter by letter. For names in other scripts, the Latin form is looked
//! up in `data/latin`.

use std::collections::HashMap;
use std::sync::LazyLock;

use icu_normalizer::DecomposingNormalizerBorrowed;

/// One line per language, with its code and each letter followed by its Latin form (`-` for none).
/// The language `*` applies to all of them.
const ALPHABETS: &str = include_str!("../../../data/alphabets.txt");

type Alphabet = HashMap<char, &'static str>;

static LETTERS: LazyLock<HashMap<&'static str, Alphabet>> = LazyLock::new(|| {
    let alphabet = |line: &'static str| {
        let (language, letters) = line.split_once(' ')?;
        let words: Vec<_> = letters.split(' ').collect();
        let pair = |two: &[&'static str]| Some((two[0].chars().next()?, two[1].trim_matches('-')));
        Some((language, words.chunks_exact(2).filter_map(pair).collect()))
    };
    ALPHABETS.lines().filter_map(alphabet).collect()
});

/// Romanises a name. Capitals, spaces and hyphens are kept, but any other marks and letters that
/// can't be converted are dropped.
pub fn latin(name: &str, language: &str) -> String {
    // Fast path: most names are ASCII and don't need the table.
    if name.is_ascii() {
        let is_kept = |letter: &char| letter.is_ascii_alphanumeric() || " -".contains(*letter);
        return name.chars().filter(is_kept).collect();
    }
    let mut out = String::with_capacity(name.len());
    for (position, word) in name.split(' ').enumerate() {
        if position > 0 {
            out.push(' ');
        }
        for (position, part) in word.split('-').enumerate() {
            if position > 0 {
                out.push('-');
            }
            push_word(part, language, &mut out);
        }
    }
    out
}

/// Converts a name to lower-case ASCII letters without spaces or marks.
pub fn plain(name: &str, language: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    push_plain(name, language, &mut plain);
    plain
}

/// Appends a name in lower-case ASCII letters without spaces or marks.
pub fn push_plain(name: &str, language: &str, out: &mut String) {
    let mut push = |text: &str| {
        let letters = text.bytes().filter(u8::is_ascii_alphabetic);
        out.extend(letters.map(|letter| char::from(letter.to_ascii_lowercase())));
    };
    match name.is_ascii() {
        true => push(name),
        false => push(&latin(name, language)),
    }
}

fn push_word(word: &str, language: &str, out: &mut String) {
    // Georgian doesn't have capitals.
    let mut capitals: Vec<bool> = word.chars().map(char::is_uppercase).collect();
    if language == "ka"
        && let Some(first) = capitals.first_mut()
    {
        *first = true;
    }
    let letters: Vec<char> = word.chars().filter_map(|c| c.to_lowercase().next()).collect();
    let mut at = 0;
    while at < letters.len() {
        let start = out.len();
        let joined = sequence(&letters, at, language);
        match joined {
            Some((text, _)) => out.push_str(text),
            None => push_letter(letters[at], language, out),
        }
        if capitals[at]
            && let Some(first) = out.get_mut(start..start + 1)
        {
            first.make_ascii_uppercase();
        }
        at += joined.map_or(1, |(_, length)| length);
    }
}

fn push_letter(letter: char, language: &str, out: &mut String) {
    if letter.is_ascii_alphanumeric() {
        return out.push(letter);
    }
    if let Some(text) = known(letter, language) {
        return out.push_str(text);
    }
    let mut buffer = [0; 4];
    let whole = letter.encode_utf8(&mut buffer);
    for part in DecomposingNormalizerBorrowed::new_nfd().normalize(whole).chars() {
        match known(part, language) {
            Some(text) => out.push_str(text),
            None if part.is_ascii_alphanumeric() => out.push(part),
            None => {}
        }
    }
}

fn known(letter: char, language: &str) -> Option<&'static str> {
    let spelling = |language| LETTERS.get(language)?.get(&letter).copied();
    spelling(language).or_else(|| spelling("*"))
}

/// Handles letters whose conversion depends on adjacent letters. Returns the Latin form and the
/// number of letters that it replaces.
fn sequence(letters: &[char], at: usize, language: &str) -> Option<(&'static str, usize)> {
    let (rest, first) = (&letters[at..], at == 0);
    match (language, rest) {
        ("hy", ['ո', 'ւ', ..]) => Some(("u", 2)),
        ("hy", ['ո', ..]) if first => Some(("vo", 1)),
        ("hy", ['ե', ..]) if first => Some(("ye", 1)),
        ("uk", ['з', 'г', ..]) => Some(("zgh", 2)),
        ("uk", ['є', ..]) if first => Some(("ye", 1)),
        ("uk", ['ї', ..]) if first => Some(("yi", 1)),
        ("uk", ['й', ..]) if first => Some(("y", 1)),
        ("uk", ['ю', ..]) if first => Some(("yu", 1)),
        ("uk", ['я', ..]) if first => Some(("ya", 1)),
        ("bg", ['и', 'я']) => Some(("ia", 2)),
        ("el", rest) => greek(rest, first),
        _ => None,
    }
}

/// Converts Greek letter pairs according to ELOT 743.
fn greek(rest: &[char], first: bool) -> Option<(&'static str, usize)> {
    let voiceless = |next: &char| "θκξπσςτφχψ".contains(*next);
    let v = |text: [&'static str; 2]| text[usize::from(rest.get(2).is_none_or(voiceless))];
    Some(match rest {
        ['ο', 'υ' | 'ύ', ..] => ("ou", 2),
        ['α', 'υ' | 'ύ', ..] => (v(["av", "af"]), 2),
        ['ε', 'υ' | 'ύ', ..] => (v(["ev", "ef"]), 2),
        ['η', 'υ' | 'ύ', ..] => (v(["iv", "if"]), 2),
        ['γ', 'γ', ..] => ("ng", 2),
        ['γ', 'ξ', ..] => ("nx", 2),
        ['γ', 'χ', ..] => ("nch", 2),
        ['μ', 'π', rest @ ..] => (if first || rest.is_empty() { "b" } else { "mp" }, 2),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{latin, plain};
    use crate::model::names;
    use crate::model::seed::Seed;

    #[test]
    fn names_are_romanised_by_the_conventions_of_their_language() {
        for (language, name, expected) in [
            ("en", "O'Brien-Ní Ó", "OBrien-Ni O"),
            ("pl", "Łukasz", "Lukasz"),
            ("vi", "Đặng", "Dang"),
            ("tr", "İsmayılov", "Ismayilov"),
            ("de", "Jürgen Weiß", "Juergen Weiss"),
            ("sv", "Müller", "Muller"),
            ("da", "Søren Ågård", "Soeren Aagaard"),
            ("ru", "Юлия Щербакова", "Iuliia Shcherbakova"),
            ("uk", "Михайло Громико", "Mykhailo Hromyko"),
            ("uk", "Юлія Згурська", "Yuliia Zghurska"),
            ("bg", "Християна Цветкова", "Hristiyana Tsvetkova"),
            ("bg", "Мария", "Maria"),
            ("mk", "Ѓорѓи Ќосев", "Gjorgji Kjosev"),
            ("el", "Ελένη Παπαδοπούλου", "Eleni Papadopoulou"),
            ("el", "Αυγερινός", "Avgerinos"),
            ("el", "Ευθύμιος Μπάμπης Άγγελος", "Efthymios Bampis Angelos"),
            ("ka", "ილია ჭავჭავაძე", "Ilia Chavchavadze"),
            ("hy", "Երվանդ Ոսկանյան Հարություն", "Yervand Voskanyan Harutyun"),
        ] {
            assert_eq!(latin(name, language), expected);
        }
        assert_eq!(plain("Ní Ó-Brien", "ga"), "niobrien");
        assert_eq!(plain("-", "en"), "");
    }

    #[test]
    fn romanised_names_of_every_culture_are_whole_and_ascii() {
        for culture in names::all() {
            let mut random = Seed::parse("latin").unwrap().random("test", culture.code);
            for _ in 0..2_000 {
                let name = culture.identity(random.percent(50), &mut random);
                let (code, full) = (culture.code, &name.full);
                for text in [&name.latin, &name.given_latin, &name.surname_latin] {
                    let letters = |c: char| c.is_ascii_alphabetic() || c == ' ' || c == '-';
                    assert!(!text.is_empty() && text.chars().all(letters), "{code} {full} {text}");
                    assert!(
                        text.contains(|c: char| c.is_ascii_uppercase()),
                        "{code} {full} {text}"
                    );
                }
                assert_eq!(name.kana.is_some(), code == "ja");
            }
        }
    }

    #[test]
    fn tamil_names_are_spelled_as_their_bearers_do() {
        let tamil = names::find("ta_IN").unwrap().data();
        for (name, expected) in [
            ("முருகன்", "Murugan"),
            ("லட்சுமி", "Lakshmi"),
            ("சரவணன்", "Saravanan"),
            ("செந்தில்", "Senthil"),
            ("குமார்", "Kumar"),
            ("செல்வி", "Selvi"),
            ("மீனாட்சி", "Meenakshi"),
            ("அன்பு", "Anbu"),
            ("கவிதா", "Kavitha"),
            ("கார்த்திக்", "Karthik"),
            ("முத்துசாமி", "Muthusamy"),
            ("கந்தசாமி", "Kandasamy"),
            ("ராமசாமி", "Ramasamy"),
            ("நடராஜன்", "Natarajan"),
            ("வெங்கடேசன்", "Venkatesan"),
            ("ராஜேந்திரன்", "Rajendran"),
            ("கிருஷ்ணன்", "Krishnan"),
            ("கோவிந்தன்", "Govindan"),
            ("கணேசன்", "Ganesan"),
            ("சுப்பிரமணியன்", "Subramanian"),
            ("சுந்தரம்", "Sundaram"),
            ("சண்முகம்", "Shanmugam"),
            ("மாணிக்கம்", "Manickam"),
            ("பிரியா", "Priya"),
            ("பிரகாஷ்", "Prakash"),
            ("பிரபு", "Prabhu"),
            ("பாலாஜி", "Balaji"),
            ("தேவி", "Devi"),
            ("ஜெயந்தி", "Jayanthi"),
            ("மல்லிகா", "Mallika"),
            ("ராதிகா", "Radhika"),
            ("ரேவதி", "Revathi"),
            ("வசந்தி", "Vasanthi"),
            ("மாலதி", "Malathi"),
            ("தினேஷ்", "Dinesh"),
            ("சுரேஷ்", "Suresh"),
            ("விஜய்", "Vijay"),
            ("மணிகண்டன்", "Manikandan"),
            ("ஸ்ரீநிவாசன்", "Srinivasan"),
            ("ஸ்ரீகாந்த்", "Srikanth"),
            ("ஸரஸ்வதி", "Saraswathi"),
            ("சங்கீதா", "Sangeetha"),
            ("ராஜேஷ்வரி", "Rajeshwari"),
            ("அய்யர்", "Iyer"),
            ("பிள்ளை", "Pillai"),
            ("செட்டியார்", "Chettiar"),
            ("முதலியார்", "Mudaliar"),
            ("நாயக்கர்", "Naicker"),
            ("கவுண்டர்", "Gounder"),
            ("நாடார்", "Nadar"),
            ("பாண்டியன்", "Pandian"),
            ("துரைசாமி", "Duraisamy"),
            ("சின்னசாமி", "Chinnasamy"),
            ("இளங்கோவன்", "Ilangovan"),
            ("பூங்கொடி", "Poongodi"),
        ] {
            assert_eq!(tamil.latin_of(name), Some(expected), "{name}");
        }
    }

    #[test]
    fn written_forms_follow_the_scripts_without_an_alphabet() {
        for (code, name, expected) in [
            ("ja", "木村", Some("Kimura")),
            ("ja", "恵子", Some("Keiko")),
            ("ja", "優太", Some("Yuta")),
            ("ko", "김", Some("Kim")),
            ("zh_CN", "吕", Some("Lyu")),
            ("zh_TW", "謝", Some("Hsieh")),
            ("ar", "محمد", Some("Muhammad")),
            ("ar_DZ", "يوسف", Some("Youcef")),
            ("he", "יצחק", Some("Yitzhak")),
            ("hi", "शर्मा", Some("Sharma")),
            ("hi", "राजपूत", Some("Rajput")),
            ("bn_BD", "সুলতানা", Some("Sultana")),
            ("ta_IN", "சசிகுமார்", Some("Sasikumar")),
        ] {
            assert_eq!(names::find(code).unwrap().data().latin_of(name), expected, "{code} {name}");
        }
    }
}
