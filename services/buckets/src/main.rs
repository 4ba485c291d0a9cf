//! Entry point of the bucket search service and its commands.

use std::process::ExitCode;

fn main() -> ExitCode {
    shell::main::<buckets::Cli>()
}
