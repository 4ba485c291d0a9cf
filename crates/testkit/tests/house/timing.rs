//! Tests must wait for events and not sleep.
//!
//! A comment `// Timing: REASON` on the line above exempts a line that must deal with time itself.

use std::fs;

use crate::offence::{Offence, assert_obeyed};
use crate::source::{Place, Source, root, sources};

/// Code that makes a test depend on the speed of the machine.
const CLOCKS: [&str; 4] = ["sleep(", ".elapsed(", "time::interval", ".tick()"];

/// Returns the lines of test code in a file, each with its index.
fn test_lines<'a>(source: &Source, text: &'a str) -> Vec<(usize, &'a str)> {
    let whole = source.place == Place::Tests || source.test;
    let lines = text.lines().enumerate();
    lines.skip_while(|(_, line)| !whole && !line.starts_with("mod tests {")).collect()
}

#[test]
fn tests_neither_sleep_nor_measure_time() {
    let mut offences = Vec::new();
    for source in sources() {
        if source.path.ends_with("house/timing.rs") {
            continue;
        }
        let text = fs::read_to_string(root().join(&source.path)).unwrap();
        let mut exempt = false;
        for (number, line) in test_lines(source, &text) {
            let allowed = exempt || line.contains("pg_sleep(");
            exempt = line.contains("// Timing: ");
            if !allowed && CLOCKS.iter().any(|clock| line.contains(clock)) {
                offences.push(Offence {
                    rule: "timing",
                    file: source.path.clone(),
                    line: number + 1,
                    what: line.trim().to_owned(),
                    fix: "wait for the event (testkit::until), or use a fake clock or a barrier; \
                           a measurement belongs to scripts/bench"
                        .to_owned(),
                });
            }
        }
    }
    assert_obeyed(&["timing"], offences);
}
