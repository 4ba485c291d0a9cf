//! Addresses, domains and websites. Writing returns the parsed text, and searches accept every
//! loaded address.
#![no_main]

use breaches::model::{parse_loaded_address, website_host};
use domain::{DomainName, EmailAddress};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let address = EmailAddress::parse(text);
    if let Ok(address) = &address {
        let again = EmailAddress::parse(address.as_str());
        assert_eq!(again.as_ref(), Ok(address));
        assert!((3..=254).contains(&address.as_str().len()));
    }
    if let Ok(loaded) = parse_loaded_address(text) {
        assert_eq!(address, Ok(loaded));
    }
    for name in [website_host(text), DomainName::parse(text).ok()].into_iter().flatten() {
        assert_eq!(DomainName::parse(name.as_str()).as_ref(), Ok(&name));
    }
});
