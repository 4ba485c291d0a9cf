-- A load finds existing events by title and start, even if many events start together. The searched
-- text begins with the folded title.
CREATE INDEX events_title ON events (start_local, substr(split_part(search_ci, chr(10), 1), 1, 200));
