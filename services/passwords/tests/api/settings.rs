//! Settings and their ranges.

#[test]
fn every_numeric_setting_has_a_range() {
    testkit::assert_settings_have_ranges::<passwords::Cli>();
}
