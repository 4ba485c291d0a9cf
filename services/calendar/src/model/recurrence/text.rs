//! Inspects a rule's text, and edits its end.

use std::collections::HashSet;

use jiff::civil::Date;

/// Returns the name of the first part that occurs more than once in a rule, in upper case.
pub fn repeated_part(rule: &str) -> Option<String> {
    let parts = rule.split(';').filter_map(|part| part.split_once('='));
    let mut names = parts.map(|(name, _)| name.trim().to_ascii_uppercase());
    let mut known = HashSet::new();
    names.find(|name| !known.insert(name.clone()))
}

/// Removes the whitespace next to the separators of a rule.
pub fn without_blanks(rule: &str) -> String {
    let trimmed = |text: &str, separator: &str| {
        text.split(separator).map(str::trim).collect::<Vec<_>>().join(separator)
    };
    [";", "=", ","].into_iter().fold(rule.to_owned(), |rule, mark| trimmed(&rule, mark))
}

/// Returns a rule in the form that all programs can read: in upper case, and without whitespace,
/// empty parts, and a COUNT of -1 or an UNTIL in the year 9999, which some programs write for rules
/// without an end.
pub fn plain(rule: &str) -> String {
    let rule = without_blanks(rule).to_ascii_uppercase();
    let is_endless = |part: &str| {
        part == "COUNT=-1" || part.strip_prefix("UNTIL=").is_some_and(is_after_all_dates)
    };
    let kept = rule.split(';').filter(|part| !part.is_empty() && !is_endless(part));
    kept.collect::<Vec<_>>().join(";")
}

/// Returns whether a date that ends a rule is in the year 9999, which means that the rule doesn't
/// end. A Unix time can begin with these digits, too.
pub fn is_after_all_dates(until: &str) -> bool {
    let until = until.trim();
    let is_of_year = |form: &str, length: usize| {
        let Some((day, time)) = until.split_at_checked(length) else { return false };
        (time.is_empty() || time.starts_with(['T', 't', ' ', 'Z', 'z']))
            && Date::strptime(form, day).is_ok_and(|day| day.year() == 9999)
    };
    is_of_year("%Y%m%d", 8) || is_of_year("%Y-%m-%d", 10)
}

/// Removes UNTIL and COUNT from a rule, and returns it in the form of [`plain`].
pub fn without_end(rule: &str) -> String {
    let plain = plain(rule);
    let kept = plain.split(';').filter(|part| !names(part, "UNTIL") && !names(part, "COUNT"));
    kept.collect::<Vec<_>>().join(";")
}

/// Ends a rule with this `UNTIL` value. An empty rule is left empty.
pub fn with_until(rule: &str, until: &str) -> String {
    ended(rule, &format!("UNTIL={until}"))
}

/// Replaces the `UNTIL` value of a rule that has one, and keeps all other parts.
pub fn replace_until(rule: &str, until: &str) -> String {
    let replaced = format!("UNTIL={until}");
    let parts = rule.split(';');
    let parts = parts.map(|part| if names(part, "UNTIL") { replaced.as_str() } else { part });
    parts.collect::<Vec<_>>().join(";")
}

/// Ends a rule after this number of occurrences. An empty rule is left empty.
pub fn with_count(rule: &str, count: usize) -> String {
    ended(rule, &format!("COUNT={count}"))
}

/// Replaces a COUNT of 0, which earlier versions stored, with 1. RFC 5545 doesn't allow 0, and the
/// start of a rule always counts.
pub fn counting_start(rule: String) -> String {
    let is_zero = |part: &str| {
        let value = part.split_once('=').and_then(|(_, value)| value.trim().parse::<usize>().ok());
        names(part, "COUNT") && value == Some(0)
    };
    if !rule.split(';').any(is_zero) {
        return rule;
    }
    let parts = rule.split(';').map(|part| if is_zero(part) { "COUNT=1" } else { part });
    parts.collect::<Vec<_>>().join(";")
}

fn ended(rule: &str, end: &str) -> String {
    match without_end(rule) {
        rule if rule.is_empty() => rule,
        rule => format!("{rule};{end}"),
    }
}

fn names(part: &str, name: &str) -> bool {
    part.split_once('=').is_some_and(|(found, _)| found.trim().eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::super::Rule;
    use super::*;

    #[test]
    fn repeated_part_of_a_rule_is_found() {
        for (rule, expected) in [
            ("FREQ=WEEKLY;BYDAY=TU;", None),
            ("FREQ=WEEKLY;freq=DAILY", Some("FREQ")),
            ("FREQ=WEEKLY;BYDAY=TU;COUNT=3;BYDAY=WE", Some("BYDAY")),
        ] {
            assert_eq!(repeated_part(rule).as_deref(), expected, "{rule}");
            assert_eq!(Rule::parse(rule).is_none(), expected.is_some(), "{rule}");
        }
    }

    #[test]
    fn plain_rules_have_the_form_of_the_standard() {
        for (rule, expected) in [
            ("freq=weekly; byday=MO, TU;", "FREQ=WEEKLY;BYDAY=MO,TU"),
            ("FREQ=DAILY;COUNT=-1", "FREQ=DAILY"),
            ("FREQ=DAILY;UNTIL=99991231T235959Z", "FREQ=DAILY"),
            ("FREQ=DAILY;until = 99991231;INTERVAL=2", "FREQ=DAILY;INTERVAL=2"),
            ("FREQ=DAILY;UNTIL=99981231", "FREQ=DAILY;UNTIL=99981231"),
            ("FREQ=DAILY;UNTIL=999900000", "FREQ=DAILY;UNTIL=999900000"),
            ("FREQ=DAILY;UNTIL=99991331", "FREQ=DAILY;UNTIL=99991331"),
            (";FREQ=DAILY;;COUNT=10", "FREQ=DAILY;COUNT=10"),
        ] {
            assert_eq!(plain(rule), expected);
            assert_eq!(Rule::parse(rule), Rule::parse(expected), "{rule}");
            assert!(Rule::parse(rule).is_some(), "{rule}");
        }
    }

    #[test]
    fn count_of_zero_becomes_one() {
        for (rule, expected) in [
            ("FREQ=WEEKLY;COUNT=0;BYDAY=TU", "FREQ=WEEKLY;COUNT=1;BYDAY=TU"),
            ("freq=weekly; count = 00", "freq=weekly;COUNT=1"),
            ("FREQ=WEEKLY;COUNT=10", "FREQ=WEEKLY;COUNT=10"),
            ("", ""),
        ] {
            assert_eq!(counting_start(rule.to_owned()), expected, "{rule}");
        }
    }

    #[test]
    fn end_of_a_rule_is_replaced() {
        let rule = "freq=weekly;COUNT=5;BYDAY=TU;";
        assert_eq!(without_end(rule), "FREQ=WEEKLY;BYDAY=TU");
        let until = with_until(rule, "20270630T215959Z");
        assert_eq!(until, "FREQ=WEEKLY;BYDAY=TU;UNTIL=20270630T215959Z");
        assert_eq!(with_count(&until, 3), "FREQ=WEEKLY;BYDAY=TU;COUNT=3");
        let replaced = replace_until("freq=weekly;until=20270630;COUNT=5", "20270701");
        assert_eq!(replaced, "freq=weekly;UNTIL=20270701;COUNT=5");
        assert_eq!((with_until("", "20270630"), with_count("", 2)), (String::new(), String::new()));
    }
}
