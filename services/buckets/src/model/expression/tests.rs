use rstest::rstest;

use super::*;

fn reason(text: &str) -> Option<String> {
    let expression = Expression::parse(text, true).unwrap();
    expression.notice().map(str::to_owned)
}

#[rstest]
#[case(".*backup.*", ".*backup.*", &["a backup b", "BACKUP"], &["back"])]
#[case("backup.*", "backup.*", &["backup1"], &["a backup"])]
#[case(".*backup", ".*backup", &["a backup"], &["backup1"])]
#[case(r".*\.php", r".*\.php", &["x.php", "X.PHP"], &["xphp", "x.php5"])]
#[case(".*dump.*(gz|tar|zip)", ".*dump.*(gz|tar|zip)", &["a-dump-1.tar"], &["dump.tar.bz2"])]
#[case(r".*2018[\-_\. ]11.*", r".*2018[\-_\. ]11.*", &["x2018-11", "2018 11"], &["2018/11"])]
#[case(r#".*"test.txt""#, r#".*"test.txt""#, &["a test.txt"], &["testXtxt"])]
#[case("19[0-9]{2}", ".*19[0-9]{2}.*", &["a1984b"], &["198"])]
#[case("^dump.*sql$", "dump.*sql", &["dump1.sql"], &["a dump1.sql", "dump.sql.gz"])]
#[case("*.sql", ".*.sql", &["a.sql"], &["a.sql.gz"])]
#[case("sql|bak", ".*(?:sql|bak).*", &["a.bak1"], &["ba"])]
#[case("^a|b$", ".*(?:^a|b$).*", &["ax", "xb"], &["xax"])]
#[case(".*a|b.*", ".*a|b.*", &["xa", "bx"], &["xb", "ax"])]
#[case("^dump", "dump", &["dump"], &["dump1"])]
#[case("dump$", "dump", &["dump"], &["1dump"])]
#[case("(a", r".*\(a.*", &["x(a)"], &["a"])]
#[case("a)", r".*a\).*", &["(a)"], &["a"])]
#[case("a[b", r".*a\[b.*", &["xa[b"], &["ab"])]
#[case("a{b", r".*a\{b.*", &["xa{b"], &["ab"])]
#[case("(*a|*b)c(", r".*(.*a|.*b)c\(.*", &["xac(y"], &["ac"])]
#[case(r#""a.b""#, r#".*"a.b".*"#, &["xa.by"], &["aXb"])]
#[case(r#"\"a\""#, r#".*\"a\".*"#, &["x\"a\"y"], &["a"])]
#[case(r#"["]"#, r#".*["].*"#, &["x\"y"], &["xy"])]
#[case("[]a]", ".*[]a].*", &["x]y", "a"], &["b"])]
#[case("", ".*.*", &["", "a"], &[])]
#[case("(?x)abc # comment", ".*(?:(?x)abc # comment\n).*", &["1abc2"], &["comment", "ab"])]
#[case("(?x)abc # one\n# two\n", ".*(?:(?x)abc # one\n# two\n).*", &["1abc2"], &["ab"])]
#[case("(?x:a # b\n)c # d", ".*(?x:a # b\n)c # d.*", &["1ac # d2"], &["ac"])]
#[case("(?x)\"a b\" c", ".*(?:(?x)\"a b\" c).*", &["1a bc2"], &["abc", "a b c"])]
#[case("(?-u)abc", ".*(?:(?-u)abc).*", &["éabcé"], &["ab"])]
#[case("(?-s)a.c", ".*(?:(?-s)a.c).*", &["\nabc\n"], &["a\nc"])]
#[case("a(?-i)B", ".*(?:a(?-i)B).*", &["xABx"], &["ab"])]
#[case("(?-i).*B", "(?-i).*B", &["aB"], &["ab", "aBc"])]
#[case("(?x)a|b # \"c", ".*(?:(?x)a|b # \"c\"\n).*", &["1b2", "a"], &["c"])]
#[case("a \"b.c", ".*a \"b.c\".*", &["1a b.c2"], &["a bxc", "b.c"])]
#[case(r#"a "b\""#, ".*a \"b\\\"\".*", &["1a b\"2"], &["a b"])]
fn expression_vectors(
    #[case] given: &str,
    #[case] corrected: &str,
    #[case] finds: &[&str],
    #[case] misses: &[&str],
) {
    let expression = Expression::parse(given, true).unwrap();
    assert_eq!(expression.source(), corrected);
    for name in finds {
        assert!(expression.matches(name), "{given} finds {name}");
    }
    for name in misses {
        assert!(!expression.matches(name), "{given} does not find {name}");
    }
}

#[test]
fn notice_names_the_new_expression_and_every_reason() {
    assert_eq!(
        reason("19[0-9]{2}").unwrap(),
        "The expression was changed to \".*19[0-9]{2}.*\": \
         .* was added on both ends to find the text anywhere."
    );
    assert_eq!(
        reason("*a(").unwrap(),
        "The expression was changed to \".*a\\(\": a leading * was read as .*; \
         an unbalanced bracket was escaped."
    );
    assert_eq!(
        reason("^a$").unwrap(),
        "The expression was changed to \"a\": ^ and $ are implied and were dropped."
    );
    assert_eq!(reason(".*a"), None);
}

#[test]
fn noautocorrect_changes_nothing() {
    let expression = Expression::parse("19[0-9]{2}", false).unwrap();
    assert_eq!((expression.source(), expression.notice()), ("19[0-9]{2}", None));
    assert!(expression.matches("1984") && !expression.matches("a1984"));
    assert!(Expression::parse("*.sql", false).is_err());
}

#[rstest]
#[case("a(?=b)", 2)]
#[case(r"(a)\1", 4)]
#[case("a{2,1}", 2)]
#[case(r#""quoted"a{2,1}"#, 10)]
#[case(r"\p{Nothing}", 1)]
#[case(r"a|\p{Nothing}", 3)]
#[case(r"*a\p{Nothing}", 3)]
#[case(r"(a\p{Nothing}", 3)]
#[case("(?-u)a.", 7)]
fn syntax_errors_have_positions(#[case] given: &str, #[case] place: usize) {
    match Expression::parse(given, true) {
        Err(ExpressionError::Syntax { position, reason }) => {
            assert_eq!(position, place, "{given}: {reason}");
        }
        other => panic!("{given}: {other:?}"),
    }
}

#[test]
fn oversized_and_deep_expressions_are_rejected() {
    assert_eq!(Expression::parse(r"\w{1000}\w{1000}", true).unwrap_err(), ExpressionError::TooBig);
    let deep = format!("{}a{}", "(".repeat(450), ")".repeat(450));
    assert!(matches!(Expression::parse(&deep, true), Err(ExpressionError::Syntax { .. })));
}

#[test]
fn dot_matches_every_character() {
    assert!(Expression::parse("a.b", false).unwrap().matches("a\nb"));
    assert!(Expression::parse("a.b", false).unwrap().matches("aéb"));
}

proptest::proptest! {
    #[test]
    fn matching_in_steps_agrees_with_the_engine(
        text in "[a-c.*|()?+^$é\\\\bw1-]{0,16}", name in "[a-c1é \\-]{0,12}",
    ) {
        if let Ok(expression) = Expression::parse(&text, true) {
            let stepwise = expression.matches_in_steps(name.as_bytes(), || Ok::<_, ()>(()));
            proptest::prop_assert_eq!(stepwise, Ok(expression.matches(&name)), "{}", text);
        }
    }

    #[test]
    fn any_text_parses_or_fails(text in "[a-c*.|(){}\\[\\]^$\"\\\\?+0-9-]{0,24}") {
        if let Ok(expression) = Expression::parse(&text, true) {
            let again = Expression::parse(expression.source(), false);
            proptest::prop_assert!(again.is_ok(), "{} became {}", text, expression.source());
        }
    }
}
