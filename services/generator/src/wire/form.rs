//! List formats.

/// A list format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// A JSON array.
    #[default]
    Json,
    /// Comma-separated values with a header line (RFC 4180).
    Csv,
    /// One JSON value per line.
    Ndjson,
    /// An Excel workbook.
    Xlsx,
}

/// The media type of an Excel workbook.
pub const WORKBOOK: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// The media types of each format. Responses use the first one listed.
const TYPES: [(Form, &[&str]); 4] = [
    (Form::Json, &["application/json"]),
    (Form::Csv, &["text/csv"]),
    (Form::Ndjson, &["application/x-ndjson", "application/ndjson", "application/jsonl"]),
    (Form::Xlsx, &[WORKBOOK]),
];

impl Form {
    /// Returns the format preferred by an `Accept` header, or JSON if the header doesn't accept any
    /// of the formats.
    ///
    /// If weights are equal, a media type takes precedence over a range, and JSON over the other
    /// formats.
    pub fn accepted<'a>(accept: impl Iterator<Item = &'a str>) -> Self {
        let ranges: Vec<(&str, u16)> =
            accept.flat_map(|value| value.split(',')).map(range).collect();
        let mut best = (Self::Json, (0, 0));
        for (form, types) in TYPES {
            let liked = types.iter().map(|name| liking(&ranges, name)).max().unwrap_or_default();
            if liked.0 > 0 && liked > best.1 {
                best = (form, liked);
            }
        }
        best.0
    }

    pub fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json; charset=utf-8",
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::Ndjson => "application/x-ndjson; charset=utf-8",
            Self::Xlsx => WORKBOOK,
        }
    }
}

/// Splits a media range into its name and its weight in thousandths.
fn range(text: &str) -> (&str, u16) {
    let mut parts = text.split(';').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    let weight = weight.map_or(1.0, |weight| weight.parse().unwrap_or(0.0_f32));
    (name, (weight.clamp(0.0, 1.0) * 1000.0) as u16)
}

/// Returns the weight and the precision of the most specific range that matches a media type.
fn liking(ranges: &[(&str, u16)], name: &str) -> (u16, u8) {
    let family = name.split('/').next().unwrap_or_default();
    let precision = |range: &str| match range.split_once('/') {
        Some(("*", "*")) => Some(1),
        Some((kind, "*")) if kind.eq_ignore_ascii_case(family) => Some(2),
        _ if range.eq_ignore_ascii_case(name) => Some(3),
        _ => None,
    };
    let fitting = ranges.iter().filter_map(|(range, weight)| Some((precision(range)?, *weight)));
    fitting
        .max_by_key(|(precision, _)| *precision)
        .map_or((0, 0), |(precise, weight)| (weight, precise))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_preferred_format_is_chosen() {
        for (accept, form) in [
            ("", Form::Json),
            ("*/*", Form::Json),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Form::Json),
            ("text/csv", Form::Csv),
            ("Text/CSV; charset=utf-8", Form::Csv),
            ("text/csv, */*", Form::Csv),
            ("text/*", Form::Csv),
            ("text/csv;q=0.5, application/json", Form::Json),
            ("text/csv;q=0, */*", Form::Json),
            ("application/json, text/csv", Form::Json),
            ("application/x-ndjson, text/csv;q=0.9", Form::Ndjson),
            ("application/jsonl", Form::Ndjson),
            (WORKBOOK, Form::Xlsx),
            ("application/*", Form::Json),
            ("image/png", Form::Json),
            ("text/csv;q=high", Form::Json),
        ] {
            assert_eq!(Form::accepted([accept].into_iter()), form, "{accept}");
        }
        assert_eq!(Form::accepted(["image/png", "text/csv"].into_iter()), Form::Csv);
    }
}
