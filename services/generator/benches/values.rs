//! Measures how many values are generated per second on one core, without HTTP.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use generator::model::names::Part;
use generator::model::person::{Limits, Maker};
use generator::model::text::{Lorem, Unit, Vocabulary};
use generator::model::{Random, Seed, card, crypto, iban, imei, names, phone, ssn};

/// The number of values in one measured pass, which amortizes the setup.
const BATCH: u64 = 1_000;

fn measure(criterion: &mut Criterion, name: &str, mut write: impl FnMut(&mut Random, &mut String)) {
    let mut group = criterion.benchmark_group("values");
    group.throughput(Throughput::Elements(BATCH));
    let Ok(seed) = Seed::parse("bench") else { return };
    let mut random = seed.random(name, "");
    let mut out = String::with_capacity(BATCH as usize * 64);
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            out.clear();
            for _ in 0..BATCH {
                write(&mut random, &mut out);
            }
            out.len()
        });
    });
    group.finish();
}

fn simple(criterion: &mut Criterion) {
    let culture = names::american();
    measure(criterion, "full name", |random, out| culture.write(random, Part::Full, out));
    if let Some(visa) = card::find("Visa") {
        measure(criterion, "card", |random, out| visa.write_number(random, out));
    }
    measure(criterion, "imei", imei::write);
    measure(criterion, "ssn", ssn::write);
}

/// Measures names, addresses and people of the first culture, and of all cultures in turn.
fn people(criterion: &mut Criterion) {
    let cultures = names::all();
    let mut nth = 0;
    measure(criterion, "full name of all cultures in turn", |random, out| {
        cultures[nth % cultures.len()].write_full(random, out);
        nth += 1;
    });
    measure(criterion, "address", |random, out| names::american().write_address(random, out));
    measure(criterion, "address of all cultures in turn", |random, out| {
        cultures[nth % cultures.len()].write_address(random, out);
        nth += 1;
    });
    let day = jiff::civil::date(2030, 1, 1);
    if let Ok(maker) = Maker::new(names::american(), day, Limits::default()) {
        measure(criterion, "person", |random, out| out.push_str(&maker.make(0, random).email));
    }
    let makers: Vec<_> = cultures
        .iter()
        .filter_map(|culture| Maker::new(culture, day, Limits::default()).ok())
        .collect();
    measure(criterion, "person of all cultures in turn", |random, out| {
        out.push_str(&makers[nth % makers.len()].make(0, random).email);
        nth += 1;
    });
}

fn accounts(criterion: &mut Criterion) {
    let countries = iban::all();
    let mut nth = 0;
    measure(criterion, "iban of all countries in turn", |random, out| {
        countries[nth % countries.len()].write(random, out);
        nth += 1;
    });
}

fn telephones(criterion: &mut Criterion) {
    let plans: Vec<_> = phone::all().iter().filter_map(|region| region.numbers().ok()).collect();
    let mut nth = 0;
    measure(criterion, "phone of all regions in turn", |random, out| {
        plans[nth % plans.len()].write(random, phone::Format::E164, out);
        nth += 1;
    });
}

fn addresses(criterion: &mut Criterion) {
    for coin in ["Dogecoin", "Ethereum", "Bitcoin"] {
        if let Some(coin) = crypto::find(coin) {
            measure(criterion, coin.name, |random, out| coin.write(random, out));
        }
    }
}

fn texts(criterion: &mut Criterion) {
    let Ok(seed) = Seed::parse("bench") else { return };
    let mut lorem =
        Lorem::new(seed.random("lorem", ""), Vocabulary::Latin, Unit::Words, u64::MAX >> 1);
    let mut group = criterion.benchmark_group("texts");
    // Minimum length of a chunk.
    const CHUNK: usize = 64 << 10;
    group.throughput(Throughput::Bytes(CHUNK as u64));
    let mut out = Vec::with_capacity(CHUNK + 1_024);
    group.bench_function("lorem words", |bencher| {
        bencher.iter(|| {
            out.clear();
            while out.len() < CHUNK && lorem.push(&mut out) {}
            out.len()
        });
    });
    group.finish();
}

criterion_group!(benches, simple, people, accounts, telephones, addresses, texts);
criterion_main!(benches);
