-- A load finds existing events by title and start, even if many events start together. The searched
-- text begins with the folded title.
CREATE INDEX events_title ON events (start_local, substr(search_ci, 1, min(200, instr(search_ci || char(10), char(10)) - 1)));
