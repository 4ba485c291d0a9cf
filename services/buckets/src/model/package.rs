//! Packages determine what an account can do, and within which limits.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Maximum number of results that offset paging can reach in any package.
pub const OFFSET_REACH: u64 = 1_000_000;

/// Maximum number of files per download in the default packages.
const DOWNLOAD_FILES: u64 = 100_000;

/// Maximum number of crawls per key in the default enterprise package.
const CRAWLS: u64 = 100;

const DAY: i64 = 86_400;

/// Capabilities and limits of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Plan code: `free`, `premium`, `enterprise` or a custom code.
    pub code: String,
    /// Whether the package is no longer offered.
    pub hidden: bool,
    /// Number of results that can be paged through by offset.
    pub depth: u64,
    /// Allow `paging-mode=scrolling`.
    pub scrolling: bool,
    /// Allow `order` and `direction` in file searches.
    pub sorting: bool,
    /// Allow `regexp` and `noautocorrect`.
    pub regexp: bool,
    /// Allow filters by excluded bucket, size and date.
    pub filters: bool,
    /// Number of days before a new bucket becomes searchable.
    pub delay_days: i64,
    /// Maximum number of files per download. 0 if downloads aren't allowed.
    pub download_files: u64,
    /// Maximum number of crawls per key. 0 if crawls aren't allowed.
    pub crawls: u64,
    /// Maximum number of alerts per key. 0 if alerts aren't allowed.
    pub alerts: u64,
    /// Allow keys to see crawls by the operator and by other keys.
    pub all_crawls: bool,
}

/// A capability that isn't in every package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// `paging-mode=scrolling`
    Scrolling,
    /// Sort files by an attribute.
    Sorting,
    /// Search with regular expressions.
    Regexp,
    /// Filter by excluded bucket, size and date.
    Filters,
    /// Download results as CSV or NDJSON.
    Downloads,
    /// Add crawls of public buckets.
    Crawls,
    /// Save searches as alerts.
    Alerts,
}

impl Package {
    /// Default packages for a new database, cheapest first.
    pub fn seeds() -> [Self; 3] {
        let package = |code: &str, depth, paid, scrolling, alerts| Self {
            code: code.to_owned(),
            hidden: false,
            depth,
            scrolling,
            sorting: paid,
            regexp: paid,
            filters: paid,
            delay_days: 0,
            download_files: DOWNLOAD_FILES,
            crawls: if scrolling { CRAWLS } else { 0 },
            alerts,
            all_crawls: false,
        };
        [
            package("free", 2_000, false, false, 5),
            package("premium", OFFSET_REACH, true, false, 100),
            package("enterprise", OFFSET_REACH, true, true, 1_000),
        ]
    }

    /// Returns `true` if the package includes a capability.
    pub fn allows(&self, capability: Capability) -> bool {
        match capability {
            Capability::Scrolling => self.scrolling,
            Capability::Sorting => self.sorting,
            Capability::Regexp => self.regexp,
            Capability::Filters => self.filters,
            Capability::Downloads => self.download_files > 0,
            Capability::Crawls => self.crawls > 0,
            Capability::Alerts => self.alerts > 0,
        }
    }

    /// Returns the number of results that an account can page through by offset.
    pub fn reach(&self) -> u64 {
        self.depth.min(OFFSET_REACH)
    }

    /// Returns the maximum number of files in a download that starts at result number `start`.
    pub fn download_reach(&self, start: u64) -> u64 {
        self.download_files.min(self.reach().saturating_sub(start))
    }

    /// Returns the time after which newly indexed buckets are hidden, or `None` if the package
    /// doesn't have a delay.
    pub fn hidden_since(&self, now: i64) -> Option<i64> {
        (self.delay_days > 0).then(|| now.saturating_sub(self.delay_days.saturating_mul(DAY)))
    }

    /// Builds the notice about how the package limits a search: first the delay, then the depth or
    /// the offset paging limit. Returns `None` if none of these apply.
    pub fn notice(&self, now: i64, results: u64, scrolling: bool) -> Option<String> {
        let mut notices = Vec::new();
        notices.extend(self.delay_notice(now));
        if !scrolling {
            let code = &self.code;
            if self.depth < OFFSET_REACH && results > self.depth {
                let depth = self.depth;
                notices.push(format!(
                    "Your package ({code}) shows the first {depth} of {results} results."
                ));
            } else if results > OFFSET_REACH {
                notices.push(format!(
                    "Offset paging reaches the first {OFFSET_REACH} of {results} results; \
                     narrow the query or use scrolling (enterprise)."
                ));
            }
        }
        (!notices.is_empty()).then(|| notices.join(" "))
    }

    /// Returns the part of the notice that explains the delay, if there is one.
    pub fn delay_notice(&self, now: i64) -> Option<String> {
        let since = Timestamp::from_second(self.hidden_since(now)?).unwrap_or(Timestamp::MIN);
        let day = since.to_zoned_datetime(TimeZone::UTC).date();
        Some(format!("Your package ({}) searches buckets first indexed before {day}.", self.code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_795_132_800; // 2026-11-20T00:00:00Z

    #[test]
    fn notices_follow_contract_order() {
        let [mut free, premium, _] = Package::seeds();
        assert_eq!(free.notice(NOW, 2_000, false), None);
        assert_eq!(
            free.notice(NOW, 905_123, false).unwrap(),
            "Your package (free) shows the first 2000 of 905123 results."
        );
        free.delay_days = 30;
        assert_eq!(
            free.notice(NOW, 3_000_000, false).unwrap(),
            "Your package (free) searches buckets first indexed before 2026-10-21. \
             Your package (free) shows the first 2000 of 3000000 results."
        );
        assert_eq!(premium.notice(NOW, 1_000_000, false), None);
        assert_eq!(premium.notice(NOW, 3_200_456, true), None);
        assert_eq!(
            premium.notice(NOW, 3_200_456, false).unwrap(),
            "Offset paging reaches the first 1000000 of 3200456 results; narrow the query or use \
             scrolling (enterprise)."
        );
    }

    #[test]
    fn downloads_end_at_the_depth_of_the_package() {
        let [free, premium, _] = Package::seeds();
        let reaches =
            |package: &Package| [0, 1_500, 950_000].map(|start| package.download_reach(start));
        assert_eq!(reaches(&free), [2_000, 500, 0]);
        assert_eq!(reaches(&premium), [100_000, 100_000, 50_000]);
    }

    #[test]
    fn packages_have_their_capabilities() {
        let [free, premium, enterprise] = Package::seeds();
        for capability in [Capability::Sorting, Capability::Regexp, Capability::Filters] {
            assert!(!free.allows(capability) && premium.allows(capability));
        }
        assert!(!premium.allows(Capability::Scrolling));
        assert!(enterprise.allows(Capability::Scrolling));
    }
}
