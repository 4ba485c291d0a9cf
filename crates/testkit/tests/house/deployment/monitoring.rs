//! Checks that every metric in the rules and the dashboard of `deploy/monitoring` exists.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{files, list, root, text};

/// Metrics that Prometheus itself and its client library provide.
const OF_OTHERS: [&str; 8] = [
    "up",
    "process_cpu_seconds_total",
    "process_max_fds",
    "process_open_fds",
    "process_resident_memory_bytes",
    "process_start_time_seconds",
    "process_threads",
    "process_virtual_memory_bytes",
];
/// The words in an expression that are not metrics.
const WORDS: [&str; 17] = [
    "and",
    "by",
    "changes",
    "count",
    "histogram_quantile",
    "increase",
    "last_over_time",
    "max",
    "min",
    "on",
    "or",
    "rate",
    "sum",
    "time",
    "topk",
    "unless",
    "without",
];

#[test]
fn rules_and_dashboard_name_metrics_that_exist() {
    let rules: Value = serde_saphyr::from_str(&read("rules.yml")).unwrap();
    let dashboard: Value = serde_json::from_str(&read("dashboard.json")).unwrap();
    let mut expressions = Vec::new();
    collect(&rules, &mut expressions);
    let rules = expressions.len();
    collect(&dashboard, &mut expressions);
    assert!(rules > 5 && expressions.len() > rules + 10, "{expressions:#?}");
    let sources: String = ["crates", "services"]
        .iter()
        .flat_map(|folder| files(&root().join(folder), "rs"))
        .filter(|path| path.components().any(|part| part.as_os_str() == "src"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    let exists = |name: &str| {
        let bare = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
        let declared = |name: &str| sources.contains(&format!("\"{name}\""));
        OF_OTHERS.contains(&name) || declared(name) || bare.is_some_and(declared)
    };
    let names: BTreeSet<String> = expressions.iter().flat_map(|text| metrics(text)).collect();
    let missing: Vec<_> = names.iter().filter(|name| !exists(name)).collect();
    assert!(missing.is_empty(), "no source declares {missing:?}");
}

#[test]
fn every_alert_has_a_paragraph_in_the_handbook_and_both_cases() {
    let handbook = std::fs::read_to_string(root().join("docs/operations.md")).unwrap();
    let cases = read("rules_test.yml");
    let [rules, tests]: [Value; 2] =
        [&read("rules.yml"), &cases].map(|text| serde_saphyr::from_str(text).unwrap());
    // The first case has a series of every metric, none of which raises an alert.
    let healthy = list(&tests["tests"][0]["input_series"]);
    let rules: Vec<_> =
        list(&rules["groups"]).iter().flat_map(|group| list(&group["rules"])).collect();
    assert!(rules.len() > 15 && !healthy.is_empty(), "{rules:?}");
    for rule in rules {
        let alert = text(&rule["alert"]);
        assert!(
            handbook.contains(&format!("\n- `{alert}`: ")),
            "docs/operations.md explains no {alert}"
        );
        assert!(cases.contains(&format!("alertname=\"{alert}\"")), "rules_test.yml lacks {alert}");
        for name in metrics(text(&rule["expr"])) {
            let is_of = |input: &Value| text(&input["series"]).starts_with(&format!("{name}{{"));
            assert!(healthy.iter().any(is_of), "{alert}: no healthy case of {name}");
        }
    }
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join("deploy/monitoring").join(name)).unwrap()
}

/// Collects the values of every member named `expr`.
fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if name == "expr" => found.push(text.clone()),
                    other => collect(other, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}

/// Returns the names in an expression that are neither keywords nor labels.
fn metrics(expression: &str) -> BTreeSet<String> {
    let mut bare = String::new();
    let mut depth = 0_u32;
    for letter in expression.chars() {
        match letter {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ if depth == 0 => bare.push(letter),
            _ => {}
        }
    }
    // After one of these words, the parentheses contain a list of labels.
    for word in ["by (", "on (", "without ("] {
        while let Some(at) = bare.find(word) {
            let end = bare[at..].find(')').map_or(bare.len(), |end| at + end + 1);
            bare.replace_range(at..end, " ");
        }
    }
    let names = bare.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    names
        .filter(|name| name.starts_with(|first: char| first.is_ascii_lowercase()))
        .filter(|name| !WORDS.contains(name))
        .map(str::to_owned)
        .collect()
}
