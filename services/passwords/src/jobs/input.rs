//! The files, folders and streams that corpora are built from.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::model::lines::{self, Form};
use crate::model::{Kind, plaintext::Dialect};

/// How much of a stream is looked at to tell its kind.
const HEAD: u64 = 64 << 10;

/// The shape of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum InputFormat {
    /// `HASH:COUNT` lines.
    Hashes,
    /// One file per prefix, as the service answers it.
    Folder,
    /// One password a line.
    Plaintext,
}

/// One input of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Standard input, written `-`.
    Stdin,
    /// A regular file, which can be read twice.
    File(PathBuf),
    /// A pipe or a device.
    Stream(PathBuf),
    /// A folder with a file per prefix.
    Folder(PathBuf),
}

/// How the lines of all inputs of a command are read.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Whether lines that are no entry are counted and skipped.
    pub lenient: bool,
    /// How password lists are written.
    pub dialect: Dialect,
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str("standard input"),
            Self::File(path) | Self::Stream(path) | Self::Folder(path) => path.display().fmt(f),
        }
    }
}

impl Input {
    /// Finds out what a path on the command line is.
    ///
    /// # Errors
    /// There is nothing at the path.
    pub fn at(path: &Path) -> anyhow::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Stdin);
        }
        let data = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
        let path = path.to_owned();
        Ok(match data.file_type() {
            kind if kind.is_dir() => Self::Folder(path),
            kind if kind.is_file() => Self::File(path),
            _ => Self::Stream(path),
        })
    }

    /// The length of the input, if it is known beforehand.
    pub fn length(&self) -> Option<u64> {
        match self {
            Self::File(path) => fs::metadata(path).ok().map(|data| data.len()),
            _ => None,
        }
    }

    /// Opens a list of lines.
    ///
    /// # Errors
    /// It cannot be opened, or is a folder.
    pub fn open(&self) -> anyhow::Result<Box<dyn Read + Send>> {
        match self {
            Self::Stdin => Ok(Box::new(io::stdin())),
            Self::File(path) | Self::Stream(path) => {
                let file = File::open(path);
                Ok(Box::new(file.with_context(|| format!("cannot read {self}"))?))
            }
            Self::Folder(_) => bail!("{self} is a folder; give --input-format folder"),
        }
    }

    /// Opens a hash list and tells its kind from its first digest.
    ///
    /// # Errors
    /// It cannot be read, or its kind is not the one that is wanted.
    pub fn open_hashes(
        &self,
        wanted: Option<Kind>,
    ) -> anyhow::Result<(Box<dyn Read + Send>, Option<Kind>)> {
        let mut reader = self.open()?;
        let mut head = Vec::new();
        let read = reader.by_ref().take(HEAD).read_to_end(&mut head);
        read.with_context(|| format!("cannot read {self}"))?;
        let found = lines::kind_of(&head, Form::Whole);
        if let (Some(wanted), Some(found)) = (wanted, found)
            && wanted != found
        {
            bail!("{self} holds {} digests, not {}", found.label(), wanted.label());
        }
        Ok((Box::new(Cursor::new(head).chain(reader)), wanted.or(found)))
    }
}

/// The one kind of several hash inputs.
///
/// # Errors
/// The inputs hold different kinds, or none tells its kind.
pub fn common_kind(inputs: &[Input], wanted: Option<Kind>) -> anyhow::Result<Kind> {
    let mut kind = wanted;
    for input in inputs {
        kind = match input {
            Input::File(_) => input.open_hashes(kind)?.1,
            Input::Folder(path) => kind.or(super::folder::kind_of(path)?),
            Input::Stdin | Input::Stream(_) => kind,
        };
    }
    kind.context("the kind cannot be told from the input; give --kind sha1 or --kind ntlm")
}
