//! Runs the test-data generator and its commands.

use std::process::ExitCode;

fn main() -> ExitCode {
    shell::main::<generator::Cli>()
}
