//! Files must not have circular dependencies.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::{Found, Target, targets};
use crate::offence::{Offence, assert_obeyed};
use crate::source::Place;

type Edges = BTreeMap<String, BTreeMap<String, usize>>;

/// Returns which files each file uses, with the line of the first use. A re-export in a `mod.rs`
/// also counts as a use.
fn edges(target: &Target) -> Edges {
    let mut edges = Edges::new();
    for source in target.files().filter(|source| !source.test) {
        let from = edges.entry(source.path.clone()).or_default();
        for mention in source.contents.mentions.iter().filter(|mention| !mention.test) {
            let file = match target.resolve(source, mention) {
                Some(Found::Item(file)) => file,
                // Mentions of a module are skipped, because only its items count.
                Some(Found::Module(file)) if mention.binds.as_deref() == Some("*") => file,
                _ => continue,
            };
            if file.path != source.path && !file.test {
                from.entry(file.path.clone()).or_insert(mention.line);
            }
        }
    }
    edges
}

/// Returns the files that are reachable from a file, directly or indirectly.
fn reach(edges: &Edges, from: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(file) = open.pop() {
        for next in edges.get(&file).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    reached
}

#[test]
fn files_do_not_use_each_other_in_a_circle() {
    let mut offences = Vec::new();
    for target in targets().values() {
        let edges = edges(target);
        let reached: BTreeMap<&String, BTreeSet<String>> =
            edges.keys().map(|file| (file, reach(&edges, file))).collect();
        let mut seen: BTreeSet<&String> = BTreeSet::new();
        for file in edges.keys() {
            if seen.contains(file) || !reached[file].contains(file) {
                continue;
            }
            let circle: Vec<&String> = edges
                .keys()
                .filter(|other| reached[file].contains(*other) && reached[other].contains(file))
                .collect();
            seen.extend(&circle);
            offences.push(offence(&edges, &circle));
        }
    }
    assert_obeyed(&["circle"], offences);
}

fn offence(edges: &Edges, circle: &[&String]) -> Offence {
    let folder = circle[0].rsplit_once('/').map_or("", |(folder, _)| folder);
    let short = |file: &str| file.strip_prefix(folder).unwrap_or(file).trim_matches('/').to_owned();
    let mut uses = Vec::new();
    for file in circle {
        for (other, line) in &edges[*file] {
            if circle.contains(&other) {
                uses.push(format!("{file}:{line} uses {}", short(other)));
            }
        }
    }
    let names: Vec<String> = circle.iter().map(|file| short(file)).collect();
    Offence {
        rule: "circle",
        file: circle[0].clone(),
        line: 1,
        what: names.join(" <-> "),
        fix: format!(
            "move what both need to a file of its own, or import from the file that defines it:\n      {}",
            uses.join("\n      ")
        ),
    }
}

#[test]
fn the_graph_has_known_edges() {
    let target = &targets()["crates/database/src"];
    let edges = edges(target);
    assert!(edges["crates/database/src/pools.rs"].len() >= 2, "{edges:#?}");
    assert!(target.files().all(|source| source.place == Place::Src));
}
