//! Flags shared by commands that read files.

use crate::jobs::TextEncoding;

/// Encoding and separator of a file.
#[derive(Clone, Debug, clap::Args)]
pub struct InputFlags {
    /// Delimiter between CSV fields or after the address in a combo list: one or more characters,
    /// or `tab`
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = delimiter)]
    pub delimiter: Option<String>,
    /// Character encoding of the files. UTF-16 is also detected from the byte order mark. Gzip and
    /// Zstandard files are decompressed automatically
    #[arg(long, value_enum, default_value_t = EncodingName::Auto)]
    encoding: EncodingName,
}

impl InputFlags {
    /// Converts the flag.
    pub fn encoding(&self) -> TextEncoding {
        match self.encoding {
            EncodingName::Auto => TextEncoding::Auto,
            EncodingName::Windows1252 => TextEncoding::Windows1252,
            EncodingName::Utf16Le => TextEncoding::Utf16Le,
            EncodingName::Utf16Be => TextEncoding::Utf16Be,
        }
    }
}

/// File encodings.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum EncodingName {
    /// UTF-16 if the file has a byte order mark, otherwise UTF-8
    #[value(alias = "utf-8")]
    Auto,
    /// Windows-1252; also for Latin-1
    #[value(name = "windows-1252", aliases = ["latin-1", "latin1", "iso-8859-1"])]
    Windows1252,
    /// UTF-16, little-endian
    #[value(name = "utf-16le")]
    Utf16Le,
    /// UTF-16, big-endian
    #[value(name = "utf-16be")]
    Utf16Be,
}

fn delimiter(text: &str) -> Result<String, String> {
    match text {
        "tab" | "\\t" => Ok("\t".to_owned()),
        _ if (1..=64).contains(&text.len()) && !text.contains(['"', '\r', '\n', '@']) => {
            Ok(text.to_owned())
        }
        _ => Err("must be 1 to 64 bytes without @, quotes and line breaks, such as ; or ----, or \
                  the word tab"
            .to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn windows_1252_is_accepted_by_its_older_names() {
        for name in ["windows-1252", "latin-1", "latin1", "iso-8859-1"] {
            let found = EncodingName::from_str(name, false);
            assert!(matches!(found, Ok(EncodingName::Windows1252)), "{name}");
        }
    }

    #[test]
    fn delimiter_is_any_text_or_tab() {
        assert_eq!(delimiter("tab").as_deref(), Ok("\t"));
        for text in [";", "----", " : ", "\u{3001}"] {
            assert_eq!(delimiter(text).as_deref(), Ok(text));
        }
        for wrong in ["", "\"", "@", "a\n"] {
            assert!(delimiter(wrong).is_err(), "{wrong:?}");
        }
    }
}
