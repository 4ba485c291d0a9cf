//! Man pages, shell completions and library licenses, for packagers.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;

/// Library licenses, as collected by `scripts/licenses`.
const LICENSES: &str = include_str!("../../../THIRD-PARTY.txt");

/// Prints a completion script for the command line.
///
/// # Errors
/// Returns an error if writing to stdout fails.
pub(crate) fn print_completions(
    mut command: clap::Command,
    shell: clap_complete::Shell,
) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, program_name(), &mut script);
    print(&script)
}

/// Writes `NAME.1`, plus `NAME-COMMAND.1` for each command, into an existing folder.
///
/// # Errors
/// Returns an error if writing a file fails.
pub(crate) fn write_manual(command: clap::Command, folder: &Path) -> anyhow::Result<ExitCode> {
    clap_mangen::generate_to(command.name(program_name()), folder)
        .with_context(|| format!("cannot write man pages into {}", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the notices and licenses that must be distributed with the program.
///
/// # Errors
/// Returns an error if writing to stdout fails.
pub(crate) fn print_licenses() -> anyhow::Result<ExitCode> {
    print(LICENSES.as_bytes())
}

/// Returns the name that the program was started with, since packages can install it under a
/// different name.
fn program_name() -> String {
    let path = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn print(text: &[u8]) -> anyhow::Result<ExitCode> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text).and_then(|()| stdout.flush()) {
        // The reader has closed the pipe, as pagers do.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        written => written?,
    }
    Ok(ExitCode::SUCCESS)
}
