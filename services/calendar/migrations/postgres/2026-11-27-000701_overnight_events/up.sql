-- The month page shows events that continue after midnight on the next day too. This index finds
-- those shorter than a day without a scan of all events of the day before. The sum is the time of
-- day of the start, also before 1970, plus the duration.
CREATE INDEX events_overnight ON events (start_local, published_utc, id)
WHERE pub = 1 AND end_local - start_local < 86400
    AND (start_local % 86400 + 86400) % 86400 + end_local - start_local > 86400;
