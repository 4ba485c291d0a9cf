//! Telephone numbers, with and without a region: all formats of a valid number must be valid and
//! equal.
#![no_main]

use generator::model::phone::{self, Validation};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: (u8, &str)| {
    let (choice, text) = data;
    let regions = phone::all();
    let region = regions.get(usize::from(choice));
    if let Validation::Valid(valid) = phone::validate(text, region) {
        // A few countries allow more than the 15 digits of E.164.
        assert!(valid.e164.starts_with('+') && valid.e164.len() <= 18, "{}", valid.e164);
        for form in [&valid.e164, &valid.international] {
            match phone::validate(form, None) {
                Validation::Valid(again) => assert_eq!(again.e164, valid.e164),
                Validation::Invalid(reason) => panic!("{form}: {reason}"),
            }
        }
    }
});
