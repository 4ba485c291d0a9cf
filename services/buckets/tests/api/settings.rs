//! Settings and their ranges.

#[test]
fn numeric_settings_have_ranges() {
    testkit::assert_settings_have_ranges::<buckets::Cli>();
}
