//! The command `check`: each line of any input must get one verdict, and the exit code must reflect
//! all of them.
#![no_main]

use std::process::ExitCode;

use generator::{CheckCommand, Subject};
use jiff::civil::date;
use libfuzzer_sys::fuzz_target;

const SUBJECTS: [Subject; 9] = [
    Subject::Card,
    Subject::Crypto,
    Subject::Iban,
    Subject::Imei,
    Subject::Name,
    Subject::Phone,
    Subject::Person,
    Subject::Ssn,
    Subject::Vat,
];

fuzz_target!(|data: (u8, Option<&str>, &[u8])| {
    let (subject, of, input) = data;
    let subject = SUBJECTS[usize::from(subject) % SUBJECTS.len()];
    let check = CheckCommand { subject, of: of.map(str::to_owned) };
    let mut out = Vec::new();
    let Ok(code) = check.run_to(date(2026, 11, 23), input, &mut out) else {
        assert!(out.is_empty());
        return;
    };
    let verdicts = String::from_utf8(out).expect("verdicts are text");
    let lines = input.strip_suffix(b"\n").unwrap_or(input).split(|byte| *byte == b'\n').count();
    assert_eq!(verdicts.lines().count(), if input.is_empty() { 0 } else { lines });
    let all_right = verdicts.lines().all(|verdict| verdict == "ok");
    assert_eq!(code == ExitCode::SUCCESS, all_right);
});
