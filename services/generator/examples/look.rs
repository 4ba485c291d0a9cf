//! Prints names, addresses and companies of cultures, for review by native speakers.

use generator::model::Seed;
use generator::model::names::{self, Part};

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let count = arguments.first().and_then(|text| text.parse().ok()).unwrap_or(10);
    for code in arguments.iter().skip(1) {
        let (Some(culture), Ok(seed)) = (names::find(code), Seed::parse("look")) else { continue };
        let mut random = seed.random("look", culture.code);
        println!("== {code}");
        for _ in 0..count {
            let mut line = String::new();
            culture.write(&mut random, Part::Full, &mut line);
            line.push_str(" | ");
            culture.write_address(&mut random, &mut line);
            line.push_str(" | ");
            culture.write_company(&mut random, &mut line);
            println!("{line}");
        }
    }
}
