//! Random expressions for the conformance suite.

use proptest::prelude::*;

/// Generates expressions from literals, classes, alternations, repetitions, groups and anchors.
pub fn made_expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "report",
        "backup",
        "BACK",
        "kup",
        "password",
        "token",
        "strasse",
        "straße",
        "σίσυφος",
        "é",
        "E\u{301}",
        "e\u{301}",
        "2021",
        "-03-",
        "sql",
        "\\.sql",
        "\\.s",
        "ks",
        "js",
        "a",
        ".*",
        ".*",
        ".",
        "[0-9]",
        "[a-c]",
        "[sk]",
        "[^a]",
        "\\w+",
        "\\d{2}",
        "(?-i:report)",
        "(?-i:S)",
        "^",
        "$",
        "\\b",
        "[\u{17f}\u{212a}]",
        "\"a_b\"",
        "\\x{53}",
        "/",
        "a/",
        "report/",
        "[ab]/re",
        "\\d+/",
        "/dump",
        "(?:2021|IMG)/",
        "[^/]",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(3, 12, 3, |inner| {
        let many = prop::collection::vec(inner.clone(), 1..4);
        let repeat = prop::sample::select(vec!["?", "*", "+", "{2}", "{2,}", "{1,2}", "{0,1}"]);
        prop_oneof![
            4 => many.clone().prop_map(|parts| parts.concat()),
            2 => many.prop_map(|branches| format!("(?:{})", branches.join("|"))),
            1 => (inner, repeat).prop_map(|(part, repeat)| format!("({part}){repeat}")),
        ]
    })
}
