//! Our tables, plus the `auth` columns that we use in joins.

diesel::table! {
    breach (id) {
        id -> Integer,
        name -> Text,
        title -> Text,
        domain -> Text,
        breach_date -> Text,
        added_date -> BigInt,
        modified_date -> BigInt,
        pwn_count -> BigInt,
        loaded_count -> BigInt,
        description -> Text,
        logo_path -> Text,
        attribution -> Nullable<Text>,
        disclosure_url -> Nullable<Text>,
        data_classes -> Text,
        is_verified -> Bool,
        is_fabricated -> Bool,
        is_sensitive -> Bool,
        is_retired -> Bool,
        is_spam_list -> Bool,
        is_malware -> Bool,
        is_subscription_free -> Bool,
        is_stealer_log -> Bool,
        active -> Bool,
    }
}

diesel::table! {
    data_class (name) {
        name -> Text,
    }
}

diesel::table! {
    mail_domain (id) {
        id -> Integer,
        name -> Text,
        rname -> Text,
    }
}

diesel::table! {
    account (k, seq) {
        k -> BigInt,
        seq -> SmallInt,
        /// PostgreSQL only; see `store::shard`.
        shard -> SmallInt,
        domain_id -> Integer,
        local -> Text,
        breaches -> Binary,
    }
}

diesel::table! {
    /// SQLite only. PostgreSQL uses an index on `account`.
    domain_account (domain_id, k, seq) {
        domain_id -> Integer,
        k -> BigInt,
        seq -> SmallInt,
    }
}

diesel::table! {
    /// SQLite only.
    account_run (id) {
        id -> BigInt,
        accounts -> BigInt,
        low -> BigInt,
        high -> BigInt,
        breaches -> Binary,
    }
}

diesel::table! {
    /// SQLite only.
    run_filter (run) {
        run -> BigInt,
        data -> Binary,
    }
}

diesel::table! {
    /// SQLite only.
    account_block (id) {
        id -> BigInt,
        data -> Binary,
    }
}

diesel::table! {
    /// SQLite only.
    domain_block (run, first) {
        run -> BigInt,
        first -> BigInt,
        data -> Binary,
    }
}

diesel::table! {
    stealer_log (k, seq, website_id, breach_id) {
        k -> BigInt,
        seq -> SmallInt,
        /// PostgreSQL only.
        shard -> SmallInt,
        website_id -> Integer,
        breach_id -> Integer,
    }
}

diesel::table! {
    paste_source (id) {
        id -> SmallInt,
        name -> Text,
    }
}

diesel::table! {
    paste (id) {
        id -> BigInt,
        source -> SmallInt,
        paste_id -> Text,
        title -> Nullable<Text>,
        date -> Nullable<BigInt>,
        email_count -> BigInt,
    }
}

diesel::table! {
    paste_account (k, seq, paste_id) {
        k -> BigInt,
        seq -> SmallInt,
        /// PostgreSQL only.
        shard -> SmallInt,
        paste_id -> BigInt,
    }
}

diesel::table! {
    /// Rows written by one transaction of a load. Distributed databases only.
    staged (k) {
        k -> BigInt,
        shard -> SmallInt,
        domain_id -> Integer,
        local -> Text,
        breaches -> Binary,
        other_id -> BigInt,
    }
}

diesel::table! {
    untold_paste (domain, paste_id) {
        domain -> Text,
        paste_id -> BigInt,
        addresses -> BigInt,
    }
}

diesel::table! {
    opt_out (hash) {
        hash -> Binary,
        kind -> SmallInt,
        created_at -> BigInt,
    }
}

diesel::table! {
    plan_feature (plan_code) {
        plan_code -> Text,
        family -> Text,
        kanon_cost -> Nullable<Integer>,
        max_domain_size -> Integer,
        max_domains -> Integer,
        stealer_logs -> Bool,
        bulk_domain_add -> Bool,
        auto_subdomain -> Bool,
        customer_domains -> Bool,
        kanon -> Bool,
        bulk_check -> Bool,
        description -> Text,
    }
}

diesel::table! {
    subscriber (id) {
        id -> BigInt,
        email -> Text,
        k -> BigInt,
        created_at -> BigInt,
        notify -> Bool,
        confirmed_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    subscription (id) {
        id -> BigInt,
        subscriber_id -> BigInt,
        plan_code -> Text,
        started_at -> BigInt,
        until -> BigInt,
        renewed_at -> BigInt,
    }
}

diesel::table! {
    domain_control (id) {
        id -> BigInt,
        subscriber_id -> BigInt,
        domain -> Text,
        code -> Text,
        state -> Text,
        method -> Nullable<Text>,
        verified_at -> Nullable<BigInt>,
        parent_id -> Nullable<BigInt>,
        customer -> Bool,
        detached -> Bool,
        notify -> Bool,
        monthly -> Bool,
        reported -> Nullable<BigInt>,
        pwn_count -> Nullable<BigInt>,
        pwn_count_no_spam -> Nullable<BigInt>,
        pwn_count_no_spam_at_renewal -> Nullable<BigInt>,
        size_now -> Nullable<BigInt>,
        counted_at -> Nullable<BigInt>,
        captured -> Nullable<BigInt>,
    }
}

diesel::table! {
    mail_token (digest) {
        digest -> Binary,
        purpose -> Text,
        subscriber_id -> Nullable<BigInt>,
        subject -> Text,
        expires_at -> BigInt,
        used_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    mail_count (id) {
        id -> BigInt,
        party -> Binary,
        at -> BigInt,
    }
}

diesel::table! {
    session (digest) {
        digest -> Binary,
        subscriber_id -> BigInt,
        expires_at -> BigInt,
    }
}

diesel::table! {
    webhook (id) {
        id -> BigInt,
        subscriber_id -> BigInt,
        url -> Text,
        secret -> Text,
        enabled -> Bool,
        created_at -> BigInt,
    }
}

diesel::table! {
    outbox (id) {
        id -> BigInt,
        key -> Text,
        subscriber_id -> BigInt,
        webhook_id -> Nullable<BigInt>,
        domain -> Nullable<Text>,
        payload -> Text,
        created_at -> BigInt,
        next_try -> BigInt,
        owner -> Nullable<BigInt>,
        tries -> Integer,
        sent_at -> Nullable<BigInt>,
        failed_at -> Nullable<BigInt>,
        error -> Nullable<Text>,
    }
}

diesel::table! {
    server_key (name) {
        name -> Text,
        secret -> Binary,
    }
}

diesel::table! {
    notified (subscriber_id, kind, reference) {
        subscriber_id -> BigInt,
        kind -> Text,
        reference -> BigInt,
    }
}

diesel::table! {
    domain_counted (domain) {
        domain -> Text,
        at -> BigInt,
    }
}

diesel::table! {
    domain_breach (domain, breach_id) {
        domain -> Text,
        breach_id -> Integer,
        addresses -> BigInt,
    }
}

diesel::table! {
    suppressed_link (domain, breach_id) {
        domain -> Text,
        breach_id -> Integer,
        addresses -> BigInt,
    }
}

diesel::table! {
    job (id) {
        id -> BigInt,
        kind -> Text,
        fingerprint -> Text,
        params -> Text,
        state -> Text,
        cursor -> Nullable<Binary>,
        read -> BigInt,
        accepted -> BigInt,
        skipped -> BigInt,
        added -> BigInt,
        started_at -> BigInt,
        updated_at -> BigInt,
        skips -> Text,
        error -> Nullable<Text>,
        removed -> Nullable<Binary>,
    }
}

diesel::table! {
    block (id) {
        id -> BigInt,
        cidr -> Nullable<Text>,
        user_agent -> Nullable<Text>,
        until -> Nullable<BigInt>,
        created_at -> BigInt,
    }
}

diesel::table! {
    admin_event (id) {
        id -> BigInt,
        at -> BigInt,
        actor -> Text,
        action -> Text,
        subject -> Text,
        detail -> Text,
    }
}

diesel::table! {
    meta (key) {
        key -> Text,
        value -> BigInt,
    }
}

// Declared again because Diesel can't join tables across crates. Only `auth` writes to these.
diesel::table! {
    plan (code) {
        code -> Text,
        name -> Text,
        per_minute -> BigInt,
    }
}

diesel::table! {
    api_key (id) {
        id -> BigInt,
        digest -> Binary,
        hint -> Text,
        owner -> Text,
        created_at -> BigInt,
        expires_at -> Nullable<BigInt>,
        revoked_at -> Nullable<BigInt>,
    }
}

diesel::joinable!(account -> mail_domain (domain_id));
diesel::joinable!(subscription -> subscriber (subscriber_id));
diesel::joinable!(paste_account -> paste (paste_id));
diesel::joinable!(untold_paste -> paste (paste_id));
diesel::joinable!(paste -> paste_source (source));
diesel::joinable!(session -> subscriber (subscriber_id));
diesel::joinable!(outbox -> webhook (webhook_id));
diesel::joinable!(domain_control -> subscriber (subscriber_id));

diesel::allow_tables_to_appear_in_same_query!(
    account,
    api_key,
    domain_account,
    mail_domain,
    stealer_log,
    paste,
    paste_source,
    paste_account,
    untold_paste,
    plan,
    plan_feature,
    subscriber,
    subscription,
    session,
    webhook,
    outbox,
    mail_token,
    domain_control,
    domain_counted,
    domain_breach,
    suppressed_link,
);
