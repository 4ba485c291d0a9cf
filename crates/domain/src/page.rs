//! A stretch of a longer list.

/// A stretch of a list: `limit` items from item `start` on, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// How many items lie before the stretch.
    pub start: u64,
    /// How many items it has at most.
    pub limit: u64,
}

impl Page {
    /// The page with number `page`, counted from 1, of pages with `size` items.
    ///
    /// ```
    /// use domain::Page;
    ///
    /// assert_eq!(Page::numbered(3, 10), Page { start: 20, limit: 10 });
    /// ```
    pub fn numbered(page: u64, size: u64) -> Self {
        Self { start: page.saturating_sub(1).saturating_mul(size), limit: size }
    }

    /// How many pages of this size hold `total` items.
    ///
    /// ```
    /// # use domain::Page;
    /// assert_eq!(Page::numbered(1, 10).pages_for(21), 3);
    /// assert_eq!(Page::numbered(1, 10).pages_for(0), 0);
    /// ```
    pub fn pages_for(&self, total: u64) -> u64 {
        total.div_ceil(self.limit.max(1))
    }
}
