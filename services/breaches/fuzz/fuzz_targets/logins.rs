//! Stealer logs, as CSV and as JSON lines, in one piece and byte by byte. Both must give the same
//! result.
#![no_main]

use std::io::Read;

use breaches::jobs::{SkipReason, StealerLogsOptions, read_logins};
use breaches_fuzz::Trickle;
use libfuzzer_sys::fuzz_target;

type Found = (Vec<(u64, Result<(String, String), SkipReason>)>, Option<String>);

fn found(input: impl Read, options: &StealerLogsOptions) -> Found {
    let (mut rows, mut last) = (Vec::new(), 0);
    let read = read_logins(input, options, &mut |line, row| {
        assert!(line >= last, "lines ascend");
        last = line;
        rows.push((line, row.map(|(email, site)| (email.to_owned(), site.to_owned()))));
        Ok(())
    });
    (rows, read.err().map(|error| error.to_string()))
}

fuzz_target!(|data: (Option<u8>, Option<u8>, Option<u8>, &[u8])| {
    let (delimiter, email, website, bytes) = data;
    let options = StealerLogsOptions {
        delimiter: delimiter.map(|byte| char::from(byte).to_string()),
        email_column: email.map(|number| number.to_string()),
        website_column: website.map(|number| number.to_string()),
        ..StealerLogsOptions::default()
    };
    assert_eq!(found(bytes, &options), found(Trickle(bytes), &options));
});
