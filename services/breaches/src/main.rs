//! Entry point of the breach lookup service.

use std::process::ExitCode;

fn main() -> ExitCode {
    shell::main::<breaches::Cli>()
}
