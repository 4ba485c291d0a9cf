//! Identifiers, network addresses, file names, user agents and colours.

use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

use jiff::civil::Date;

use crate::model::random::Random;
use crate::model::records::cell::{Cell, Shape};
use crate::model::records::dates::{DAY, days};
use crate::model::records::fault::Faults;
use crate::model::records::field::{Make, Row};
use crate::model::records::members::Members;

/// A value that is written by a function.
struct Written {
    write: fn(u64, &mut Random, &mut Cell),
    is_unique: bool,
}

impl Make for Written {
    fn write(&self, index: u64, random: &mut Random, _: &mut Row, cell: &mut Cell) {
        (self.write)(index, random, cell);
    }

    fn is_unique(&self) -> bool {
        self.is_unique
    }
}

fn plain(write: fn(u64, &mut Random, &mut Cell)) -> Box<dyn Make> {
    Box::new(Written { write, is_unique: false })
}

fn push_uuid(bits: u128, version: u128, out: &mut String) {
    let bits = bits & !(0xf << 76 | 0x3 << 62) | version << 76 | 0x2 << 62;
    let mut digits = [0_u8; 36];
    let mut place = 32;
    for (at, digit) in digits.iter_mut().enumerate() {
        *digit = match at {
            8 | 13 | 18 | 23 => b'-',
            _ => {
                place -= 1;
                b"0123456789abcdef"[(bits >> (4 * place)) as usize & 15]
            }
        };
    }
    out.push_str(&String::from_utf8_lossy(&digits));
}

/// Version 7 UUIDs, one millisecond apart.
struct Ordered {
    /// Unix time of the first row, in milliseconds.
    first: u64,
}

impl Make for Ordered {
    fn write(&self, index: u64, random: &mut Random, _: &mut Row, cell: &mut Cell) {
        let low = u128::from(random.bits()) << 64 | u128::from(random.bits());
        let time = u128::from(self.first.wrapping_add(index) & 0xffff_ffff_ffff) << 80;
        push_uuid(time | low >> 48, 7, cell.begin());
    }

    fn is_unique(&self) -> bool {
        true
    }
}

/// Reads `version`, which must be one of two numbers and defaults to the first.
fn version(
    members: &mut Members<'_>,
    [first, second]: [i64; 2],
    faults: &mut Faults,
) -> Option<i64> {
    let Some(value) = members.value("version") else { return Some(first) };
    let found = value.as_i64().filter(|found| [first, second].contains(found));
    if found.is_none() {
        faults.add(members.at("version"), format!("must be {first} or {second}"));
    }
    found
}

/// Reads the type `uuid`: `version` 4 or 7 (4).
pub fn uuids(members: &mut Members<'_>, day: Date, faults: &mut Faults) -> Option<Box<dyn Make>> {
    match version(members, [4, 7], faults)? {
        4 => Some(Box::new(Written {
            write: |_, random, cell| {
                let bits = u128::from(random.bits()) << 64 | u128::from(random.bits());
                push_uuid(bits, 4, cell.begin());
            },
            is_unique: true,
        })),
        _ => {
            Some(Box::new(Ordered { first: days(day).max(0).unsigned_abs() * DAY as u64 * 1_000 }))
        }
    }
}

/// Reads the type `ip`: `version` 4 or 6 (4). All addresses belong to networks that are reserved
/// for documentation.
pub fn ips(members: &mut Members<'_>, faults: &mut Faults) -> Option<Box<dyn Make>> {
    match version(members, [4, 6], faults)? {
        4 => Some(plain(|_, random, cell| {
            let network = random.pick(&[[192, 0, 2], [198, 51, 100], [203, 0, 113]]);
            let host = random.between(1, 254) as u8;
            cell.set(Shape::Text, Ipv4Addr::new(network[0], network[1], network[2], host));
        })),
        _ => Some(plain(|_, random, cell| {
            let prefix = 0x2001_0db8_u128 << 96;
            let rest = u128::from(random.bits()) << 32 | u128::from(random.below(1 << 32));
            cell.set(Shape::Text, Ipv6Addr::from(prefix | rest));
        })),
    }
}

/// Returns the generator for the type `mac`: locally administered addresses, which are never
/// assigned by manufacturers.
pub fn macs() -> Box<dyn Make> {
    plain(|_, random, cell| {
        let bytes = random.bytes::<6>();
        let out = cell.begin();
        for (place, byte) in bytes.into_iter().enumerate() {
            let byte = if place == 0 { byte & 0xfc | 0x02 } else { byte };
            let separator = if place == 0 { "" } else { ":" };
            let _ = write!(out, "{separator}{byte:02x}");
        }
    })
}

const WORDS: [&str; 24] = [
    "about", "account", "archive", "basket", "blog", "cart", "catalog", "contact", "docs",
    "events", "help", "home", "invoice", "login", "media", "news", "offers", "orders", "profile",
    "report", "search", "settings", "shop", "support",
];

/// Returns the generator for the type `url`: pages on domains that are reserved for examples.
pub fn urls() -> Box<dyn Make> {
    plain(|_, random, cell| {
        let top = random.pick(&["com", "net", "org"]);
        let (folder, page) = (random.pick(&WORDS), random.pick(&WORDS));
        let number = random.below(100_000);
        cell.set(Shape::Text, format_args!("https://www.example.{top}/{folder}/{page}-{number}"));
    })
}

/// Returns the generator for the type `fileName`.
pub fn files() -> Box<dyn Make> {
    plain(|_, random, cell| {
        let ends = ["pdf", "docx", "xlsx", "csv", "png", "jpg", "zip", "txt", "json", "mp4"];
        let (word, number, end) = (random.pick(&WORDS), random.below(10_000), random.pick(&ends));
        cell.set(Shape::Text, format_args!("{word}-{number:04}.{end}"));
    })
}

/// Returns the generator for the type `userAgent`: browsers that are current as of 2026.
pub fn agents() -> Box<dyn Make> {
    plain(|_, random, cell| {
        let systems = [
            ("Windows NT 10.0; Win64; x64", 60),
            ("Macintosh; Intel Mac OS X 10_15_7", 20),
            ("X11; Linux x86_64", 8),
            ("Linux; Android 10; K", 12),
        ];
        let system = *random.pick_weighted(&systems);
        let version = random.between(128, 144);
        match random.below(10) {
            0..7 => cell.set(
                Shape::Text,
                format_args!(
                    "Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) \
                     Chrome/{version}.0.0.0 Safari/537.36"
                ),
            ),
            _ => cell.set(
                Shape::Text,
                format_args!(
                    "Mozilla/5.0 ({system}; rv:{version}.0) Gecko/20100101 Firefox/{version}.0"
                ),
            ),
        }
    })
}

/// Returns the generator for the type `colour`: `#rrggbb`.
pub fn colours() -> Box<dyn Make> {
    plain(|_, random, cell| {
        cell.set(Shape::Text, format_args!("#{:06x}", random.below(1 << 24)));
    })
}
