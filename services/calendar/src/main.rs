//! The binary of the events calendar.

use std::process::ExitCode;

fn main() -> ExitCode {
    web::main::<calendar::config::Settings>()
}
