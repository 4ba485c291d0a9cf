//! How many values a core makes in a second, without HTTP.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use generator::model::names::Part;
use generator::model::{Random, Seed, card, crypto, iban, imei, names, phone, ssn};

/// Values in one measured pass, so that what is looked up once does not count.
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

criterion_group!(benches, simple, accounts, telephones, addresses);
criterion_main!(benches);
