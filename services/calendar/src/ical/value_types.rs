//! Corrects value types that programs declare wrongly.

use super::property::{Property, has_time};

/// Length of a date such as `20260131`.
const DAY: usize = 8;

/// Turns the midnights of an event into times if its start or its end has a time of day. The other
/// one may be declared as a day (`VALUE=DATE:20260131T000000`), or be a time that is written as a
/// day (`VALUE=DATE-TIME:20260131`).
pub fn correct(properties: &mut [Property]) {
    let is_edge = |one: &Property| matches!(one.name.as_str(), "DTSTART" | "DTEND");
    if !properties.iter().any(|one| is_edge(one) && has_time(&one.value)) {
        return;
    }
    for property in properties.iter_mut().filter(|one| is_edge(one)) {
        let is_declared = |kind: &str| {
            property.parameter("VALUE").is_some_and(|declared| declared.eq_ignore_ascii_case(kind))
        };
        let day = property.value.trim();
        if is_declared("DATE") && day.len() > DAY {
            property.parameters.retain(|(name, _)| name != "VALUE");
        } else if is_declared("DATE-TIME") && day.len() == DAY {
            property.value = format!("{day}T000000");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn midnight_is_a_time_if_the_other_edge_has_one() {
        for (start, end, expected) in [
            (
                "DTSTART;VALUE=DATE:20260131T000000",
                "DTEND;VALUE=DATE:20260131T010000",
                [(None, "20260131T000000"), (None, "20260131T010000")],
            ),
            (
                "DTSTART;VALUE=DATE:20260131T000000",
                "DTEND;VALUE=DATE:20260201T000000",
                [(Some("DATE"), "20260131T000000"), (Some("DATE"), "20260201T000000")],
            ),
            (
                "DTSTART;VALUE=DATE-TIME:20260131",
                "DTEND;VALUE=DATE-TIME:20260131T235900",
                [(Some("DATE-TIME"), "20260131T000000"), (Some("DATE-TIME"), "20260131T235900")],
            ),
            (
                "DTSTART;VALUE=DATE:20260131",
                "DTEND:20260131T235900",
                [(Some("DATE"), "20260131"), (None, "20260131T235900")],
            ),
        ] {
            let mut properties = [start, end].map(|line| Property::parse(line).unwrap());
            correct(&mut properties);
            let found =
                properties.each_ref().map(|one| (one.parameter("VALUE"), one.value.as_str()));
            assert_eq!(found, expected, "{start}");
        }
    }
}
