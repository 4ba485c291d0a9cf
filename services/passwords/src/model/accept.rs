//! Whether a client takes gzip.

/// Reads the values of `Accept-Encoding`: true when gzip is listed with a weight above 0.
///
/// Other codings, `*` among them, leave the answer as it is.
pub fn takes_gzip<'a>(values: impl Iterator<Item = &'a [u8]>) -> bool {
    for value in values {
        for item in value.split(|byte| *byte == b',') {
            let mut parts = item.split(|byte| *byte == b';');
            let coding = parts.next().unwrap_or_default().trim_ascii();
            if coding.eq_ignore_ascii_case(b"gzip") {
                return parts.all(|parameter| !is_zero_weight(parameter));
            }
        }
    }
    false
}

/// Whether a parameter is `q=0`, with up to three zeros after the point.
fn is_zero_weight(parameter: &[u8]) -> bool {
    let parameter = parameter.trim_ascii();
    let Some((name, value)) = parameter.split_first() else { return false };
    let Some(value) = value.trim_ascii_start().strip_prefix(b"=") else { return false };
    let value = value.trim_ascii();
    name.eq_ignore_ascii_case(&b'q')
        && !value.is_empty()
        && value.iter().all(|byte| matches!(byte, b'0' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_and_lists_are_read() {
        let table: [(&[&str], bool); 14] = [
            (&[], false),
            (&["gzip"], true),
            (&["GZip"], true),
            (&["br, gzip, deflate"], true),
            (&["br", "gzip"], true),
            (&["gzip;q=0"], false),
            (&["gzip; q=0.000"], false),
            (&["gzip ; Q = 0"], false),
            (&["gzip;q=0.001"], true),
            (&["identity, gzip;q=1"], true),
            (&["br"], false),
            (&["*"], false),
            (&["xgzip, gzipx"], false),
            (&["gzip;q="], true),
        ];
        for (values, expected) in table {
            let bytes = values.iter().map(|value| value.as_bytes());
            assert_eq!(takes_gzip(bytes), expected, "{values:?}");
        }
    }
}
