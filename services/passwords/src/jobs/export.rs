//! Writes a corpus as the lists it could be built from.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use batch::{Output, ProgressReporter, Unit, until_closed};
use domain::HashPrefix;

use super::report::Exported;
use crate::model::Bucket;
use crate::model::index::PREFIXES;
use crate::store::Corpus;

/// The shape of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ExportFormat {
    /// `HASH:COUNT` lines in order.
    Hashes,
    /// `PREFIX.txt` with the answer of the service, for each prefix that has one.
    Folder,
}

/// Options of `export`.
#[derive(Clone, Debug, clap::Args)]
pub struct Export {
    /// Shape of the export
    #[arg(long, value_enum)]
    pub format: ExportFormat,
    /// File or folder to write [default: standard output; a folder must be named]
    #[arg(long, short, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Report as one JSON object on standard output
    #[arg(long, requires = "output")]
    pub json: bool,
    /// The corpus file
    pub file: PathBuf,
}

impl Export {
    /// Writes the lists, to standard output as far as its reader wants them.
    ///
    /// # Errors
    /// The corpus is damaged, or the target cannot be written.
    pub fn run(&self) -> anyhow::Result<()> {
        until_closed(self.write())
    }

    fn write(&self) -> anyhow::Result<()> {
        let corpus = Corpus::open(&self.file, 0)?;
        let prefixes = match (self.format, &self.output) {
            (ExportFormat::Hashes, None) => {
                write_hashes(&corpus, BufWriter::new(io::stdout().lock()), "standard output")
            }
            (ExportFormat::Hashes, Some(path)) => {
                let name = path.display().to_string();
                let file = File::create(path).with_context(|| format!("cannot write {name}"))?;
                write_hashes(&corpus, BufWriter::with_capacity(1 << 20, file), &name)
            }
            (ExportFormat::Folder, Some(folder)) => write_folder(&corpus, folder),
            (ExportFormat::Folder, None) => bail!("give the folder to write with --output"),
        }?;
        let Some(path) = &self.output else { return Ok(()) };
        Exported::new(path.clone(), corpus.header(), prefixes)
            .print(Output::from_json_flag(self.json))?;
        Ok(())
    }
}

/// Writes the text of each prefix that has one, and returns how many there are.
fn each_text(
    corpus: &Corpus,
    mut write: impl FnMut(HashPrefix, &[u8]) -> anyhow::Result<()>,
) -> anyhow::Result<u32> {
    let progress =
        ProgressReporter::new("exporting", Unit::Bytes, Some(corpus.header().file_length));
    let (mut buffer, mut prefixes) = (Vec::new(), 0);
    for value in 0..PREFIXES as u32 {
        let Some(prefix) = HashPrefix::from_value(value) else { continue };
        let text = corpus.sound_bytes(prefix, &mut buffer).and_then(|bytes| {
            progress.add(bytes.len() as u64);
            Ok(Bucket::parse(corpus.kind(), bytes)?.text()?)
        });
        let text = text.map_err(|cause| corpus.problem(value, cause))?;
        if !text.is_empty() {
            write(prefix, &text)?;
            prefixes += 1;
        }
    }
    Ok(prefixes)
}

fn write_hashes(corpus: &Corpus, mut out: impl Write, name: &str) -> anyhow::Result<u32> {
    let unwritable = || format!("cannot write {name}");
    let prefixes = each_text(corpus, |prefix, text| {
        let prefix = prefix.to_string();
        let mut lines = Vec::with_capacity(text.len() * 8 / 7 + 64);
        for line in text.split(|byte| *byte == b'\n') {
            lines.extend_from_slice(prefix.as_bytes());
            lines.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
            lines.push(b'\n');
        }
        out.write_all(&lines).with_context(unwritable)
    })?;
    out.flush().with_context(unwritable)?;
    Ok(prefixes)
}

fn write_folder(corpus: &Corpus, folder: &Path) -> anyhow::Result<u32> {
    let unwritable = |path: &Path| format!("cannot write {}", path.display());
    fs::create_dir_all(folder).with_context(|| unwritable(folder))?;
    each_text(corpus, |prefix, text| {
        let path = folder.join(format!("{prefix}.txt"));
        fs::write(&path, text).with_context(|| unwritable(&path))
    })
}
