//! Address lists in every format, in one piece and byte by byte. Both must give the same result,
//! and accepted addresses must not contain a secret.
#![no_main]

use std::io::Read;

use breaches::jobs::{Format, SkipReason, read_addresses};
use breaches::model::parse_loaded_address;
use breaches_fuzz::Trickle;
use libfuzzer_sys::fuzz_target;

type Found = (Vec<(u64, Result<String, SkipReason>)>, Option<String>);

fn found(input: impl Read, format: &Format, delimiter: Option<&str>) -> Found {
    let (mut rows, mut last) = (Vec::new(), 0);
    let read = read_addresses(input, format, delimiter, &mut |line, text| {
        assert!(line >= last, "lines ascend");
        last = line;
        rows.push((line, text.map(str::to_owned)));
        Ok(())
    });
    (rows, read.err().map(|error| error.to_string()))
}

fuzz_target!(|data: (u8, Option<u8>, Option<u8>, &[u8])| {
    let (kind, delimiter, column, bytes) = data;
    let format = match kind % 4 {
        0 => Format::Lines,
        1 => Format::Combo,
        2 => Format::Csv(column.map(|number| number.to_string())),
        _ => Format::Text,
    };
    let delimiter = delimiter.map(|byte| char::from(byte).to_string());
    let whole = found(bytes, &format, delimiter.as_deref());
    assert_eq!(whole, found(Trickle(bytes), &format, delimiter.as_deref()));
    for (_, row) in &whole.0 {
        let Ok(address) = row
            .as_deref()
            .map_err(|_| ())
            .and_then(|text| parse_loaded_address(text).map_err(|_| ()))
        else {
            continue;
        };
        assert!(!address.as_str().contains([':', ';', ',', '|', '<', '>', ' ', '\n', '\r', '\t']));
        assert_eq!(address.as_str().matches('@').count(), 1);
    }
});
