//! The `export` subcommand.

use std::path::PathBuf;

use anyhow::bail;
use batch::{Output, until_closed};
use shell::SettingError;

use crate::jobs::{self, Changes};
use crate::store::Corpus;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    /// One sorted list of `HASH:COUNT` lines
    Hashes,
    /// A folder with a manifest and, for each non-empty prefix, a file `PREFIX.txt` that contains
    /// the service's response. Only ranges that have changed since the last export to the folder
    /// are rewritten
    Folder,
}

/// Options of `export`.
#[derive(Clone, Debug, clap::Args)]
pub struct Export {
    /// Output format
    #[arg(long, value_enum)]
    format: ExportFormat,
    /// File or folder to write. Required for `--format folder` [default: standard output]
    #[arg(long, short, value_name = "PATH", required_if_eq("format", "folder"))]
    output: Option<PathBuf>,
    /// Also write a compressed copy of each response as `PREFIX.txt.gz`. Requires `--format folder`
    #[arg(long)]
    compress: bool,
    /// Print the report as JSON. Requires --output
    #[arg(long, requires = "output")]
    json: bool,
    /// Corpus file to export
    file: PathBuf,
}

impl Export {
    /// Exports the corpus and prints a report, either as a JSON object or as a sentence and the
    /// path.
    pub fn run(&self) -> anyhow::Result<()> {
        // The path may be a pipe, such as `/dev/stdout`.
        until_closed(self.write())
    }

    fn write(&self) -> anyhow::Result<()> {
        if self.compress && self.format != ExportFormat::Folder {
            return Err(SettingError("--compress needs --format folder".to_owned()).into());
        }
        let corpus = Corpus::open(&self.file, 0)?;
        let exported = match (self.format, &self.output) {
            (ExportFormat::Hashes, None) => return jobs::export_to_stdout(&corpus),
            (ExportFormat::Hashes, Some(path)) => jobs::export_hashes(&corpus, path)?,
            (ExportFormat::Folder, Some(folder)) => {
                jobs::export_folder(&corpus, folder, self.compress)?
            }
            (ExportFormat::Folder, None) => bail!("use --output to specify the output folder"),
        };
        let output = Output::from_json_flag(self.json);
        let (kind, entries, prefixes) = (exported.kind, exported.entries, exported.prefixes);
        let changes = exported.changes.as_ref().map_or(String::new(), |changes| {
            let Changes { written, unchanged, removed } = changes;
            format!("; {written} ranges written, {unchanged} unchanged, {removed} removed")
        });
        output.note(format_args!("{kind}: {entries} digests in {prefixes} prefixes{changes}"));
        Ok(output.print(&exported, exported.path.display())?)
    }
}
