//! Parses a single line of a text listing.

/// The tool that wrote the listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    Aws,
    S5cmd,
    Gsutil,
}

/// A line of a listing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Blank line or summary.
    Other,
    /// A folder. Its files aren't listed.
    Folder(Tool),
    File {
        tool: Tool,
        /// Bucket name. Only `gsutil` prints it.
        bucket: Option<&'a str>,
        path: &'a str,
        size: &'a str,
        date: String,
    },
}

/// `aws s3 ls` right-aligns sizes to this width.
const AWS_SIZE: usize = 10;
/// Units in `aws s3 ls --human-readable`. Only sizes in bytes are exact.
const AWS_UNITS: [&str; 8] = ["Bytes", "Byte", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Detects which tool wrote a line, which may be the summary of an empty listing.
pub(super) fn recognised(line: &str) -> Option<Tool> {
    match parsed(line)? {
        Line::Other if line.starts_with("Total Objects:") => Some(Tool::Aws),
        Line::Other if line.starts_with("TOTAL:") => Some(Tool::Gsutil),
        Line::Other => None,
        Line::Folder(tool) | Line::File { tool, .. } => Some(tool),
    }
}

/// Parses a line. Returns `None` if it isn't from any of the tools.
pub(super) fn parsed(line: &str) -> Option<Line<'_>> {
    let text = line.trim_start();
    let is_sum =
        ["Total Objects:", "Total Size:", "TOTAL:"].iter().any(|sum| text.starts_with(sum));
    if text.is_empty() || is_sum {
        return Some(Line::Other);
    }
    for (mark, tool) in [("PRE ", Tool::Aws), ("DIR ", Tool::S5cmd), ("gs://", Tool::Gsutil)] {
        // Without `-l`, `gsutil ls` prints just the URLs of files.
        let is_file = tool == Tool::Gsutil && !text.trim_end().ends_with(['/', ':']);
        if text.starts_with(mark) && !is_file {
            return Some(Line::Folder(tool));
        }
    }
    let (first, rest) = text.split_once(' ')?;
    if is_number(first) {
        // 1234  2022-10-25T02:57:46Z  gs://bucket/path#generation  metageneration=1
        let (date, rest) = rest.trim_start().split_once(' ')?;
        let (bucket, path) = rest.trim_start().strip_prefix("gs://")?.split_once('/')?;
        let path = match path.rsplit_once("  metageneration=") {
            Some((path, _)) => path.rsplit_once('#').map_or(path, |(path, _)| path),
            None => path,
        };
        let (tool, bucket, date) = (Tool::Gsutil, Some(bucket), date.to_owned());
        return Some(Line::File { tool, bucket, path, size: first, date });
    }
    // 2022-10-25 02:57:46       1234 path
    let (time, rest) = rest.split_once(' ')?;
    let has_shape = |text: &str, separators: [u8; 2], places: [usize; 2], length: usize| {
        text.len() == length
            && text.bytes().enumerate().all(|(place, byte)| match place {
                _ if place == places[0] => byte == separators[0],
                _ if place == places[1] => byte == separators[1],
                _ => byte.is_ascii_digit(),
            })
    };
    if !has_shape(time, [b':'; 2], [2, 5], 8) {
        return None;
    }
    let date = format!("{first} {time}");
    let bucket = None;
    if has_shape(first, [b'/'; 2], [4, 7], 10) {
        let (size, path) = rest.trim_start().split_once(' ')?;
        let path = path.strip_prefix(' ').unwrap_or(path);
        return Some(Line::File { tool: Tool::S5cmd, bucket, path, size, date });
    }
    if !has_shape(first, [b'-'; 2], [4, 7], 10) {
        return None;
    }
    let (size, path) = aws_size(rest)?;
    Some(Line::File { tool: Tool::Aws, bucket, path, size, date })
}

/// Splits the size from the path in a line from `aws s3 ls`. A rounded size includes its unit. So
/// does a size with unreliable alignment, because the unit could then be the start of the path.
fn aws_size(rest: &str) -> Option<(&str, &str)> {
    let field = rest.trim_start();
    let indent = rest.len() - field.len();
    let (number, path) = field.split_once(' ')?;
    let split = |unit: &'static str| Some((unit, path.strip_prefix(unit)?.strip_prefix(' ')?));
    let Some((unit, path_after_unit)) = AWS_UNITS.into_iter().find_map(split) else {
        return Some((number, path));
    };
    let with_unit = &field[..number.len() + 1 + unit.len()];
    let is_exact = unit.starts_with("Byte");
    if is_number(number) && (!is_exact || indent + number.len() >= AWS_SIZE) {
        return Some((number, path));
    }
    let is_aligned = indent + with_unit.len() == AWS_SIZE;
    let size = if is_exact && is_aligned { number } else { with_unit };
    Some((size, path_after_unit))
}

/// Returns `true` if the string is all digits.
pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("2022-10-25 02:57:46       1234 a b/ c", Tool::Aws, None, "a b/ c")]
    #[case("2022-10-25 02:57:46       1234  a", Tool::Aws, None, " a")]
    #[case("2022/10/25 02:57:46              1234  a b", Tool::S5cmd, None, "a b")]
    #[case("    1234  2022-10-25T02:57:46Z  gs://box/a b", Tool::Gsutil, Some("box"), "a b")]
    #[case(
        "    1234  2022-10-25T02:57:46Z  gs://box/a#1#1666666666123  metageneration=1",
        Tool::Gsutil,
        Some("box"),
        "a#1"
    )]
    fn lines_of_files(
        #[case] line: &str,
        #[case] expected: Tool,
        #[case] in_bucket: Option<&str>,
        #[case] at: &str,
    ) {
        let Some(Line::File { tool, bucket, path, size, .. }) = parsed(line) else {
            panic!("{line}")
        };
        assert_eq!((tool, bucket, path, size), (expected, in_bucket, at, "1234"));
    }

    #[rstest]
    #[case("   10 Bytes a b.txt", "10", "a b.txt")]
    #[case("    0 Bytes dir/", "0", "dir/")]
    #[case("     1 Byte  a", "1", " a")]
    #[case(" 1023 Bytes a", "1023", "a")]
    #[case("    1.2 KiB a b.txt", "1.2 KiB", "a b.txt")]
    #[case(" 1023.9 MiB a", "1023.9 MiB", "a")]
    #[case("         10 Bytes a.txt", "10", "Bytes a.txt")]
    #[case(" 12345678901 Bytes a.txt", "12345678901", "Bytes a.txt")]
    #[case("          1 KiB a", "1", "KiB a")]
    #[case("         10 Bytes", "10", "Bytes")]
    #[case(" 10 Bytes a.txt", "10 Bytes", "a.txt")]
    fn aws_sizes_may_have_units(#[case] columns: &str, #[case] expected: &str, #[case] at: &str) {
        let line = format!("2022-10-25 02:57:46{columns}");
        let Some(Line::File { path, size, .. }) = parsed(&line) else { panic!("{line}") };
        assert_eq!((size, path), (expected, at));
    }

    #[rstest]
    #[case("", Some(Line::Other))]
    #[case("Total Objects: 3", Some(Line::Other))]
    #[case("TOTAL: 2 objects, 1234 bytes (1.21 KiB)", Some(Line::Other))]
    #[case("                           PRE dir/", Some(Line::Folder(Tool::Aws)))]
    #[case("                                  DIR  dir/", Some(Line::Folder(Tool::S5cmd)))]
    #[case("                       gs://box/dir/", Some(Line::Folder(Tool::Gsutil)))]
    #[case("gs://box/dir/:", Some(Line::Folder(Tool::Gsutil)))]
    #[case("gs://box/a.txt", None)]
    #[case("2022-10-25 02:57:46", None)]
    #[case("2022-10-25 noon 12 a", None)]
    #[case("1234 x y", None)]
    #[case("name,size", None)]
    fn other_lines(#[case] line: &str, #[case] expected: Option<Line<'_>>) {
        assert_eq!(parsed(line), expected);
    }
}
