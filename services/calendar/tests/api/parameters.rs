//! Decoding of parameters from all their sources.

use serde_json::{Value, json};

use crate::app::{App, send};

#[actix_web::test]
async fn forms_and_queries_write_the_same_as_json() {
    let app = App::new().await;
    let form = "title=A%20b&start_date=2027-04-01+10:00&end_date=2027-04-01&categories[]=X&categories[]=Y\
        &venue[venue]=Hall&venue[city]=Graz&organizer[0][organizer]=Ann&all_day=1&tags=u,v";
    let urlencoded = app
        .request("administrator", "POST", "/events")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(form);
    let query = app.request("administrator", "POST", &format!("/events?{form}"));
    let boundary = "XBOUNDARYX";
    let mut multipart = String::new();
    for (name, value) in [
        ("title", "A b"),
        ("start_date", "2027-04-01 10:00"),
        ("end_date", "2027-04-01"),
        ("categories", "X,Y"),
        ("venue[venue]", "Hall"),
        ("venue[city]", "Graz"),
        ("organizer[0][organizer]", "Ann"),
        ("all_day", "1"),
        ("tags", "u,v"),
    ] {
        multipart.push_str(&format!(
            "--{boundary}\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        ));
    }
    multipart.push_str(&format!("--{boundary}--\r\n"));
    let parts = app
        .request("administrator", "POST", "/events")
        .header("content-type", format!("multipart/form-data; boundary={boundary}"))
        .body(multipart);
    for request in [urlencoded, query, parts] {
        let event = send(request).await.expect(201).json;
        assert_eq!((&event["title"], &event["all_day"]), (&json!("A b"), &json!(true)));
        assert_eq!(event["categories"].as_array().unwrap().len(), 2);
        assert_eq!(event["tags"].as_array().unwrap().len(), 2);
        assert_eq!(
            (&event["venue"]["city"], &event["organizer"][0]["organizer"]),
            (&json!("Graz"), &json!("Ann"))
        );
    }
}

#[actix_web::test]
async fn body_overrides_the_query_and_null_counts_as_absent() {
    let app = App::new().await;
    let body = json!({"title": "body", "start_date": null});
    let event = app
        .post("/events?title=query&start_date=2027-04-01&end_date=2027-04-02", &body)
        .await
        .expect(201);
    assert_eq!(event.json["title"], "body");
    let missing = app
        .post(
            "/events",
            &json!({"title": null, "start_date": "2027-04-01", "end_date": "2027-04-01"}),
        )
        .await;
    assert_eq!((missing.status, missing.code()), (400, "rest_missing_callback_param"));
}

#[actix_web::test]
async fn invalid_values_of_every_type_get_400() {
    let app = App::new().await;
    let id = app.event(json!({})).await;
    let other = app.make("/organizers", json!({"organizer": "Ann"})).await;
    for (name, values) in [
        ("title", vec![json!(""), json!("  "), json!(7), json!([]), json!("x".repeat(1001))]),
        (
            "start_date",
            vec![
                json!(""),
                json!("x"),
                json!("2027-13-01"),
                json!("2027-01-01 25:00"),
                json!(true),
                json!(-5),
            ],
        ),
        ("timezone", vec![json!("Mars"), json!("UTC+15"), json!(5)]),
        ("all_day", vec![json!("maybe"), json!(""), json!(2)]),
        ("author", vec![json!(0), json!("x"), json!(99999)]),
        ("date", vec![json!("x")]),
        ("date_utc", vec![json!("")]),
        ("description", vec![json!(5), json!({})]),
        ("slug", vec![json!(5), json!("x".repeat(201))]),
        (
            "status",
            vec![
                json!(""),
                json!(" "),
                json!("any"),
                json!("a,b"),
                json!("x".repeat(21)),
                json!(5),
            ],
        ),
        (
            "website",
            vec![
                json!("x"),
                json!("/a"),
                json!("javascript:alert(1)"),
                json!("ftp://a.b/c"),
                json!(5),
            ],
        ),
        ("cost", vec![json!({}), json!(true), json!([{}])]),
        (
            "image",
            vec![
                json!(99999),
                json!("x"),
                json!("http://localhost/a.png"),
                json!("http://10.0.0.1/a"),
                json!(true),
            ],
        ),
        ("categories", vec![json!([{}]), json!(true), json!({"a": 1})]),
        (
            "venue",
            vec![
                json!(99999),
                json!("x"),
                json!(other),
                json!({"city": "x"}),
                json!({"id": other}),
                json!([1.5]),
            ],
        ),
        ("organizer", vec![json!(id), json!({"phone": "1"})]),
        ("featured", vec![json!("x")]),
        ("password", vec![json!(5)]),
    ] {
        for value in values {
            let answer = app.patch(&format!("/events/{id}"), &json!({name: value})).await;
            assert_eq!(
                (answer.status, answer.code()),
                (400, "rest_invalid_param"),
                "{name} {value}: {}",
                answer.text
            );
            assert!(
                answer.json["data"]["params"][name].is_string(),
                "{name} {value}: {}",
                answer.text
            );
        }
    }
}

#[actix_web::test]
async fn dates_without_offset_use_the_zone_of_the_event() {
    let app = App::new().await;
    for (fields, start, utc) in [
        (json!({"start_date": 1_806_573_600}), "2027-04-01 10:00:00", "2027-04-01 10:00:00"),
        (
            json!({"start_date": "2027-04-01T10:00:00+02:00"}),
            "2027-04-01 08:00:00",
            "2027-04-01 08:00:00",
        ),
        (
            json!({"start_date": "2027-04-01 10:00", "timezone": "Europe/Vienna"}),
            "2027-04-01 10:00:00",
            "2027-04-01 08:00:00",
        ),
        (
            json!({"start_date": "2027-04-01T10:00:00Z", "timezone": "Europe/Vienna"}),
            "2027-04-01 12:00:00",
            "2027-04-01 10:00:00",
        ),
        (
            json!({"start_date": "tomorrow 9am", "timezone": "Asia/Tokyo"}),
            "2027-03-11 09:00:00",
            "2027-03-11 00:00:00",
        ),
        (json!({"start_date": "20270401"}), "2027-04-01 00:00:00", "2027-04-01 00:00:00"),
        (
            json!({"start_date": "2027-03-28 02:30", "timezone": "Europe/Vienna"}),
            "2027-03-28 03:30:00",
            "2027-03-28 01:30:00",
        ),
        (
            json!({"start_date": "2027-10-31 02:30", "timezone": "Europe/Vienna"}),
            "2027-10-31 02:30:00",
            "2027-10-31 00:30:00",
        ),
        (
            json!({"start_date": "2027-04-01 10:00", "timezone": "UTC-3:30"}),
            "2027-04-01 10:00:00",
            "2027-04-01 13:30:00",
        ),
    ] {
        let mut body = fields.clone();
        body["end_date"] = json!("2027-12-31");
        let id = app.event(body).await;
        let event = app.get(&format!("/events/{id}")).await.json;
        assert_eq!(
            (event["start_date"].as_str(), event["utc_start_date"].as_str()),
            (Some(start), Some(utc)),
            "{fields}"
        );
        assert_eq!(event["start_date_details"]["month"], start[5..7], "{fields}");
    }
}

#[actix_web::test]
async fn local_and_utc_publication_dates_follow_each_other() {
    let app = App::with(&["--site-timezone=Europe/Vienna"]).await;
    let id = app.event(json!({})).await;
    let path = format!("/events/{id}");
    for (fields, date, utc) in [
        (json!({"date": "2027-01-01 10:00"}), "2027-01-01 10:00:00", "2027-01-01 09:00:00"),
        (json!({"date_utc": "2027-01-01 10:00"}), "2027-01-01 11:00:00", "2027-01-01 10:00:00"),
        (
            json!({"date": "2027-01-01 10:00", "date_utc": "2026-01-01 01:00"}),
            "2027-01-01 10:00:00",
            "2026-01-01 01:00:00",
        ),
    ] {
        let event = app.patch(&path, &fields).await.expect(200).json;
        assert_eq!(
            (event["date"].as_str(), event["date_utc"].as_str()),
            (Some(date), Some(utc)),
            "{fields}"
        );
    }
}

#[actix_web::test]
async fn html_is_sanitized_and_rendered() {
    let app = App::new().await;
    let body = json!({
        "title": "A <script>x</script><h1>b</h1> & c",
        "description": "One <a href=\"javascript:x()\" onclick=\"y()\">l</a>\nTwo\n\n<iframe>Three</iframe>",
        "venue": {"venue": "<img src=x onerror=y>Hall"},
    });
    let id = app.event(body).await;
    let event = app.get(&format!("/events/{id}")).await.json;
    assert_eq!(event["title"], "A xb &#038; c");
    assert_eq!(event["description"], "<p>One <a>l</a><br />\nTwo</p>\n<p>Three</p>");
    assert_eq!(event["venue"]["venue"], "Hall");
    let open = App::with(&["--unfiltered-html=on"]).await;
    let script = json!({"description": "<script>x</script>", "status": "draft"});
    for (who, kept) in [("editor", true), ("author", false)] {
        let id = open.event_as(who, script.clone()).await;
        let event = open.get_as(who, &format!("/events/{id}")).await.json;
        assert_eq!(event["description"].as_str().unwrap().contains("<script>"), kept, "{who}");
    }
}

#[actix_web::test]
async fn special_characters_are_stored_and_found() {
    let app = App::new().await;
    for title in [
        "nul\u{0}l",
        "😀 emoji",
        "quote ' \" ; drop table events; --",
        "100% _ \\ $1 $2",
        "\u{202e}rtl",
    ] {
        let id =
            app.event(json!({"title": title, "tags": [title], "venue": {"venue": title}})).await;
        let event = app.get(&format!("/events/{id}")).await.expect(200).json;
        let shown = event["title"].as_str().unwrap().to_owned();
        assert_eq!(shown, title.replace('\0', ""), "{title}");
        let needle: String = url::form_urlencoded::byte_serialize(shown.as_bytes()).collect();
        let found = app.get(&format!("/events?search={needle}")).await.expect(200);
        assert!(found.ids().contains(&id) || title.contains("--"), "{title}: {}", found.text);
        app.get(&format!("/tags?search={needle}&hide_empty=0")).await.expect(200);
        app.get(&format!("/events/by-slug/{needle}")).await;
    }
    let raw = send(app.request("", "GET", "/events?search=%FF")).await;
    assert_eq!((raw.status, raw.code()), (400, "rest_invalid_param"));
    let nul = send(app.request("", "GET", "/events?search=a%00b")).await;
    assert_eq!(nul.status, 200);
}

#[actix_web::test]
async fn fields_parameter_selects_response_keys() {
    let app = App::new().await;
    let id = app.event(json!({"tags": ["x"]})).await;
    let list = app.get("/events?_fields=events.id,total").await.expect(200);
    assert_eq!(list.text, format!("{{\"events\":[{{\"id\":{id}}}],\"total\":1}}"));
    let single = app.get(&format!("/events/{id}?_fields=tags.slug, title")).await.expect(200);
    assert_eq!(single.json, json!({"title": "Event", "tags": [{"slug": "x"}]}));
    let created = app.post("/tags?_fields=name", &json!({"name": "y"})).await.expect(201);
    assert_eq!(created.json, json!({"name": "y"}));
}

#[actix_web::test]
async fn image_accepts_a_url_or_an_id() {
    let app = App::new().await;
    let url = "https://cdn.example/pics/a.PNG?x=1";
    let id = app.event(json!({"image": url})).await;
    let image = app.get(&format!("/events/{id}")).await.json["image"].clone();
    assert_eq!(image, json!({"url": url, "id": image["id"], "extension": "png"}));
    let venue =
        app.post("/venues", &json!({"venue": "Hall", "image": image["id"]})).await.expect(201);
    assert_eq!(venue.json["image"]["url"], url);
    let again = app.event(json!({"image": url})).await;
    assert_eq!(app.get(&format!("/events/{again}")).await.json["image"]["id"], image["id"]);
    assert_eq!(
        app.get(&format!("/events/{}", image["id"])).await.expect(400).code(),
        "rest-invalid-event-id"
    );
    // Characters that would end an HTML attribute are percent-encoded, because clients may insert
    // URLs unescaped.
    let quoted = app.event(json!({"image": "https://cdn.example/a\"><b>.png"})).await;
    let quoted = app.get(&format!("/events/{quoted}?_fields=image.url")).await;
    assert_eq!(quoted.json["image"]["url"], "https://cdn.example/a%22%3E%3Cb%3E.png");
    for clear in [json!(""), json!(0), json!(false)] {
        app.patch(&format!("/events/{id}"), &json!({"image": url})).await.expect(200);
        let event = app.patch(&format!("/events/{id}"), &json!({"image": clear})).await.expect(200);
        assert_eq!(event.json["image"], Value::Bool(false));
    }
}

#[actix_web::test]
async fn invalid_searches_and_lists_get_a_specific_error() {
    let app = App::new().await;
    app.event(json!({})).await;
    for (query, name, text) in [
        ("search=%22", "search", "must have a word to search for"),
        ("search=%22%20%22", "search", "must have a word to search for"),
        ("search=%FF", "search", "must be UTF-8"),
        ("tags[]=%FF", "tags", "must be UTF-8"),
        ("unknown=%FF", "query", "must be UTF-8"),
        ("include=", "include", "must be a list of ids"),
        ("categories=", "categories", "must name existing terms"),
        ("status=published", "status", "must be spelled publish"),
    ] {
        let answer = app.get(&format!("/events?{query}")).await.expect(400);
        let expected = json!({ name: format!("{name} {text}.") });
        assert_eq!(answer.json["data"]["params"], expected, "{query}");
    }
    let form = "title=caf%E9&start_date=2027-04-01&end_date=2027-04-01";
    let request = app.request("editor", "POST", "/events").body(form);
    let typed = request.header("content-type", "application/x-www-form-urlencoded");
    let answer = send(typed).await.expect(400);
    assert_eq!(answer.json["data"]["params"], json!({"title": "title must be UTF-8."}));
}

#[actix_web::test]
async fn misspelled_status_error_has_the_right_spelling() {
    let app = App::new().await;
    for (sent, known) in [
        ("Publish", "publish"),
        ("published", "publish"),
        ("public", "publish"),
        ("drafts", "draft"),
        ("Trash", "trash"),
    ] {
        let body = json!({"venue": "Hall", "status": sent});
        let answer = app.post("/venues", &body).await.expect(400);
        let expected = json!({"status": format!("status must be spelled {known}.")});
        assert_eq!(answer.json["data"]["params"], expected, "{sent}");
    }
    assert_eq!(app.rows("venues"), 0);
}

#[actix_web::test]
async fn short_texts_lose_tags_and_control_characters() {
    let app = App::new().await;
    let hostile = "<script>alert(1)</script> a\u{1}\u{7f}\tb\r\nc <<b>i> 1 < 2 <!-- <img src=x";
    let clean = "alert(1) a b c  1 < 2 !-- img src=x";
    let short = json!({
        "venue": "Hall", "address": hostile, "city": hostile, "country": hostile,
        "province": hostile, "state": hostile, "stateprovince": hostile, "zip": hostile,
        "phone": hostile,
    });
    let venue = app.post("/venues", &short).await.expect(201).json;
    for name in ["address", "city", "country", "province", "state", "stateprovince", "zip", "phone"]
    {
        assert_eq!(venue[name], clean, "{name}");
    }
    let contact = json!({"organizer": "Ann", "phone": hostile, "email": hostile});
    let organizer = app.post("/organizers", &contact).await.expect(201).json;
    assert_eq!((&organizer["phone"], &organizer["email"]), (&json!(clean), &json!(clean)));
    let website = "https://x.example/?a=\"><b> `c`";
    let id = app.event(json!({"cost": hostile, "title": "a\u{2}b\nc", "website": website})).await;
    let event = app.get(&format!("/events/{id}")).await.json;
    assert_eq!((&event["cost"], &event["title"]), (&json!(clean), &json!("ab c")));
    assert_eq!(event["website"], "https://x.example/?a=%22%3E%3Cb%3E%20%60c%60");
}
