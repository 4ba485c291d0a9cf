//! Validates webhook URLs entered by users.

/// Returns `false` for control characters. URL parsers silently drop tabs and newlines, so the URL
/// we call would differ from the URL we display.
pub fn is_plain(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_with_a_control_character_is_rejected() {
        assert!(is_plain("https://hooks.example/x?y=%0D%0A"));
        for control in ['\0', '\t', '\n', '\r', '\u{7f}', '\u{85}'] {
            assert!(!is_plain(&format!("https://hooks.example/{control}x")), "{control:?}");
        }
    }
}
