//! This service's tables.

diesel::table! {
    package (code) {
        code -> Text,
        depth -> BigInt,
        scrolling -> Bool,
        sorting -> Bool,
        regexp -> Bool,
        filters -> Bool,
        delay_days -> BigInt,
        download_files -> BigInt,
        crawls -> BigInt,
        alerts -> BigInt,
        all_crawls -> Bool,
    }
}

diesel::table! {
    bucket (id) {
        id -> BigInt,
        address -> Text,
        kind -> Text,
        first_indexed -> Nullable<BigInt>,
        last_listed -> Nullable<BigInt>,
        last_replaced -> Nullable<BigInt>,
        truncated -> Bool,
        hidden_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    load_run (id) {
        id -> BigInt,
        state -> Text,
        mode -> Text,
        options -> Text,
        started_at -> BigInt,
        ended_at -> Nullable<BigInt>,
        progress -> Text,
        report -> Text,
        error -> Nullable<Text>,
    }
}

diesel::table! {
    rejected (id) {
        id -> BigInt,
        run_id -> BigInt,
        source -> Text,
        position -> BigInt,
        reason -> Text,
        excerpt -> Text,
    }
}

diesel::table! {
    crawl (id) {
        id -> BigInt,
        url -> Text,
        bucket -> Text,
        format -> Nullable<Text>,
        kind -> Nullable<Text>,
        prefix -> Text,
        every_seconds -> BigInt,
        ends_at -> Nullable<BigInt>,
        paused -> Bool,
        due_at -> BigInt,
        last_at -> Nullable<BigInt>,
        outcome -> Text,
        key_id -> Nullable<BigInt>,
        holder -> Nullable<Text>,
        lease_until -> BigInt,
        not_before -> BigInt,
        listing -> BigInt,
        pages -> BigInt,
        place -> Text,
        page_at -> BigInt,
        begun_at -> BigInt,
        begun_generation -> BigInt,
        begun_id -> BigInt,
        is_listed -> Bool,
        broken -> Nullable<Text>,
        gone_after_days -> Nullable<BigInt>,
        gone_since -> Nullable<BigInt>,
        etags_listing -> BigInt,
    }
}

diesel::table! {
    crawl_turn (key_id, bucket, prefix) {
        key_id -> BigInt,
        bucket -> Text,
        prefix -> Text,
        last_at -> BigInt,
    }
}

diesel::table! {
    crawl_confirmation (crawl_id) {
        crawl_id -> BigInt,
        files -> Text,
    }
}

diesel::table! {
    crawl_page (crawl_id, listing, number) {
        crawl_id -> BigInt,
        listing -> BigInt,
        number -> BigInt,
        body -> Binary,
    }
}

diesel::table! {
    crawl_etag (crawl_id, listing, number) {
        crawl_id -> BigInt,
        listing -> BigInt,
        number -> BigInt,
        body -> Binary,
    }
}

diesel::table! {
    removal (id) {
        id -> BigInt,
        address -> Text,
        prefix -> Text,
        reason -> Text,
        operator -> Text,
        requested_at -> BigInt,
        applied_at -> Nullable<BigInt>,
        files -> BigInt,
        lifted_at -> Nullable<BigInt>,
        lifted_reason -> Nullable<Text>,
        lifted_by -> Nullable<Text>,
    }
}

diesel::table! {
    index_state (id) {
        id -> BigInt,
        generation -> BigInt,
        version -> BigInt,
        index_id -> Text,
        publishes -> BigInt,
        judged_generation -> BigInt,
        judged_id -> BigInt,
    }
}

diesel::table! {
    alert (id) {
        id -> BigInt,
        key_id -> BigInt,
        name -> Text,
        query -> Text,
        webhook -> Nullable<Text>,
        secret -> Nullable<Text>,
        since_generation -> BigInt,
        since_id -> BigInt,
        created_at -> BigInt,
        version -> BigInt,
    }
}

diesel::table! {
    alert_message (id) {
        id -> BigInt,
        alert_id -> BigInt,
        run_id -> BigInt,
        generation -> BigInt,
        after_id -> BigInt,
        last_id -> BigInt,
        is_delayed -> Bool,
        shown_until -> Nullable<BigInt>,
        count -> BigInt,
        files -> Text,
        published_at -> BigInt,
        next_try -> Nullable<BigInt>,
        tries -> Integer,
        over_at -> Nullable<BigInt>,
        error -> Nullable<Text>,
    }
}

diesel::allow_tables_to_appear_in_same_query!(alert, alert_message);
diesel::joinable!(alert_message -> alert (alert_id));
