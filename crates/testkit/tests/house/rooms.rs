//! The rooms of a service, which are its top-level modules: their purposes, permitted imports and
//! contents.

use crate::graph::{Found, targets};
use crate::offence::{Offence, assert_obeyed};
use crate::source::{Place, SERVICES, Source, sources};

/// A room, which is a top-level module in `services/NAME/src`.
struct Room {
    name: &'static str,
    /// The other rooms that it may import from.
    imports: &'static [&'static str],
    /// The libraries that it may not use.
    without: &'static [&'static str],
}

const WEB: &[&str] = &["actix_http", "actix_multipart", "actix_web", "utoipa_actix_web"];
const SQL: &[&str] = &["diesel", "diesel_migrations"];

const fn room(name: &'static str, imports: &'static [&'static str]) -> Room {
    Room { name, imports, without: &[] }
}

/// All rooms, each with the rooms that it may import from. `main` and `lib` may import from all.
const ROOMS: &[Room] = &[
    room("model", &[]),
    room("store", &["model"]),
    room("engine", &["model"]),
    room("external", &["model"]),
    room("wire", &["model"]),
    room("ical", &["model"]),
    room("config", &["model"]),
    room("error", &["model", "wire"]),
    room("metrics", &["model"]),
    room("policy", &["config", "model", "error", "state"]),
    Room {
        name: "state",
        imports: &[
            "config", "model", "store", "engine", "external", "wire", "error", "metrics", "policy",
        ],
        without: &[],
    },
    Room {
        name: "app",
        imports: &[
            "model", "store", "engine", "external", "wire", "ical", "config", "state", "error",
            "metrics",
        ],
        without: &["http"],
    },
    Room {
        name: "jobs",
        imports: &[
            "app", "store", "engine", "model", "config", "state", "error", "metrics", "wire",
            "ical",
        ],
        without: &[],
    },
    Room {
        name: "handlers",
        imports: &[
            "app", "pages", "wire", "ical", "model", "state", "error", "policy", "config",
            "metrics",
        ],
        without: &[],
    },
    room("pages", &["app", "model"]),
    room("openapi", &["wire", "error", "model"]),
    room("routes", &["handlers", "pages", "policy", "openapi", "model"]),
    Room {
        name: "cli",
        imports: &[
            "jobs", "app", "config", "store", "model", "state", "error", "service", "policy",
            "engine", "external",
        ],
        without: &[],
    },
    Room {
        name: "service",
        imports: &[
            "routes", "openapi", "policy", "error", "state", "metrics", "config", "app", "jobs",
        ],
        without: &[],
    },
];

/// For each group of libraries, the only rooms that may use it.
const LIBRARY_ROOMS: &[(&[&str], &[&str])] = &[
    (WEB, &["handlers", "routes", "service", "error", "policy", "openapi"]),
    (SQL, &["store", "engine"]),
    (&["clap"], &["config", "cli"]),
];

/// Libraries that the model of a service must not use.
const NOT_IN_MODEL: &[&str] = &["auth", "database", "http", "shell", "utoipa"];
const NOT_IN_WIRE: &[&str] = &["auth", "database", "http"];
const NOT_IN_STORE: &[&str] = &["http", "shell", "utoipa"];

/// Exceptions to these rules: file, import, reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "services/generator/src/cli/make.rs",
        "wire",
        "`make persons` writes the records of the operation",
    ),
    (
        "services/generator/src/cli/into.rs",
        "wire",
        "`records --into` writes the statements of the operation",
    ),
    ("services/generator/src/cli/threads.rs", "wire", "`records` writes the rows of the operation"),
    ("services/generator/src/cli/records.rs", "wire", "`records` writes the rows of the operation"),
    (
        "services/generator/src/cli/table.rs",
        "wire",
        "tables of `make` are quoted as those of the operations",
    ),
    (
        "services/calendar/src/service.rs",
        "handlers",
        "handlers/edge.rs answers OPTIONS and renames methods before a request is routed",
    ),
    (
        "services/passwords/src/service.rs",
        "handlers",
        "handlers/edge.rs answers before routing; each worker thread gets buffers of its own",
    ),
];

fn is_excepted(file: &str, import: &str) -> bool {
    EXCEPTIONS.iter().any(|(excepted, what, _)| *excepted == file && *what == import)
}

fn named(name: &str) -> Option<&'static Room> {
    ROOMS.iter().find(|room| room.name == name)
}

/// Returns the source files of the services, without test code.
fn service_sources() -> impl Iterator<Item = &'static Source> {
    sources()
        .iter()
        .filter(|source| source.is_service() && source.place == Place::Src && !source.test)
}

#[test]
fn every_file_of_a_service_is_in_a_room() {
    let names: Vec<&str> = ROOMS.iter().map(|room| room.name).collect();
    let offences = service_sources()
        .filter(|source| !matches!(source.room(), "main" | "lib") && named(source.room()).is_none())
        .map(|source| Offence {
            rule: "room",
            file: source.path.clone(),
            line: 1,
            what: format!("there is no room `{}`", source.room()),
            fix: format!("move it to one of: {}", names.join(", ")),
        });
    assert_obeyed(&["room"], offences.collect());
}

#[test]
fn rooms_import_only_the_rooms_below_them() {
    let mut offences: Vec<Offence> = Vec::new();
    for source in service_sources() {
        let Some(room) = named(source.room()) else { continue };
        for mention in source.contents.mentions.iter().filter(|mention| !mention.test) {
            let found = targets()[&source.target].resolve(source, mention);
            let (Some(Found::Item(file)) | Some(Found::Module(file))) = found else { continue };
            let other = file.room();
            if other == room.name || file.path == source.path || room.imports.contains(&other) {
                continue;
            }
            if is_excepted(&source.path, other) {
                continue;
            }
            let fix = match named(other) {
                None if other == "lib" => "name what is meant by its own module".to_owned(),
                None => format!("`{other}` is not a room: see the rule `room`"),
                Some(_) if room.imports.is_empty() => format!("`{}` imports no room", room.name),
                Some(_) => format!("`{}` may import {}", room.name, room.imports.join(", ")),
            };
            push_once(
                &mut offences,
                Offence {
                    rule: "import",
                    file: source.path.clone(),
                    line: mention.line,
                    what: format!("{} imports {other}", room.name),
                    fix: format!("{}: {fix}", mention.segments.join("::")),
                },
            );
        }
    }
    assert_obeyed(&["import"], offences);
}

/// Returns whether a room may use a library that has a rule.
fn may_use(room: &Room, library: &str) -> bool {
    let own_libraries: &[&str] = match room.name {
        "model" => NOT_IN_MODEL,
        "wire" | "ical" => NOT_IN_WIRE,
        "store" | "engine" | "external" => NOT_IN_STORE,
        _ => room.without,
    };
    !own_libraries.contains(&library)
        && LIBRARY_ROOMS
            .iter()
            .all(|(libraries, rooms)| !libraries.contains(&library) || rooms.contains(&room.name))
}

#[test]
fn rooms_use_only_their_permitted_libraries() {
    let mut offences: Vec<Offence> = Vec::new();
    for source in service_sources() {
        let Some(room) = named(source.room()) else { continue };
        for mention in source.contents.mentions.iter().filter(|mention| !mention.test) {
            let found = targets()[&source.target].resolve(source, mention);
            let Some(Found::Library(library)) = found else { continue };
            if may_use(room, library) || is_excepted(&source.path, library) {
                continue;
            }
            let rooms = LIBRARY_ROOMS.iter().find(|(libraries, _)| libraries.contains(&library));
            push_once(
                &mut offences,
                Offence {
                    rule: "library",
                    file: source.path.clone(),
                    line: mention.line,
                    what: format!("{} uses {library}", room.name),
                    fix: match rooms {
                        Some((_, rooms)) => format!("{library} belongs to {}", rooms.join(", ")),
                        None => format!("`{}` works without {library}", room.name),
                    },
                },
            );
        }
    }
    assert_obeyed(&["library"], offences);
}

/// Returns whether a string looks like an SQL statement.
fn is_sql(text: &str) -> bool {
    const VERBS: [(&str, &str); 9] = [
        ("SELECT ", " "),
        ("INSERT INTO ", " "),
        ("UPDATE ", " SET "),
        ("DELETE FROM ", ""),
        ("CREATE TABLE ", ""),
        ("CREATE INDEX ", ""),
        ("ALTER TABLE ", ""),
        ("PRAGMA ", ""),
        ("WITH ", " AS ("),
    ];
    let text = text.trim_start();
    VERBS.iter().any(|(start, more)| text.starts_with(start) && text.contains(more))
}

/// Files that write or read SQL statements as a format and do not run any.
const SQL_FORMATS: [&str; 2] =
    ["services/generator/src/cli/table.rs", "services/generator/src/model/records/propose/"];

#[test]
fn sql_is_written_in_the_store_only() {
    let mut offences: Vec<Offence> = Vec::new();
    let elsewhere = service_sources().filter(|source| !matches!(source.room(), "store" | "engine"));
    let is_format = |path: &str| SQL_FORMATS.iter().any(|format| path.starts_with(format));
    for source in elsewhere.filter(|source| !is_format(&source.path)) {
        for literal in source.contents.literals.iter().filter(|literal| !literal.test) {
            if is_sql(&literal.text) {
                let words: Vec<&str> = literal.text.split_whitespace().take(3).collect();
                push_once(
                    &mut offences,
                    Offence {
                        rule: "sql",
                        file: source.path.clone(),
                        line: literal.line,
                        what: format!("a statement: {} …", words.join(" ")),
                        fix: "make it a function of store/".to_owned(),
                    },
                );
            }
        }
    }
    assert_obeyed(&["sql"], offences);
}

/// Adds a violation unless the list already contains the same one.
fn push_once(offences: &mut Vec<Offence>, offence: Offence) {
    if !offences.iter().any(|known| known.file == offence.file && known.what == offence.what) {
        offences.push(offence);
    }
}

#[test]
fn every_service_has_the_common_rooms() {
    let mut offences = Vec::new();
    for &service in SERVICES.iter() {
        let rooms =
            ["main", "lib", "config", "service", "routes", "openapi", "error", "state", "cli"];
        for room in rooms {
            let is_own = |source: &&Source| source.package == service && source.is_service();
            if !service_sources().filter(is_own).any(|source| source.room() == room) {
                offences.push(Offence {
                    rule: "rooms",
                    file: format!("services/{service}/src"),
                    line: 1,
                    what: format!("there is no `{room}`"),
                    fix: "docs/architecture.md describes it".to_owned(),
                });
            }
        }
    }
    assert_obeyed(&["rooms"], offences);
}
