//! The binary of the events calendar.

use std::process::ExitCode;

fn main() -> ExitCode {
    shell::main::<calendar::Cli>()
}
