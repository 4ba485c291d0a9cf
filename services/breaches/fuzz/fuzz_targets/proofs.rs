//! Responses from websites and name servers. A proof is only found with its code.
#![no_main]

use breaches::model::{Evidence, Proof};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: (Vec<String>, &[u8])| {
    let (records, page) = data;
    let code = "abcdefghijklmnopqrstuvwx";
    let proof = Proof { prefix: "breach".to_owned(), code: code.to_owned() };
    let contains_code = |text: &str| text.contains(code);
    if proof.in_txt(&records) == Evidence::Proof {
        assert!(records.iter().any(|record| contains_code(record)));
    }
    for found in [proof.in_file(page), proof.in_page(page)] {
        assert!(found != Evidence::Proof || contains_code(&String::from_utf8_lossy(page)));
    }
});
