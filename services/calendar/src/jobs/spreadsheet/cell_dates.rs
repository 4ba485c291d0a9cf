//! Parses dates in spreadsheet cells. Spreadsheets export dates the way they display them, which
//! depends on the locale.

use std::str::FromStr;

/// The order of day and month in dates such as `05/01/2027`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateOrder {
    DayFirst,
    MonthFirst,
}

impl FromStr for DateOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<DateOrder, String> {
        match text.to_ascii_lowercase().as_str() {
            "dmy" => Ok(DateOrder::DayFirst),
            "mdy" => Ok(DateOrder::MonthFirst),
            _ => Err("must be dmy or mdy".to_owned()),
        }
    }
}

/// The longest spreadsheet serial date, in digits. Longer numbers are dates without separators
/// (`20270105`) or Unix seconds.
const LONGEST_SERIAL: usize = 6;

/// Converts the date in a cell to an unambiguous form. If it contains slashes, the month comes
/// first, then the day, then the year.
///
/// Returns a message if day and month could be swapped, or if the cell contains a raw serial date.
pub fn date(name: &str, text: &str, order: Option<DateOrder>) -> Result<String, String> {
    if is_serial(text) {
        return Err(format!(
            "{name} {text} is a number; format its column as a date, such as 2027-01-31 18:00"
        ));
    }
    let (day, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    let number = |part: &str| part.parse::<u8>().ok().filter(|_| part.len() <= 2);
    let parts: Vec<&str> = day.split('/').collect();
    let [one, two, year] = parts[..] else { return Ok(text.to_owned()) };
    let (Some(first), Some(second)) = (number(one), number(two)) else {
        return Ok(text.to_owned());
    };
    let order = match order {
        Some(order) => order,
        None if first > 12 => DateOrder::DayFirst,
        None if second > 12 || first == second => DateOrder::MonthFirst,
        None => {
            return Err(format!(
                "{name} {text} could start with the day or the month; use --date-order dmy or mdy, \
                 or dates such as 2027-01-31"
            ));
        }
    };
    Ok(match order {
        DateOrder::DayFirst => format!("{two}/{one}/{year}{rest}"),
        DateOrder::MonthFirst => text.to_owned(),
    })
}

/// Returns whether a cell contains a spreadsheet serial date, optionally with a fractional part for
/// the time of day.
fn is_serial(text: &str) -> bool {
    let (days, fraction) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (1..=LONGEST_SERIAL).contains(&days.len()) && is_number(days) && is_number(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_cells_have_one_meaning() {
        let (day_first, month_first) = (Some(DateOrder::DayFirst), Some(DateOrder::MonthFirst));
        for (text, order, expected) in [
            ("05/01/2027 18:00", day_first, "01/05/2027 18:00"),
            ("05/01/2027 18:00", month_first, "05/01/2027 18:00"),
            ("25/01/2027", None, "01/25/2027"),
            ("01/25/2027", None, "01/25/2027"),
            ("5/5/2027", None, "5/5/2027"),
            ("2027/05/01", None, "2027/05/01"),
            ("05.01.2027 18:00", month_first, "05.01.2027 18:00"),
            ("20270105", None, "20270105"),
            ("1800000000", None, "1800000000"),
            ("", None, ""),
        ] {
            assert_eq!(date("start_date", text, order).as_deref(), Ok(expected), "{text}");
        }
        for (text, expected) in [
            ("05/01/2027 18:00", "could start with the day or the month; use --date-order"),
            ("46392", "is a number; format its column as a date"),
            ("46392.75", "is a number"),
            ("46392,75", "is a number"),
        ] {
            let error = date("start_date", text, None).unwrap_err();
            assert!(error.starts_with(&format!("start_date {text} {expected}")), "{error}");
        }
        assert_eq!("DMY".parse(), Ok(DateOrder::DayFirst));
        assert!("ymd".parse::<DateOrder>().is_err());
    }
}
