-- Names are found by their first 200 characters: a whole one of a thousand may be longer than a
-- key of an index. The rest is compared in the row.
DROP INDEX venues_name;
CREATE INDEX venues_name ON venues (substr(name_ci, 1, 200));
DROP INDEX organizers_name;
CREATE INDEX organizers_name ON organizers (substr(name_ci, 1, 200));
DROP INDEX terms_name;
CREATE INDEX terms_name ON terms (taxonomy, substr(name_ci, 1, 200), id);
