//! Tests `make` and `check` against each other.

use std::io::{self, Write};

use jiff::civil::date;

use super::check::CheckCommand;
use super::make::MakeCommand;
use super::subject::Subject;
use super::table::Format;

fn make(subject: Subject, of: Option<&str>, count: u64) -> MakeCommand {
    MakeCommand {
        subject,
        of: of.map(str::to_owned),
        count,
        seed: None,
        offset: 0,
        bom: false,
        format: Format::Lines,
    }
}

fn made(subject: Subject, of: Option<&str>, count: u64) -> String {
    let make = MakeCommand { seed: Some("commands".to_owned()), ..make(subject, of, count) };
    let mut out = Vec::new();
    make.run_to(date(2026, 11, 20), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn verdicts(subject: Subject, of: Option<&str>, lines: &str) -> String {
    let check = CheckCommand { subject, of: of.map(str::to_owned) };
    let mut out = Vec::new();
    check.run_to(date(2026, 11, 20), lines.as_bytes(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn generated_values_pass_the_check() {
    for (subject, of) in [
        (Subject::Card, Some("Visa")),
        (Subject::Iban, Some("FR")),
        (Subject::Imei, None),
        (Subject::Phone, Some("IT")),
        (Subject::Person, Some("IT")),
        (Subject::Ssn, None),
        (Subject::Vat, Some("IT")),
    ] {
        let lines = made(subject, of, 20);
        assert_eq!(lines.lines().count(), 20);
        assert_eq!(verdicts(subject, of, &lines), "ok\n".repeat(20), "{lines}");
    }
}

#[test]
fn brand_and_coin_are_optional() {
    for subject in [Subject::Card, Subject::Crypto] {
        assert_eq!(verdicts(subject, None, &made(subject, None, 20)), "ok\n".repeat(20));
    }
}

#[test]
fn faults_have_distinct_messages() {
    let two = "DE136695976\nDE136695977\n";
    let verdict = "ok\nThe USt-IdNr has a check digit mismatch.\n";
    assert_eq!(verdicts(Subject::Vat, Some("DE"), two), verdict);
    assert_eq!(
        verdicts(Subject::Card, None, "4111 1111 1111 1111\n4111111111111112\n4111\nx\n"),
        "ok\nThe check digit is wrong.\nCard numbers do not have 4 digits.\n\
         A card number can contain only digits, spaces and hyphens.\n"
    );
    assert_eq!(
        verdicts(Subject::Imei, None, "490154203237518\n490154203237519\n4901542032375\n"),
        "ok\nThe check digit is wrong.\nAn IMEI has 15 digits, not 13.\n"
    );
    assert_eq!(
        verdicts(Subject::Iban, Some("be"), "be43 0689 9999 9501\nDE89370400440532013000\nBE43\n"),
        "ok\nThe IBAN is not one of BE.\nAn IBAN from BE has 16 characters, not 4.\n"
    );
    assert_eq!(
        verdicts(Subject::Crypto, Some("btc"), "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb\nx\n"),
        "The checksum of the Bitcoin address is wrong.\n\
         Bitcoin addresses do not have this format.\n"
    );
}

#[test]
fn line_that_is_not_utf8_does_not_end_the_check() {
    let check = CheckCommand { subject: Subject::Imei, of: None };
    let mut out = Vec::new();
    let lines = &b"\xff\xfe\n490154203237518\n"[..];
    check.run_to(date(2026, 11, 20), lines, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "The line is not UTF-8 text.\nok\n");
}

#[test]
fn subjects_without_kinds_reject_one() {
    for (subject, of) in [(Subject::Name, "fr_FR"), (Subject::Imei, "FR"), (Subject::Ssn, "US")] {
        let error =
            make(subject, Some(of), 1).run_to(date(2026, 11, 20), &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), format!("{of}: this subject has no brand or country"));
    }
    let check = CheckCommand { subject: Subject::Imei, of: Some("FR".to_owned()) };
    assert!(check.run_to(date(2026, 11, 20), "1".as_bytes(), &mut Vec::new()).is_err());
}

/// A writer that fails like a closed pipe or a full disk.
struct Broken(io::ErrorKind);

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(self.0.into())
    }
}

#[test]
fn a_closed_pipe_is_success_and_a_full_disk_is_not() {
    let run = |kind, buffered: bool| {
        let make = make(Subject::Imei, None, 9);
        let check = CheckCommand { subject: Subject::Imei, of: None };
        let mut out: Box<dyn Write> = match buffered {
            true => Box::new(io::BufWriter::new(Broken(kind))),
            false => Box::new(Broken(kind)),
        };
        let made = make.run_to(date(2026, 11, 20), &mut out).is_ok();
        assert_eq!(check.run_to(date(2026, 11, 20), "1\n".as_bytes(), &mut out).is_ok(), made);
        made
    };
    for buffered in [false, true] {
        assert!(run(io::ErrorKind::BrokenPipe, buffered));
        assert!(!run(io::ErrorKind::StorageFull, buffered));
    }
}

#[test]
fn same_seed_generates_the_same_values() {
    assert_eq!(made(Subject::Name, None, 5), made(Subject::Name, None, 5));
    assert!(made(Subject::Crypto, Some("btc"), 9).starts_with(&made(
        Subject::Crypto,
        Some("btc"),
        3
    )));
}

#[test]
fn unknown_names_are_errors() {
    let make = make(Subject::Iban, Some("ZZ"), 1);
    let error = make.run_to(date(2026, 11, 20), &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "ZZ is not known");
    let check = CheckCommand { subject: Subject::Name, of: None };
    let error = check.run_to(date(2026, 11, 20), "x".as_bytes(), &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "names cannot be checked");
}
