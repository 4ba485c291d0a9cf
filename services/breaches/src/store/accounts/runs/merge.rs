//! Merges pairs of runs.

use database::DatabaseError;
use diesel::SqliteConnection;

use super::cursor::{Merged, RunCursor};
use super::list::{self, Run};
use super::write::RunWriter;

/// Merge two runs once there are more than this many, since every lookup has to test each run's
/// filter.
const RUNS: usize = 8;

/// Merges two runs if there are more than [`RUNS`], and returns whether it did. Call this in a
/// write transaction.
///
/// Never creates a run with more than `most` accounts. The number of times an account is rewritten
/// is logarithmic in the number of loads.
pub fn merge_two(conn: &mut SqliteConnection, most: i64) -> Result<bool, DatabaseError> {
    let mut runs = list::all(conn)?;
    if runs.len() <= RUNS {
        return Ok(false);
    }
    runs.sort_by_key(|run| run.accounts);
    let Some((a, b)) = cheapest_pair(&runs, most) else { return Ok(false) };
    let mut merged = Merged::new(vec![RunCursor::consuming(a.id), RunCursor::consuming(b.id)]);
    let mut writer = RunWriter::new(conn)?;
    while let Some(account) = merged.next(conn)? {
        writer.push(conn, account.as_new())?;
    }
    list::remove(conn, a.id)?;
    list::remove(conn, b.id)?;
    writer.finish(conn)?;
    Ok(true)
}

/// Returns the two runs, adjacent when sorted by size, with the smallest value of `larger² /
/// smaller`. Returns `None` if no pair has at most `most` accounts.
///
/// Runs of similar size are preferred, because that keeps the number of rewritten accounts low in
/// the long run. However, a pair of large runs isn't picked just because their sizes are slightly
/// closer, which would make a single load expensive.
fn cheapest_pair(runs: &[Run], most: i64) -> Option<(Run, Run)> {
    let pairs = runs.array_windows::<2>().map(|[a, b]| (*a, *b));
    let small = pairs.filter(|(a, b)| a.accounts + b.accounts <= most);
    small.min_by(|(a, b), (c, d)| {
        let [a, b, c, d] = [a, b, c, d].map(|run| i128::from(run.accounts));
        (b * b * c).cmp(&(d * d * a))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: i64, accounts: i64) -> Run {
        Run { id, accounts, low: 0, high: 0 }
    }

    /// Loads `loads` runs of about 1,000 accounts each. Returns the number of accounts that each
    /// load writes.
    fn written_by(loads: i64) -> Vec<i64> {
        let mut runs: Vec<Run> = Vec::new();
        let each = |load: i64| {
            let accounts = 1_000 + load * 7_919 % 11;
            runs.push(run(load, accounts));
            if runs.len() <= RUNS {
                return accounts;
            }
            runs.sort_by_key(|run| run.accounts);
            let (a, b) = cheapest_pair(&runs, i64::MAX).unwrap();
            runs.retain(|run| run.id != a.id && run.id != b.id);
            runs.push(run(10_000 + load, a.accounts + b.accounts));
            accounts + a.accounts + b.accounts
        };
        (0..loads).map(each).collect()
    }

    #[test]
    fn none_of_thirty_loads_writes_twice_as_much_as_their_mean() {
        let written = written_by(30);
        let mean = written.iter().sum::<i64>() / 30;
        assert!(written.iter().all(|accounts| *accounts < 2 * mean), "{mean} of {written:?}");
    }

    #[test]
    fn accounts_are_rewritten_rarely_in_many_loads() {
        assert!(written_by(1_000).iter().sum::<i64>() < 11 * 1_000 * 1_000);
    }

    #[test]
    fn runs_too_large_together_are_not_merged() {
        assert_eq!(cheapest_pair(&[run(1, 6), run(2, 7)], 12), None);
    }
}
