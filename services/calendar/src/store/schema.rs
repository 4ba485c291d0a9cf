//! Tables that are accessed through diesel's query builder.

diesel::table! {
    entities (id) {
        id -> BigInt,
        kind -> Integer,
    }
}

diesel::table! {
    users (id) {
        id -> BigInt,
        login -> Text,
        display_name -> Text,
        role -> Text,
    }
}

diesel::table! {
    images (id) {
        id -> BigInt,
        url -> Text,
        file -> Nullable<Text>,
        mime -> Nullable<Text>,
        extension -> Text,
        width -> Nullable<BigInt>,
        height -> Nullable<BigInt>,
        filesize -> Nullable<BigInt>,
        author_id -> BigInt,
        created_utc -> BigInt,
    }
}

diesel::table! {
    events (id) {
        id -> BigInt,
        author_id -> BigInt,
        status -> Text,
        prev_status -> Nullable<Text>,
        title -> Text,
        description -> Text,
        excerpt -> Text,
        slug -> Text,
        published_utc -> BigInt,
        published_local -> BigInt,
        modified_utc -> BigInt,
        start_local -> BigInt,
        end_local -> BigInt,
        start_utc -> BigInt,
        end_utc -> BigInt,
        timezone -> Text,
        all_day -> Bool,
        cost -> Text,
        website -> Text,
        show_map -> Bool,
        show_map_link -> Bool,
        listed -> Bool,
        sticky -> Bool,
        featured -> Bool,
        image_id -> Nullable<BigInt>,
        parent_id -> Nullable<BigInt>,
        password -> Nullable<Text>,
        #[sql_name = "ical_uid"]
        external_id -> Nullable<Text>,
        sequence -> BigInt,
        search_ci -> Text,
        #[sql_name = "pub"]
        is_public -> Integer,
        is_long -> Integer,
    }
}

diesel::table! {
    event_statuses (event_id) {
        event_id -> BigInt,
        status -> Text,
        reason -> Text,
    }
}

diesel::table! {
    event_moves (event_id) {
        event_id -> BigInt,
        previous_start -> BigInt,
    }
}

diesel::table! {
    series (id) {
        id -> BigInt,
        uid -> Text,
        slug -> Text,
        timezone -> Text,
        all_day -> Bool,
        start_local -> BigInt,
        end_local -> BigInt,
        duration -> Text,
        rule -> Text,
        rdates -> Text,
        exdates -> Text,
        most -> BigInt,
        made_until -> BigInt,
        due_utc -> Nullable<BigInt>,
        sequence -> BigInt,
        modified_utc -> BigInt,
        origin -> BigInt,
    }
}

diesel::table! {
    series_events (event_id) {
        event_id -> BigInt,
        series_id -> BigInt,
        occurrence -> BigInt,
        changed -> Text,
    }
}

diesel::table! {
    content_version (n) {
        n -> BigInt,
    }
}

diesel::table! {
    imported_edits (event_id) {
        event_id -> BigInt,
        sequence -> BigInt,
        modified -> BigInt,
        original -> Nullable<BigInt>,
        file_sequence -> Nullable<BigInt>,
        file_modified -> Nullable<BigInt>,
        file_stamped -> Nullable<BigInt>,
    }
}

diesel::table! {
    imported_events (event_id) {
        event_id -> BigInt,
        moment -> Nullable<Text>,
        is_private -> Bool,
        is_trashed -> Bool,
        is_cancelled -> Bool,
        is_postponed -> Bool,
        is_created -> Bool,
    }
}

diesel::table! {
    former_slugs (collection, slug) {
        collection -> Text,
        slug -> Text,
        item_id -> BigInt,
    }
}

diesel::table! {
    imported_overrides (event_id) {
        event_id -> BigInt,
        sequence -> BigInt,
        modified -> BigInt,
    }
}

diesel::table! {
    imported_revisions (name) {
        name -> Text,
        sequence -> Nullable<BigInt>,
        modified -> Nullable<BigInt>,
        stamped -> Nullable<BigInt>,
    }
}

diesel::table! {
    site_items (source, their_id) {
        source -> Text,
        their_id -> BigInt,
        our_id -> BigInt,
        digest -> Text,
    }
}

diesel::table! {
    calendar_identity (id) {
        id -> Text,
    }
}

diesel::table! {
    webhooks (id) {
        id -> BigInt,
        url -> Text,
        secret -> Text,
        created_utc -> BigInt,
    }
}

diesel::table! {
    webhook_outbox (id) {
        id -> BigInt,
        webhook_id -> BigInt,
        payload -> Text,
        created_utc -> BigInt,
        next_try -> BigInt,
        tries -> Integer,
        over_utc -> Nullable<BigInt>,
        error -> Nullable<Text>,
        traceparent -> Nullable<Text>,
    }
}

diesel::table! {
    venues (id) {
        id -> BigInt,
        author_id -> BigInt,
        status -> Text,
        prev_status -> Nullable<Text>,
        name -> Text,
        name_ci -> Text,
        search_ci -> Text,
        description -> Text,
        excerpt -> Text,
        slug -> Text,
        published_utc -> BigInt,
        published_local -> BigInt,
        modified_utc -> BigInt,
        image_id -> Nullable<BigInt>,
        phone -> Text,
        website -> Text,
        address -> Text,
        city -> Text,
        country -> Text,
        province -> Text,
        state -> Text,
        stateprovince -> Text,
        zip -> Text,
        show_map -> Bool,
        show_map_link -> Bool,
        geo_lat -> Nullable<Double>,
        geo_lng -> Nullable<Double>,
    }
}

diesel::table! {
    organizers (id) {
        id -> BigInt,
        author_id -> BigInt,
        status -> Text,
        prev_status -> Nullable<Text>,
        name -> Text,
        name_ci -> Text,
        search_ci -> Text,
        description -> Text,
        excerpt -> Text,
        slug -> Text,
        published_utc -> BigInt,
        published_local -> BigInt,
        modified_utc -> BigInt,
        image_id -> Nullable<BigInt>,
        phone -> Text,
        website -> Text,
        email -> Text,
    }
}

diesel::table! {
    terms (id) {
        id -> BigInt,
        taxonomy -> Integer,
        name -> Text,
        name_ci -> Text,
        search_ci -> Text,
        slug -> Text,
        description -> Text,
        parent_id -> BigInt,
        count -> BigInt,
    }
}

diesel::table! {
    event_terms (event_id, other_id) {
        event_id -> BigInt,
        other_id -> BigInt,
        position -> Integer,
        start_utc -> BigInt,
    }
}

diesel::table! {
    event_venues (event_id, other_id) {
        event_id -> BigInt,
        other_id -> BigInt,
        position -> Integer,
        start_utc -> BigInt,
    }
}

diesel::table! {
    event_organizers (event_id, other_id) {
        event_id -> BigInt,
        other_id -> BigInt,
        position -> Integer,
        start_utc -> BigInt,
    }
}

diesel::table! {
    event_tombstones (event_id) {
        event_id -> BigInt,
        withdrawn_utc -> BigInt,
        was_public -> Bool,
        author_id -> BigInt,
    }
}

diesel::table! {
    event_changes (seq) {
        seq -> BigInt,
        event_id -> BigInt,
        bytes -> BigInt,
        was -> Nullable<Text>,
    }
}

diesel::table! {
    subscriptions (id) {
        id -> BigInt,
        url -> Text,
        interval_minutes -> BigInt,
        author_id -> BigInt,
        status -> Text,
        category_id -> Nullable<BigInt>,
        venue_id -> Nullable<BigInt>,
        adopts -> Bool,
        state -> Text,
        created_utc -> BigInt,
        next_utc -> BigInt,
        failures -> BigInt,
        lease -> Nullable<Text>,
        lease_until -> BigInt,
        requests -> BigInt,
        etag -> Nullable<Text>,
        last_modified -> Nullable<Text>,
        imported_utc -> BigInt,
        accepted_loss -> BigInt,
        counted_event -> BigInt,
        last_run -> Nullable<Text>,
    }
}

diesel::table! {
    subscribed_events (subscription_id, name) {
        subscription_id -> BigInt,
        name -> Text,
        event_id -> Nullable<BigInt>,
        is_vanished -> Bool,
        changed -> Text,
        removed_utc -> BigInt,
    }
}

diesel::joinable!(webhook_outbox -> webhooks (webhook_id));
diesel::allow_tables_to_appear_in_same_query!(webhook_outbox, webhooks);
