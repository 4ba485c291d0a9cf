//! Runs the bucket index service and its commands.

use std::process::ExitCode;

fn main() -> ExitCode {
    shell::main::<buckets::Cli>()
}
