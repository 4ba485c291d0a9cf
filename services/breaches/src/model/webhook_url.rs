//! Addresses of webhooks as they are typed.

/// Whether an address has no control character. Readers of URLs skip tabs and line breaks without a
/// word, so that an address with them would not be the one that is called.
pub fn is_plain(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_is_part_of_an_address() {
        assert!(is_plain("https://hooks.example/x?y=%0D%0A"));
        for control in ['\0', '\t', '\n', '\r', '\u{7f}', '\u{85}'] {
            assert!(!is_plain(&format!("https://hooks.example/{control}x")), "{control:?}");
        }
    }
}
