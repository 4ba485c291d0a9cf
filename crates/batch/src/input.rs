//! The inputs of commands: files, pipes, folders or standard input.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The command-line argument for standard input.
const STDIN: &str = "-";

/// An input from the command line that has been classified but not opened.
///
/// ```
/// use std::io::Read;
///
/// use batch::Input;
///
/// let file = tempfile::NamedTempFile::new()?;
/// std::fs::write(file.path(), "three\nlines\nlong\n")?;
/// let input = Input::at(file.path())?;
/// assert_eq!(input.length(), Some(17));
/// assert!(input.is_rereadable());
/// let mut text = String::new();
/// input.open()?.read_to_string(&mut text)?;
/// assert_eq!(text.lines().count(), 3);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Standard input, written as `-`.
    Stdin,
    /// A regular file.
    File(PathBuf),
    /// A pipe or device, which can only be read once.
    Stream(PathBuf),
    /// A folder.
    Folder(PathBuf),
}

/// A value that changes whenever an input is written to. See [`Input::stamp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputStamp(Option<(u64, u64, u64, (i64, i64))>);

impl Input {
    /// Classifies a path from the command line.
    ///
    /// # Errors
    /// Returns an error if the path doesn't exist or isn't accessible.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use batch::Input;
    ///
    /// assert_eq!(Input::at(Path::new("-"))?, Input::Stdin);
    /// assert!(Input::at(Path::new("/no/such/file")).is_err());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn at(path: &Path) -> io::Result<Self> {
        if path == Path::new(STDIN) {
            return Ok(Self::Stdin);
        }
        let kind = fs::metadata(path)?.file_type();
        let path = path.to_owned();
        Ok(if kind.is_dir() {
            Self::Folder(path)
        } else if kind.is_file() {
            Self::File(path)
        } else {
            Self::Stream(path)
        })
    }

    /// Returns the path, or `None` for standard input.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdin => None,
            Self::File(path) | Self::Stream(path) | Self::Folder(path) => Some(path),
        }
    }

    /// Returns the length of a file in bytes, or `None` for other inputs.
    pub fn length(&self) -> Option<u64> {
        match self {
            Self::File(path) => fs::metadata(path).ok().map(|data| data.len()),
            Self::Stdin | Self::Stream(_) | Self::Folder(_) => None,
        }
    }

    /// Returns whether the input can be read more than once.
    pub fn is_rereadable(&self) -> bool {
        matches!(self, Self::File(_) | Self::Folder(_))
    }

    /// Returns a value that changes whenever the file is written to. For inputs other than files,
    /// it is always the same.
    ///
    /// A list that is read while it is still being downloaded looks complete but is truncated. This
    /// can be detected by comparing the stamps from before and after reading.
    ///
    /// # Errors
    /// Returns an error if the file isn't accessible.
    ///
    /// ```
    /// let file = tempfile::NamedTempFile::new()?;
    /// let input = batch::Input::at(file.path())?;
    /// let before = input.stamp()?;
    /// assert!(input.stamp()? == before);
    /// std::fs::write(file.path(), "more")?;
    /// assert!(input.stamp()? != before);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn stamp(&self) -> io::Result<InputStamp> {
        let Self::File(path) = self else { return Ok(InputStamp(None)) };
        let found = fs::metadata(path)?;
        let changed = (found.mtime(), found.mtime_nsec());
        Ok(InputStamp(Some((found.dev(), found.ino(), found.len(), changed))))
    }

    /// Opens the input without a buffer. An empty `.gz` or `.zst` file is an error, since it must
    /// have been truncated.
    ///
    /// # Errors
    /// Returns an error if the input can't be opened or is a folder.
    ///
    /// ```
    /// use batch::Input;
    ///
    /// let folder = Input::at(std::path::Path::new("/"))?;
    /// assert_eq!(folder.open().err().map(|error| error.kind()), Some(std::io::ErrorKind::IsADirectory));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        match self {
            Self::Stdin => Ok(Box::new(io::stdin())),
            Self::File(path) | Self::Stream(path) => {
                let file = File::open(path)?;
                let found = file.metadata()?;
                if found.is_file() && found.len() == 0 && is_named_as_compressed(path) {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the compressed file is empty, so it must have been truncated",
                    ));
                }
                Ok(Box::new(file))
            }
            Self::Folder(_) => Err(io::ErrorKind::IsADirectory.into()),
        }
    }
}

fn is_named_as_compressed(path: &Path) -> bool {
    const ENDINGS: [&str; 2] = ["gz", "zst"];
    path.extension()
        .is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path() {
            None => f.write_str("standard input"),
            Some(path) => path.display().fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_file_with_a_compressed_name_is_truncated() {
        let folder = tempfile::tempdir().unwrap();
        for (name, opens) in [("list.txt.gz", false), ("list.ZST", false), ("list.txt", true)] {
            let path = folder.path().join(name);
            fs::write(&path, "").unwrap();
            assert_eq!(Input::at(&path).unwrap().open().is_ok(), opens, "{name}");
        }
    }
}
