//! The command line of the generator.

use std::process::ExitCode;

fn main() -> ExitCode {
    shell::main::<generator::config::Cli>()
}
