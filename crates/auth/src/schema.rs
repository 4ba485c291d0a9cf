//! The two tables of this crate.
#![allow(missing_docs)] // The macro writes items that cannot be documented.

diesel::table! {
    plan (code) {
        code -> Text,
        name -> Text,
        per_minute -> BigInt,
        burst -> BigInt,
        position -> BigInt,
        hidden -> Bool,
    }
}

diesel::table! {
    api_key (id) {
        id -> BigInt,
        digest -> Binary,
        hint -> Text,
        owner -> Text,
        plan_code -> Nullable<Text>,
        created_at -> BigInt,
        expires_at -> Nullable<BigInt>,
        revoked_at -> Nullable<BigInt>,
        last_used_at -> Nullable<BigInt>,
    }
}

diesel::joinable!(api_key -> plan (plan_code));
diesel::allow_tables_to_appear_in_same_query!(api_key, plan);
