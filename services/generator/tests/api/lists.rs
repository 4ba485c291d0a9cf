use std::io::{Cursor, Read};

use generator::Settings;
use testkit::{Answer, Exchange};
use zip::ZipArchive;

use crate::app::App;

const WORKBOOK: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// Returns the content type and the body of a list for an `Accept` header.
async fn list(app: &App, path: &str, accept: &str) -> (String, String) {
    let answer = app.server.get(path).header("accept", accept).answer().await;
    assert_eq!(answer.status, 200, "{path}");
    assert_eq!(answer.header("vary"), "Accept");
    (answer.header("content-type").to_owned(), answer.text().to_owned())
}

#[actix_web::test]
async fn lists_have_the_format_that_the_client_accepts() {
    let app = App::start().await;
    let path = "/api/Name?nameType=fullname&quantity=2&seed=demo";
    let (kind, body) = list(&app, path, "*/*").await;
    assert_eq!(kind, "application/json; charset=utf-8");
    let names: Vec<String> = serde_json::from_str(&body).unwrap();
    let (kind, body) = list(&app, path, "text/csv").await;
    assert_eq!(kind, "text/csv; charset=utf-8; header=present");
    assert_eq!(body, format!("name\r\n{}\r\n{}\r\n", names[0], names[1]));
    let (kind, body) = list(&app, path, "application/x-ndjson").await;
    assert_eq!(kind, "application/x-ndjson; charset=utf-8");
    assert_eq!(body, format!("\"{}\"\n\"{}\"\n", names[0], names[1]));
}

#[actix_web::test]
async fn values_with_members_are_rows_with_their_names() {
    let app = App::start().await;
    let path = "/api/Card?type=Visa&quantity=2&seed=demo&format=pretty";
    let cards = app.ok(path).await;
    let (_, table) = list(&app, path, "text/csv").await;
    let lines: Vec<_> = table.split("\r\n").collect();
    assert_eq!(lines[0], "type,date,fullName,cardNumber,cvv,pin");
    let card = |at: usize, member: &str| cards[at][member].to_string().replace('"', "");
    let row = ["type", "date", "fullName", "cardNumber", "cvv", "pin"].map(|name| card(1, name));
    assert_eq!(lines[2], row.join(","));
    assert_eq!(lines.len(), 4);
    let (_, rows) = list(&app, path, "application/x-ndjson").await;
    let rows: Vec<serde_json::Value> =
        rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(serde_json::Value::from(rows), cards);
}

#[actix_web::test]
async fn list_begins_with_the_single_value_of_the_seed() {
    let app = App::start().await;
    for path in [
        "/api/Card?seed=a",
        "/api/Finance/Iban/FR?seed=a",
        "/api/Finance/CryptoAddress?seed=a",
        "/api/SocialNumber?seed=a",
    ] {
        let one = app.ok(path).await;
        let list = app.ok(&format!("{path}&quantity=1000")).await;
        assert_eq!((list.as_array().unwrap().len(), &list[0]), (1000, &one), "{path}");
        assert_eq!(app.ok(&format!("{path}&quantity=1")).await.as_array().unwrap().len(), 1);
        for wrong in ["0", "1001", "-1"] {
            let errors = app.errors(&format!("{path}&quantity={wrong}")).await;
            let message = "The field quantity must be between 1 and 1000.";
            assert_eq!(errors, serde_json::json!({ "quantity": [message] }), "{path}");
        }
    }
}

#[actix_web::test]
async fn long_lists_are_complete() {
    let app = App::start().await;
    let path = "/api/Name?nameType=fullname&quantity=5000&seed=long";
    assert_eq!(app.ok(path).await.as_array().unwrap().len(), 5000);
    let (_, table) = list(&app, path, "text/csv").await;
    assert_eq!(table.lines().count(), 5001);
}

#[actix_web::test]
async fn head_has_the_headers_of_a_list_and_generates_no_values() {
    let app = App::start().await;
    let path = "/api/Name?nameType=fullname&quantity=3&seed=demo";
    let head = app.server.request("HEAD".parse().unwrap(), path).answer().await;
    assert_eq!((head.status, head.text()), (200, ""));
    assert_eq!(head.header("x-seed"), "demo");
    assert_eq!(head.header("content-type"), "application/json; charset=utf-8");
    // The length of a body that is not generated is unknown.
    assert!(head.headers.get("content-length").is_none());
    assert!(app.get(path).await.headers.get("content-length").is_some());
}

#[actix_web::test]
async fn suggestions_and_lists_of_choices_are_available_as_csv() {
    let app = App::start().await;
    let (_, names) =
        list(&app, "/api/Name/Suggestions?startingWords=blue&seed=a", "text/csv").await;
    assert_eq!((names.lines().next(), names.lines().count()), (Some("name"), 21));
    for (path, columns, first) in [
        ("/api/Card/Types", "type", "Visa"),
        ("/api/Finance/CryptoAddress/Types", "type", "Bitcoin"),
        ("/api/Finance/Countries", "name,countryCode", "Albania,AL"),
        ("/api/Phone/Countries", "name,countryCode", "Afghanistan,AF"),
        ("/api/Misc/Cultures", "code,name", "af_ZA,Afrikaans (South Africa)"),
        ("/api/Name/Cultures", "code,name", "af_ZA,Afrikaans (South Africa)"),
    ] {
        let (kind, table) = list(&app, path, "text/csv").await;
        assert_eq!(kind, "text/csv; charset=utf-8; header=present");
        assert!(table.starts_with(&format!("{columns}\r\n{first}\r\n")), "{table}");
        let (_, rows) = list(&app, path, "application/x-ndjson").await;
        let rows: Vec<serde_json::Value> =
            rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
        assert_eq!(serde_json::Value::from(rows), app.ok(path).await, "{path}");
    }
}

#[actix_web::test]
async fn csv_has_another_entity_tag_than_json() {
    let app = App::start().await;
    let json = app.get("/api/Card/Types").await.header("etag").to_owned();
    let asked = |tag: &str| {
        let request = app.server.get("/api/Card/Types").header("accept", "text/csv");
        request.header("if-none-match", tag).answer()
    };
    let table = asked(&json).await;
    assert_eq!(table.status, 200);
    assert_eq!(asked(table.header("etag")).await.status, 304);
}

#[actix_web::test]
async fn addresses_have_parts_as_csv_and_in_persons() {
    let app = App::start().await;
    let path = "/api/Misc/Random-Address?culture=de&number=3&seed=demo";
    let lines = app.ok(path).await;
    let (_, table) = list(&app, path, "text/csv").await;
    let rows: Vec<_> = table.lines().collect();
    assert_eq!(
        rows[0],
        "address,street,houseNumber,unit,district,postcode,city,region,country,countryCode"
    );
    for (row, line) in rows[1..].iter().zip(lines.as_array().unwrap()) {
        let line = line.as_str().unwrap();
        let parts: Vec<_> = row.strip_prefix(&format!("\"{line}\",")).unwrap().split(',').collect();
        let [street, house, .., postcode, city, _, country, code] = parts[..] else { panic!() };
        assert_eq!(line, format!("{street} {house}, {postcode} {city}"));
        assert_eq!((country, code), ("Germany", "DE"));
    }
    let address = app.ok("/api/Person?culture=sv&seed=demo").await["address"].take();
    for part in ["street", "houseNumber", "postcode", "city"] {
        let part = address[part].as_str().unwrap();
        assert!(address["line"].as_str().unwrap().contains(part), "{part}");
    }
    assert_eq!(address["country"], "Sweden");
}

/// All lists, each with the name of its quantity parameter.
const LISTS: [(&str, &str); 11] = [
    ("/api/Card?seed=a", "quantity"),
    ("/api/Finance/CryptoAddress?seed=a", "quantity"),
    ("/api/Finance/Iban/FR?seed=a", "quantity"),
    ("/api/Misc/Random-Address?culture=fi&seed=a", "number"),
    ("/api/Name?nameType=surname&seed=a", "quantity"),
    ("/api/Name/BusinessName?seed=a", "number"),
    ("/api/Person?culture=ja&seed=a", "quantity"),
    ("/api/Phone/Generate?CountryCode=DE&seed=a", "Quantity"),
    ("/api/Phone/IMEI?seed=a", "Quantity"),
    ("/api/SocialNumber?country=SE&seed=a", "quantity"),
    ("/api/Text/Review?product=lamp&seed=a", "quantity"),
];

/// Returns the lines of a list in NDJSON format.
async fn rows(app: &App, path: &str) -> Vec<String> {
    let posted = ["/api/Name/BusinessName", "/api/Text/Review"];
    let is_posted = posted.iter().any(|posted| path.starts_with(posted));
    let request = if is_posted { app.server.post(path) } else { app.server.get(path) };
    let answer = request.header("accept", "application/x-ndjson").answer().await.expect(200);
    answer.text().lines().map(str::to_owned).collect()
}

#[actix_web::test]
async fn list_with_an_offset_is_a_slice_of_the_whole_list() {
    let app = App::start().await;
    for (path, quantity) in LISTS {
        let whole = rows(&app, &format!("{path}&{quantity}=20")).await;
        let part = rows(&app, &format!("{path}&{quantity}=5&offset=7")).await;
        assert_eq!(part, whole[7..12], "{path}");
        let far = rows(&app, &format!("{path}&{quantity}=2&offset=2000000000")).await;
        assert_eq!(far.len(), 2, "{path}");
        assert_ne!(far, whole[..2], "{path}");
    }
    let one = app.ok("/api/Card?seed=a&offset=3").await;
    assert_eq!(one, app.ok("/api/Card?seed=a&quantity=4").await[3]);
    let errors = app.errors("/api/Card?offset=-1").await;
    assert_eq!(errors["offset"][0], "The field offset must be between 0 and 2147483647.");
}

#[actix_web::test]
async fn tables_have_up_to_a_million_rows_and_json_has_a_thousand() {
    let app = App::start().await;
    let path = "/api/Phone/IMEI?seed=a&Quantity=";
    let (_, table) = list(&app, &format!("{path}1000000"), "text/csv").await;
    assert_eq!(table.lines().count(), 1_000_001);
    assert_eq!(rows(&app, &format!("{path}30000")).await.last().unwrap().len(), 17);
    let errors = app.errors(&format!("{path}1001")).await;
    assert_eq!(errors["Quantity"][0], "The field Quantity must be between 1 and 1000.");
    let most =
        app.server.get(&format!("{path}1000001")).header("accept", "text/csv").answer().await;
    assert_eq!(most.status, 400);
}

#[actix_web::test]
async fn a_byte_order_mark_is_only_in_csv() {
    let app = App::start().await;
    let path = "/api/Name?nameType=fullname&cultureCode=ja&quantity=1&seed=a";
    let (_, plain) = list(&app, path, "text/csv").await;
    let marked = format!("{path}&bom=true");
    assert_eq!(list(&app, &marked, "text/csv").await.1, format!("\u{feff}{plain}"));
    assert_eq!(app.ok(&marked).await, app.ok(path).await);
}

/// Returns a list as a workbook.
async fn book(app: &App, path: &str) -> Answer {
    let posted = ["/api/Name/BusinessName", "/api/Text/Review"];
    let is_posted = posted.iter().any(|posted| path.starts_with(posted));
    let request = if is_posted { app.server.post(path) } else { app.server.get(path) };
    request.header("accept", WORKBOOK).answer().await
}

/// Returns part of a workbook.
fn part(book: &Answer, name: &str) -> String {
    let mut archive = ZipArchive::new(Cursor::new(book.body.clone())).unwrap();
    let mut text = String::new();
    archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
    text
}

/// Returns a workbook's cell values, row by row.
fn cells(book: &Answer) -> Vec<String> {
    let strings = part(book, "xl/sharedStrings.xml");
    let strings: Vec<_> = strings
        .split("<si>")
        .skip(1)
        .map(|item| item.split_once('>').unwrap().1.split("</t>").next().unwrap())
        .collect();
    let sheet = part(book, "xl/worksheets/sheet1.xml");
    let numbers = sheet.split("t=\"s\"><v>").skip(1);
    let numbers = numbers.map(|cell| cell.split('<').next().unwrap().parse::<usize>().unwrap());
    numbers.map(|number| strings[number].to_owned()).collect()
}

#[actix_web::test]
async fn a_workbook_has_the_cells_of_csv_as_texts() {
    let app = App::start().await;
    for path in ["/api/Card?type=Visa&quantity=30&seed=demo", "/api/Phone/IMEI?Quantity=5&seed=a"] {
        let (_, table) = list(&app, path, "text/csv").await;
        let expected: Vec<_> = table.lines().flat_map(|line| line.split(',')).collect();
        let made = book(&app, path).await.expect(200);
        assert_eq!((made.header("content-type"), made.header("vary")), (WORKBOOK, "Accept"));
        assert_eq!(cells(&made), expected, "{path}");
        // The request's time would make the same list a different file.
        assert!(part(&made, "docProps/core.xml").contains("2030-01-01T00:00:00Z"));
    }
}

#[actix_web::test]
async fn every_list_is_available_as_a_workbook_with_as_many_values_as_json() {
    let app = App::start().await;
    for (path, quantity) in LISTS {
        let made = book(&app, &format!("{path}&{quantity}=3&offset=2")).await.expect(200);
        let sheet = part(&made, "xl/worksheets/sheet1.xml");
        assert_eq!(sheet.matches("<row ").count(), 4, "{path}");
        let refused = book(&app, &format!("{path}&{quantity}=5001")).await;
        assert_eq!(refused.status, 400, "{path}");
    }
    for path in ["/api/Card/Types", "/api/Name/Cultures", "/api/Finance/Countries"] {
        let (_, table) = list(&app, path, "text/csv").await;
        let made = book(&app, path).await.expect(200);
        assert_eq!(
            cells(&made).len(),
            table.lines().count() * table.lines().next().unwrap().split(',').count()
        );
        let json = app.get(path).await;
        assert_ne!(made.header("etag"), json.header("etag"), "{path}");
    }
    let one = book(&app, "/api/Card?seed=a").await.expect(200);
    assert_eq!(one.json(), app.ok("/api/Card?seed=a").await);
}

#[actix_web::test]
async fn a_workbook_takes_a_stream_slot_of_the_caller_until_it_is_built() {
    let settings = Settings { anonymous_streams: 1, anonymous_rpm: 0, ..Settings::default() };
    let app = App::start_with(settings).await;
    let lists = ["/api/Card?quantity=30&seed=a", "/api/Name/Suggestions?startingWords=blue"];
    for path in lists {
        let _ = book(&app, path).await.expect(200);
    }
    let endless = "/api/Text/LoremIpsum?loremType=normal&type=words&number=2147483647";
    let running = app.server.get(endless).send().await.unwrap();
    for path in lists {
        let refused = book(&app, path).await;
        assert_eq!((refused.status, refused.header("retry-after")), (429, "10"), "{path}");
        app.ok(path).await;
    }
    drop(running);
    while book(&app, lists[0]).await.status != 200 {
        actix_web::rt::task::yield_now().await;
    }
}
