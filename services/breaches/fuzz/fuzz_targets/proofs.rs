//! What websites and name servers of others answer: a proof is found only where its code stands.
#![no_main]

use breaches::model::{Evidence, Proof};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: (Vec<String>, &[u8])| {
    let (records, page) = data;
    let code = "abcdefghijklmnopqrstuvwx";
    let proof = Proof { prefix: "breach".to_owned(), code: code.to_owned() };
    let holds = |text: &str| text.contains(code);
    if proof.in_txt(&records) == Evidence::Proof {
        assert!(records.iter().any(|record| holds(record)));
    }
    for found in [proof.in_file(page), proof.in_page(page)] {
        assert!(found != Evidence::Proof || holds(&String::from_utf8_lossy(page)));
    }
});
