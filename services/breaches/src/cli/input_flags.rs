//! Flags of commands that read files of others.

use crate::jobs::TextEncoding;

/// How the text of a file is encoded and separated.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct InputFlags {
    /// What separates the cells of CSV, or ends the address of a combo: a character, or tab
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// Encoding of the files; UTF-16 is also recognised by its mark. Gzip and Zstandard are unpacked
    #[arg(long, value_enum, default_value_t = EncodingName::Auto)]
    encoding: EncodingName,
}

impl InputFlags {
    /// How the files are encoded.
    pub fn encoding(self) -> TextEncoding {
        match self.encoding {
            EncodingName::Auto => TextEncoding::Auto,
            EncodingName::Windows1252 => TextEncoding::Windows1252,
            EncodingName::Utf16Le => TextEncoding::Utf16Le,
            EncodingName::Utf16Be => TextEncoding::Utf16Be,
        }
    }
}

/// An encoding as a word.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum EncodingName {
    /// UTF-16 where a mark says so, else UTF-8
    #[value(alias = "utf-8")]
    Auto,
    /// Windows-1252, which also reads Latin-1
    #[value(name = "windows-1252", aliases = ["latin-1", "latin1", "iso-8859-1"])]
    Windows1252,
    /// UTF-16, little-endian
    #[value(name = "utf-16le")]
    Utf16Le,
    /// UTF-16, big-endian
    #[value(name = "utf-16be")]
    Utf16Be,
}

fn delimiter(text: &str) -> Result<u8, String> {
    match (text, text.as_bytes()) {
        ("tab" | "\\t", _) => Ok(b'\t'),
        (_, [byte]) if byte.is_ascii() && !b"\"\r\n@".contains(byte) => Ok(*byte),
        _ => Err("one character, such as ; or |, or the word tab".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn windows_1252_has_its_older_names_too() {
        for name in ["windows-1252", "latin-1", "latin1", "iso-8859-1"] {
            let found = EncodingName::from_str(name, false);
            assert!(matches!(found, Ok(EncodingName::Windows1252)), "{name}");
        }
    }

    #[test]
    fn a_delimiter_is_one_character() {
        assert_eq!(delimiter("tab"), Ok(b'\t'));
        assert_eq!(delimiter(";"), Ok(b';'));
        for wrong in ["", "\"", "@", "ab", "\u{fc}"] {
            assert!(delimiter(wrong).is_err(), "{wrong:?}");
        }
    }
}
