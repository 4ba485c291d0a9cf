//! The parameter reader under the rules of several services.

use serde::{Deserialize, Deserializer};
use serde_json::json;
use shell::Violation;
use shell::params::{
    Empty, Faults, Input, Lists, Names, Numbers, Repeated, Rules, Undecodable, Unknown, Words,
    bracketed, members, on_field, read_validated, reject,
};
use validator::{Validate, ValidationError};

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Order {
    Size,
    Name,
}

#[derive(Debug, PartialEq)]
struct Even(u64);

impl<'de> Deserialize<'de> for Even {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u64::deserialize(deserializer)? {
            number if number % 2 == 0 => Ok(Self(number)),
            _ => Err(reject("odd", "the number is odd")),
        }
    }
}

#[derive(Debug, Default, Deserialize, PartialEq, Validate)]
#[serde(default)]
#[validate(schema(function = "ordered", skip_on_field_errors = false))]
struct Parameters {
    keywords: String,
    #[serde(rename = "full-path")]
    full_path: bool,
    #[validate(required(code = "required"), range(min = 1, max = 10))]
    #[serde(rename = "pageSize")]
    page_size: Option<i32>,
    order: Option<Order>,
    even: Option<Even>,
    tags: Vec<String>,
    ids: Vec<u64>,
    #[validate(length(max = 3))]
    r#type: Option<String>,
    from: Option<u64>,
    to: Option<u64>,
}

fn ordered(parameters: &Parameters) -> Result<(), ValidationError> {
    match (parameters.from, parameters.to) {
        (Some(from), Some(to)) if from > to => Err(on_field("to", "order", "to is below from")),
        _ => Ok(()),
    }
}

const LENIENT: Rules = Rules {
    names: Names::IgnoringCase,
    repeated: Repeated::Last,
    empty: Empty::Absent,
    words: Words::Trimmed,
    booleans: &[("1", true), ("true", true), ("0", false), ("false", false)],
    ..Rules::PLAIN
};

fn parse(query: &str, rules: &Rules) -> Result<Parameters, Vec<Violation>> {
    read_validated(&Input::query(query), rules).into_result()
}

fn faults(query: &str, rules: &Rules) -> Vec<(String, String)> {
    let violations = parse(query, rules).unwrap_err();
    violations.into_iter().map(|v| (v.field, v.code.into_owned())).collect()
}

fn one(field: &str, code: &str) -> Vec<(String, String)> {
    vec![(field.to_owned(), code.to_owned())]
}

#[test]
fn values_become_fields() {
    let query = "KEYWORDS=a+b&full-path=1&pagesize=+7+&Order=SIZE&tags=x,+y,,&ids=1,2&type=abc";
    let read = parse(query, &LENIENT).unwrap();
    let expected = Parameters {
        keywords: "a b".into(),
        full_path: true,
        page_size: Some(7),
        order: Some(Order::Size),
        tags: vec!["x".into(), "y".into()],
        ids: vec![1, 2],
        r#type: Some("abc".into()),
        ..Parameters::default()
    };
    assert_eq!(read, expected);
}

#[test]
fn names_repeats_and_empty_values_follow_the_rules() {
    let exact = Rules { names: Names::Exact, ..LENIENT };
    assert_eq!(faults("PAGESIZE=1", &exact), one("pageSize", "required"));
    let first = Rules { repeated: Repeated::First, ..LENIENT };
    assert_eq!(parse("pageSize=1&pageSize=2", &first).unwrap().page_size, Some(1));
    assert_eq!(parse("pageSize=1&PAGESIZE=2", &LENIENT).unwrap().page_size, Some(2));
    assert_eq!(faults("pageSize=1&pageSize=", &LENIENT), one("pageSize", "required"));
    let kept = Rules { empty: Empty::Kept, ..LENIENT };
    assert_eq!(faults("pageSize=1&full-path=", &kept), one("full-path", "boolean"));
}

#[test]
fn violations_are_in_the_order_of_the_fields() {
    let query = "to=1&from=2&type=abcd&even=3&order=up&pageSize=11&full-path=maybe&ids=1,x";
    let violations = parse(query, &LENIENT).unwrap_err();
    let found: Vec<_> =
        violations.iter().map(|v| (&*v.field, &*v.code, v.sent.as_deref().unwrap())).collect();
    assert_eq!(
        found,
        [
            ("full-path", "boolean", "maybe"),
            ("pageSize", "range", "11"),
            ("order", "choice", "up"),
            ("even", "odd", "3"),
            ("ids[1]", "integer", "1,x"),
            ("type", "length", "abcd"),
            ("to", "order", "1"),
        ]
    );
    assert_eq!(violations[1].limit("min").unwrap(), 1);
    assert_eq!(violations[2].limit("values").unwrap(), &json!(["size", "name"]));
    let first = Rules { faults: Faults::First, ..LENIENT };
    assert_eq!(faults(query, &first), one("full-path", "boolean"));
}

#[test]
fn a_partial_value_is_returned_with_the_violations() {
    let input = Input::query("keywords=a&full-path=x&order=name");
    let reading = read_validated::<Parameters>(&input, &LENIENT);
    assert_eq!(reading.violations.len(), 2);
    let value = reading.value.unwrap();
    assert_eq!((value.keywords.as_str(), value.order), ("a", Some(Order::Name)));
}

#[test]
fn a_value_that_is_not_utf8_violates_its_parameter_or_the_whole_input() {
    let query = "TYPE=%FF+a&%FF=1&other=%FE&pageSize=0";
    let violations = parse(query, &LENIENT).unwrap_err();
    let found: Vec<_> = violations.iter().map(|v| (&*v.field, &*v.code)).collect();
    assert_eq!(found, [("pageSize", "range"), ("type", "encoding")]);
    assert_eq!(violations[1].sent.as_deref(), Some("%FF+a"));
    assert_eq!(violations[1].name.as_deref(), Some("TYPE"));
    let strict = Rules { undecodable: Undecodable::Input, ..LENIENT };
    assert_eq!(faults("other=%FE&pageSize=0", &strict), one("other", "encoding"));
    assert_eq!(faults("%FF=1", &strict), one("", "encoding"));
}

#[test]
fn the_length_of_numbers_follows_the_rules() {
    let digits = Rules { numbers: Numbers::Digits(3), ..LENIENT };
    assert_eq!(parse("pageSize=1&from=007", &digits).unwrap().from, Some(7));
    for value in ["1000", "-1", "%2B1", "+1", "1.0"] {
        let query = format!("pageSize=1&from={value}");
        assert_eq!(faults(&query, &digits), one("from", "integer"), "{value}");
    }
    assert_eq!(parse("pageSize=%2B1", &LENIENT).unwrap().page_size, Some(1));
}

#[test]
fn lists_may_be_several_values_of_one_name() {
    let values = Rules { lists: Lists::Values, ..LENIENT };
    let read = parse("pageSize=1&tags=a,b&TAGS=c", &values).unwrap();
    assert_eq!(read.tags, ["a,b", "c"]);
}

#[derive(Debug, Deserialize, PartialEq, Validate)]
struct Row {
    name: String,
    venue: Option<Venue>,
    ids: Option<Vec<i64>>,
    free: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize, PartialEq, Validate)]
struct Venue {
    city: String,
    size: Option<u32>,
}

#[test]
fn json_and_bracketed_forms_are_equivalent() {
    let json = json!({"name": "a", "venue": {"city": "Graz", "size": 3}, "ids": [1, 2]});
    let form = "name=a&venue[city]=Graz&venue[size]=3&ids[]=1&ids[]=2";
    let brackets = bracketed(Input::query(form).texts());
    let one: Row =
        read_validated(&Input::object(json.as_object().unwrap()), &LENIENT).into_result().unwrap();
    let other: Row = read_validated(&Input::object(&brackets), &LENIENT).into_result().unwrap();
    assert_eq!(one, other);
}

#[test]
fn violations_inside_json_have_a_path() {
    for (body, field, code) in [
        (json!({"name": 1}), "name", "type"),
        (json!({"name": null}), "name", "required"),
        (json!({"name": "a", "venue": {}}), "venue.city", "required"),
        (json!({"name": "a", "venue": {"city": "x", "size": "big"}}), "venue.size", "integer"),
        (json!({"name": "a", "ids": [1, "x"]}), "ids[1]", "integer"),
        (json!({"name": "a", "venue": 7}), "venue", "type"),
    ] {
        let input = Input::object(body.as_object().unwrap());
        let violations = read_validated::<Row>(&input, &LENIENT).into_result().unwrap_err();
        assert_eq!((&*violations[0].field, &*violations[0].code), (field, code), "{body}");
    }
    let free = json!({"name": "a", "free": {"x": [1, null, {"y": 0.5}]}});
    let read: Row =
        read_validated(&Input::object(free.as_object().unwrap()), &LENIENT).into_result().unwrap();
    assert_eq!(read.free.as_ref(), free.get("free"));
}

#[test]
fn repeated_members_follow_the_rules() {
    let members = members(br#"{"NAME": "a", "name": "b"}"#, 32).unwrap();
    let input = Input::members(members.iter().map(|(name, value)| (name, value)));
    assert_eq!(read_validated::<Row>(&input, &LENIENT).value.unwrap().name, "b");
}

#[test]
fn a_missing_field_without_option_is_the_only_violation() {
    let violations = read_validated::<Row>(&Input::query("ids=x"), &LENIENT).violations;
    let found: Vec<_> = violations.iter().map(|v| (&*v.field, &*v.code)).collect();
    assert_eq!(found, [("name", "required"), ("ids[0]", "integer")]);
}

#[test]
fn unknown_names_are_refused_by_rule() {
    let strict = Rules { unknown: Unknown::Refused(2), ..LENIENT };
    let query = "pageSize=0&x=1&Keywords=a&y=2&z=3";
    let found = faults(query, &strict);
    let names: Vec<_> = found.iter().map(|(field, code)| (&**field, &**code)).collect();
    assert_eq!(names, [("x", "unknown"), ("y", "unknown"), ("pageSize", "range")]);
    assert_eq!(faults(query, &LENIENT), one("pageSize", "range"));
}
