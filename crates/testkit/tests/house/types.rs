//! Types that must have the same name and location in every service.

use crate::offence::{Offence, assert_obeyed};
use crate::source::{Place, SERVICES, Source, sources};

/// These types: room, kind and name.
const TYPES: [(&str, &str, &str); 6] = [
    ("config", "struct", "Settings"),
    ("error", "enum", "Error"),
    ("error", "struct", "ErrorBodies"),
    ("state", "struct", "State"),
    ("cli", "struct", "Cli"),
    ("cli", "enum", "Command"),
];

/// The traits of the shell and where they are implemented: trait, room, type.
const TRAITS: [(&str, &str, Option<&str>); 3] = [
    ("Service", "service", None),
    ("ErrorFormat", "error", Some("ErrorBodies")),
    ("Cli", "cli", Some("Cli")),
];

fn of_service(service: &str) -> impl Iterator<Item = &'static Source> {
    let path = format!("services/{service}/src/");
    sources().iter().filter(move |source| {
        source.place == Place::Src && source.path.starts_with(&path) && !source.test
    })
}

#[test]
fn every_service_uses_the_same_names() {
    let mut offences = Vec::new();
    for &service in SERVICES.iter() {
        for (room, kind, name) in TYPES {
            let in_room = of_service(service).filter(|source| source.room() == room);
            let mut items = in_room.flat_map(|source| &source.contents.items);
            if !items.any(|item| item.kind == kind && item.name == name && item.scope.is_empty()) {
                offences.push(Offence {
                    rule: "type",
                    file: format!("services/{service}/src/{room}"),
                    line: 1,
                    what: format!("there is no {kind} {name}"),
                    fix: format!("every service calls it {name}, in {room}"),
                });
            }
        }
    }
    assert_obeyed(&["type"], offences);
}

#[test]
fn the_traits_of_the_shell_are_implemented_in_one_place() {
    let mut offences = Vec::new();
    for source in SERVICES.iter().copied().flat_map(of_service) {
        for found in &source.contents.impls {
            let Some((_, room, name)) = TRAITS.iter().find(|(of, _, _)| *of == found.of) else {
                continue;
            };
            let well_named = name.is_none_or(|name| name == found.on);
            if source.room() != *room || !well_named {
                offences.push(Offence {
                    rule: "trait",
                    file: source.path.clone(),
                    line: found.line,
                    what: format!("{} is implemented for {}", found.of, found.on),
                    fix: format!("implement it in {room} for {}", name.unwrap_or("the service")),
                });
            }
        }
        for item in source.contents.items.iter().filter(|item| item.name == "INFO") {
            offences.push(Offence {
                rule: "trait",
                file: source.path.clone(),
                line: item.line,
                what: "a second INFO".to_owned(),
                fix: "it is the constant of `impl shell::Service` in service.rs".to_owned(),
            });
        }
    }
    assert_obeyed(&["trait"], offences);
}

#[test]
fn main_runs_the_command_line_and_nothing_else() {
    let mut offences = Vec::new();
    for source in
        SERVICES.iter().copied().flat_map(of_service).filter(|source| source.stem() == "main")
    {
        let runs_cli = source.contents.mentions.iter().any(|mention| {
            mention.segments.first() == Some(&source.package)
                && mention.segments.last().is_some_and(|last| last == "Cli")
        });
        if !runs_cli || source.lines > 12 {
            offences.push(Offence {
                rule: "main",
                file: source.path.clone(),
                line: 1,
                what: "does more than running `Cli`".to_owned(),
                fix: format!("shell::main::<{}::Cli>()", source.package),
            });
        }
    }
    assert_obeyed(&["main"], offences);
}
