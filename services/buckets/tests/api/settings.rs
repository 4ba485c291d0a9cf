//! Settings and their ranges.

#[test]
fn every_number_has_a_range() {
    testkit::assert_settings_have_ranges::<buckets::Cli>();
}
