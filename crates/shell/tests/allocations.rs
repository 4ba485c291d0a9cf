//! Code that runs for every request must not allocate for headers and parameters that are missing.
#![expect(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use shell::params::{Empty, Input, Names, Rules, read_validated};
use shell::{EntityTag, is_known, media};
use validator::Validate;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is forwarded unchanged to the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `System.alloc` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = COUNT.get();
    let value = run();
    (value, COUNT.get() - before)
}

#[derive(Deserialize, Validate)]
#[expect(dead_code, reason = "some are only read from the request")]
struct Parameters {
    #[serde(rename = "type")]
    #[validate(length(max = 20))]
    r#type: Option<String>,
    #[validate(length(max = 64))]
    seed: Option<String>,
    #[serde(rename = "refDate")]
    ref_date: Option<String>,
    #[validate(range(min = 1, max = 100))]
    quantity: Option<u32>,
    #[serde(default)]
    tags: Vec<String>,
}

const RULES: Rules = Rules { names: Names::IgnoringCase, empty: Empty::Absent, ..Rules::PLAIN };

#[test]
fn absent_parameters_do_not_allocate() {
    let (read, count) = allocations(|| {
        let input = Input::query("");
        read_validated::<Parameters>(&input, &RULES).into_result().is_ok()
    });
    assert_eq!((read, count), (true, 0));
}

#[test]
fn a_number_allocates_only_the_list_of_parameters() {
    let (quantity, count) = allocations(|| {
        let input = Input::query("Quantity=7");
        read_validated::<Parameters>(&input, &RULES)
            .value
            .and_then(|parameters| parameters.quantity)
    });
    assert_eq!((quantity, count), (Some(7), 1));
}

#[test]
fn conditions_and_codings_do_not_allocate() {
    let mut headers = HeaderMap::new();
    let tags = HeaderValue::from_static("\"x\", W/\"00ff\"");
    headers.insert(HeaderName::from_static("if-none-match"), tags);
    let digest = [0x00, 0xff];
    let (known, count) = allocations(|| {
        let coding = media::accepts_coding([&b"br, gzip;q=0.5"[..]], "gzip");
        coding && is_known(&headers, &EntityTag::of_digest(&digest), Some(7))
    });
    assert_eq!((known, count), (true, 0));
}
