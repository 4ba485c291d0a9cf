//! Delivery from an outbox in memory.

use outbound::{
    ATTEMPTS, Courier, DeliveryError, Due, Failure, Outbox, OutboxError, PUT_OFF, deliver_due,
    retry_after,
};
use parking_lot::Mutex;

/// A row's ID, failed attempts, and waiting time (`None` once it is done).
#[derive(Clone, Debug, PartialEq)]
struct Row {
    id: u32,
    failed: u32,
    waits: Option<u64>,
}

struct Table(Mutex<Vec<Row>>);

impl Table {
    fn new(rows: u32) -> Self {
        Self(Mutex::new((0..rows).map(|id| Row { id, failed: 0, waits: Some(0) }).collect()))
    }

    fn set(&self, id: u32, set: impl Fn(&mut Row)) {
        set(self.0.lock().iter_mut().find(|row| row.id == id).unwrap());
    }

    fn rows(&self) -> Vec<Row> {
        self.0.lock().clone()
    }
}

impl Outbox for Table {
    type Message = u32;
    /// A message's row ID determines which of three receivers it belongs to.
    type Receiver = u32;

    async fn receivers_due(&self) -> Result<Vec<u32>, OutboxError> {
        let rows = self.rows().into_iter();
        let mut due: Vec<u32> =
            rows.filter(|row| row.waits == Some(0)).map(|row| row.id % 3).collect();
        due.sort_unstable();
        due.dedup();
        Ok(due)
    }

    async fn claim(&self, shares: Vec<(u32, usize)>) -> Result<Vec<Due<u32, u32>>, OutboxError> {
        let mut rows = self.0.lock();
        let mut claimed = Vec::new();
        for (receiver, share) in shares {
            let own = rows.iter_mut().filter(|row| row.id % 3 == receiver);
            claimed.extend(own.filter(|row| row.waits == Some(0)).take(share).map(|row| {
                row.waits = Some(300);
                Due { receiver, message: row.id, failed: row.failed }
            }));
        }
        Ok(claimed)
    }

    async fn mark_sent(&self, message: &u32) -> Result<(), OutboxError> {
        self.set(*message, |row| row.waits = None);
        Ok(())
    }

    async fn mark_failed(&self, message: &u32, failure: Failure) -> Result<(), OutboxError> {
        self.set(*message, |row| {
            row.failed += u32::from(failure.counts);
            row.waits = failure.retry.map(|wait| wait.as_secs());
        });
        Ok(())
    }
}

/// Delivers messages with even ids and fails for odd ones: permanently for 13, too early for 15,
/// unwanted for 17.
struct Moody(Mutex<Vec<u32>>);

impl Courier<u32> for Moody {
    async fn deliver(&self, message: &u32) -> Result<(), DeliveryError> {
        self.0.lock().push(*message);
        match message {
            13 => Err(DeliveryError::permanent("unlucky")),
            15 => Err(DeliveryError::early("tomorrow")),
            17 => Err(DeliveryError::unwanted("removed")),
            odd if odd % 2 == 1 => Err(DeliveryError::temporary("odd")),
            _ => Ok(()),
        }
    }
}

#[tokio::test]
async fn due_messages_are_sent_once_and_failures_wait() {
    let (table, courier) = (Table::new(20), Moody(Mutex::default()));
    assert_eq!(deliver_due(&table, &courier).await.unwrap(), 20);
    for row in table.rows() {
        let expected = match row.id {
            13 => (1, None),
            15 => (0, Some(PUT_OFF)),
            17 => (0, None),
            odd if odd % 2 == 1 => (1, Some(60)),
            _ => (0, None),
        };
        assert_eq!((row.failed, row.waits), expected, "{}", row.id);
    }
    assert_eq!(deliver_due(&table, &courier).await.unwrap(), 0);
    assert_eq!(courier.0.lock().len(), 20);
}

#[tokio::test]
async fn message_is_abandoned_after_its_last_attempt() {
    let (table, courier) = (Table::new(2), Moody(Mutex::default()));
    let mut waits = Vec::new();
    for _ in 0..20 {
        table.set(1, |row| row.waits = row.waits.map(|_| 0));
        deliver_due(&table, &courier).await.unwrap();
        waits.extend(table.rows()[1].waits);
    }
    assert_eq!(waits, [60, 300, 1_800, 7_200, 43_200]);
    assert_eq!(table.rows()[1], Row { id: 1, failed: ATTEMPTS, waits: None });
    assert!(retry_after(0).is_none());
}
