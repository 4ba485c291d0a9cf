//! Tax and identity numbers of all countries: any string must get a verdict for any date, and the
//! same verdict with surrounding spaces.
#![no_main]

use std::sync::LazyLock;

use generator::model::numbers::{Kind, Schemes, find};
use jiff::civil::{Date, date};
use libfuzzer_sys::fuzz_target;

/// The schemes of all countries.
static ALL: LazyLock<Vec<Schemes>> = LazyLock::new(|| {
    let letters =
        || ('A'..='Z').flat_map(|one| ('A'..='Z').map(move |other| format!("{one}{other}")));
    let schemes = |kind| letters().filter_map(move |country| find(&country, kind));
    schemes(Kind::Vat).chain(schemes(Kind::Person)).collect()
});

fuzz_target!(|data: (u8, u16, &str)| {
    let (choice, days, text) = data;
    let schemes = &ALL[usize::from(choice) % ALL.len()];
    let today = date(1900, 1, 1).saturating_add(jiff::Span::new().days(days));
    let verdict = schemes.check(text, today);
    assert_eq!(schemes.check(&format!(" {text} "), today).is_ok(), verdict.is_ok());
    if verdict.is_ok() {
        let _ = schemes.check(text, Date::MIN);
        let _ = schemes.check(text, Date::MAX);
    }
});
