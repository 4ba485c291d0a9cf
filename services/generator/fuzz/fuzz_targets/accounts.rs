//! Card, account, device and crypto numbers: a valid number must still be valid in its printed
//! form, with the same brand, country or coin.
#![no_main]

use generator::model::{card, crypto, iban, imei};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(brands) = card::check(text, None) {
        assert!(!brands.is_empty());
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        assert_eq!(card::check(&card::grouped(&digits), None).as_ref(), Ok(&brands));
        for brand in brands {
            assert_eq!(card::check(text, Some(brand)), Ok(vec![brand]));
        }
    }
    let _ = card::grouped(text);
    if let Ok((country, electronic)) = iban::check(text, None) {
        assert_eq!(electronic.len(), country.length());
        let again = iban::check(&iban::grouped(&electronic), Some(country));
        assert!(again.is_ok_and(|(_, again)| again == electronic));
    }
    let _ = iban::grouped(text);
    if let Ok(coins) = crypto::check(text, None) {
        assert!(!coins.is_empty());
        for coin in coins {
            assert!(crypto::check(text, Some(coin)).is_ok_and(|found| found.len() == 1));
        }
    }
    if imei::check(text).is_ok() {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        assert_eq!(imei::check(&digits), Ok(()));
    }
});
