//! Translates regular expressions to RE2 syntax.
//!
//! Case variants and character classes are all written out, so the two libraries can't interpret
//! anything differently.

use std::fmt::Write;

use regex_syntax::hir::{Capture, Class, ClassUnicode, Hir, HirKind, Look, Repetition};

use crate::model::fold::{fold, folded as folded_symbol};

/// Highest repetition count in RE2.
const MOST_REPEATED: u32 = 1_000;

const NOTHING: &str = r"[^\x{0}-\x{10FFFF}]";

/// Translates an expression that must match whole strings. If RE2 doesn't support it, the error
/// describes the unsupported construct.
pub(super) fn whole(hir: &Hir) -> Result<String, String> {
    let parts = match hir.kind() {
        HirKind::Concat(parts) => parts.as_slice(),
        _ => std::slice::from_ref(hir),
    };
    // Without an anchor at the end, RE2 can stop at the first match.
    let begins_free = parts.first().is_some_and(is_anything);
    let parts = if begins_free { &parts[1..] } else { parts };
    let ends_free = parts.last().map_or(begins_free, is_anything);
    let parts = parts.split_last().filter(|_| ends_free).map_or(parts, |(_, rest)| rest);
    let mut pattern = String::new();
    pattern.push_str(if begins_free { "(?:" } else { r"\A(?:" });
    for part in parts {
        write(part, &mut pattern)?;
    }
    pattern.push_str(if ends_free { ")" } else { r")\z" });
    Ok(pattern)
}

/// Rewrites an expression to run against case-folded names. Returns `None` if it depends on case.
pub(super) fn folded(hir: &Hir) -> Option<Hir> {
    let all = |parts: &[Hir]| parts.iter().map(folded).collect::<Option<Vec<_>>>();
    match hir.kind() {
        HirKind::Empty => Some(hir.clone()),
        // The long s (ſ) isn't an ASCII word character, but folds to `s`, which is.
        HirKind::Look(Look::WordAscii | Look::WordAsciiNegate) => None,
        HirKind::Look(_) => Some(hir.clone()),
        HirKind::Literal(literal) => {
            let mut symbols = std::str::from_utf8(&literal.0).ok()?.chars();
            symbols.all(|symbol| is_single(&fold(symbol))).then(|| hir.clone())
        }
        HirKind::Class(Class::Unicode(class)) => folded_class(class),
        HirKind::Class(Class::Bytes(class)) => folded_class(&class.to_unicode_class()?),
        HirKind::Repetition(repetition) => Some(Hir::repetition(Repetition {
            sub: Box::new(folded(&repetition.sub)?),
            ..repetition.clone()
        })),
        HirKind::Capture(Capture { sub, .. }) => folded(sub),
        HirKind::Concat(parts) => Some(Hir::concat(all(parts)?)),
        HirKind::Alternation(branches) => Some(Hir::alternation(all(branches)?)),
    }
}

/// Folds a character class. Returns `None` if the class has some but not all case variants of a
/// letter. A single letter is turned into a literal, which is faster in RE2.
fn folded_class(class: &ClassUnicode) -> Option<Hir> {
    let mut whole = class.clone();
    whole.case_fold_simple();
    if whole != *class {
        return None;
    }
    let first = class.ranges().first().map(|range| range.start());
    Some(match first.filter(|first| fold(*first) == *class) {
        Some(letter) => Hir::literal(folded_symbol(letter).to_string().into_bytes()),
        None => Hir::class(Class::Unicode(whole)),
    })
}

fn is_single(class: &ClassUnicode) -> bool {
    matches!(class.ranges(), [only] if only.start() == only.end())
}

/// Returns `true` for `.*` that also matches line breaks.
fn is_anything(hir: &Hir) -> bool {
    let HirKind::Repetition(Repetition { min: 0, max: None, sub, .. }) = hir.kind() else {
        return false;
    };
    match sub.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            matches!(class.ranges(), [all] if (all.start(), all.end()) == ('\0', char::MAX))
        }
        _ => false,
    }
}

fn write(hir: &Hir, pattern: &mut String) -> Result<(), String> {
    match hir.kind() {
        HirKind::Empty => pattern.push_str("(?:)"),
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).map_err(|_| bytes())?;
            text.chars().for_each(|symbol| write_symbol(symbol, pattern));
        }
        HirKind::Class(class) => write_class(class, pattern)?,
        HirKind::Look(look) => pattern.push_str(written_look(*look)?),
        HirKind::Repetition(repetition) => write_repetition(repetition, pattern)?,
        HirKind::Capture(capture) => write_group(&capture.sub, pattern)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| write(part, pattern))?,
        HirKind::Alternation(branches) => {
            pattern.push_str("(?:");
            for (place, branch) in branches.iter().enumerate() {
                pattern.push_str(if place == 0 { "" } else { "|" });
                write(branch, pattern)?;
            }
            pattern.push(')');
        }
    }
    Ok(())
}

fn write_group(hir: &Hir, pattern: &mut String) -> Result<(), String> {
    pattern.push_str("(?:");
    write(hir, pattern)?;
    pattern.push(')');
    Ok(())
}

fn write_symbol(symbol: char, pattern: &mut String) {
    if symbol.is_ascii_alphanumeric() {
        pattern.push(symbol);
    } else {
        // Writing to a `String` can't fail.
        let _ = write!(pattern, "\\x{{{:X}}}", u32::from(symbol));
    }
}

fn write_class(class: &Class, pattern: &mut String) -> Result<(), String> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => {
            class.ranges().iter().map(|range| (range.start(), range.end())).collect()
        }
        Class::Bytes(class) if class.is_ascii() => {
            let range = |range: &regex_syntax::hir::ClassBytesRange| {
                (char::from(range.start()), char::from(range.end()))
            };
            class.ranges().iter().map(range).collect()
        }
        Class::Bytes(_) => return Err(bytes()),
    };
    if ranges.is_empty() {
        pattern.push_str(NOTHING);
        return Ok(());
    }
    pattern.push('[');
    for (first, last) in ranges {
        write_symbol(first, pattern);
        if first != last {
            pattern.push('-');
            write_symbol(last, pattern);
        }
    }
    pattern.push(']');
    Ok(())
}

fn written_look(look: Look) -> Result<&'static str, String> {
    match look {
        Look::Start => Ok(r"\A"),
        Look::End => Ok(r"\z"),
        Look::StartLF => Ok("(?m:^)"),
        Look::EndLF => Ok("(?m:$)"),
        Look::WordAscii => Ok(r"\b"),
        Look::WordAsciiNegate => Ok(r"\B"),
        Look::WordUnicode => Err(unknown(r"\b between letters of all scripts; (?-u:\b) is")),
        Look::WordUnicodeNegate => Err(unknown(r"\B between letters of all scripts")),
        Look::StartCRLF | Look::EndCRLF => Err(unknown("the flag R")),
        _ => Err(unknown("the beginning or end of a word")),
    }
}

fn write_repetition(repetition: &Repetition, pattern: &mut String) -> Result<(), String> {
    let Repetition { min, max, sub, .. } = repetition;
    if *min > MOST_REPEATED || max.is_some_and(|max| max > MOST_REPEATED) {
        return Err(unknown("a repetition of more than 1000 times"));
    }
    write_group(sub, pattern)?;
    // Writing to a `String` can't fail.
    let _ = match (min, max) {
        (0, Some(1)) => write!(pattern, "?"),
        (0, None) => write!(pattern, "*"),
        (1, None) => write!(pattern, "+"),
        (min, None) => write!(pattern, "{{{min},}}"),
        (min, Some(max)) if min == max => write!(pattern, "{{{min}}}"),
        (min, Some(max)) => write!(pattern, "{{{min},{max}}}"),
    };
    Ok(())
}

fn bytes() -> String {
    unknown("bytes that are not UTF-8")
}

fn unknown(construct: &str) -> String {
    format!("the cluster's regular expressions do not support {construct}")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::expression::Expression;

    fn written(text: &str) -> Result<String, String> {
        whole(Expression::parse(text, false).unwrap().hir())
    }

    #[rstest]
    #[case("1.", r"\A(?:1[\x{0}-\x{10FFFF}])\z")]
    #[case(".*1.*", "(?:1)")]
    #[case(".*", "(?:)")]
    #[case("1.*|2", r"\A(?:(?:1(?:[\x{0}-\x{10FFFF}])*|2))\z")]
    #[case(r"\.[0-9]{2,3}", r"\A(?:\x{2E}(?:[0-9]){2,3})\z")]
    #[case("a", r"\A(?:[Aa])\z")]
    #[case("[1&&2]", r"\A(?:[^\x{0}-\x{10FFFF}])\z")]
    #[case(r"(?-u:\b)1(?m:$)", r"\A(?:\b1(?m:$))\z")]
    fn expressions_are_translated_to_re2(#[case] given: &str, #[case] expected: &str) {
        assert_eq!(written(given).unwrap(), expected);
    }

    #[rstest]
    #[case("Ska.*", Some(r"\A(?:ska)"))]
    #[case("[sk]a[^b]", Some(r"\A(?:[KSks\x{17F}\x{212A}]a[\x{0}-AC-ac-\x{10FFFF}])\z"))]
    #[case("(É|Σ)+1", Some(r"\A(?:(?:[\x{C9}\x{E9}\x{3A3}\x{3C2}-\x{3C3}])+1)\z"))]
    #[case("(?-i:a)", None)]
    #[case("(?-i:1)", Some(r"\A(?:1)\z"))]
    #[case("(?-i:[a-z])", None)]
    #[case(r"(?-u:\b)a", None)]
    fn expressions_are_folded(#[case] given: &str, #[case] expected: Option<&str>) {
        let hir = folded(Expression::parse(given, false).unwrap().hir());
        assert_eq!(hir.map(|hir| whole(&hir).unwrap()).as_deref(), expected, "{given}");
    }

    #[rstest]
    #[case(r"\bword\b", r"\b")]
    #[case(r"\Bword", r"\B")]
    #[case("1{1001}", "more than 1000")]
    #[case("(?R)(?m)^1", "flag R")]
    #[case(r"\b{start}a", "beginning")]
    fn unsupported_constructs_are_named(#[case] given: &str, #[case] reason: &str) {
        let refused = written(given).unwrap_err();
        assert!(refused.contains(reason), "{refused}");
    }
}
