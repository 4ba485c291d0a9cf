-- The month page shows the few events that last at least a day separately. This index finds them
-- without a scan of all events.
CREATE INDEX events_lasting ON events (end_local, start_local) WHERE pub = 1 AND end_local - start_local >= 86400;
