-- Names are indexed by their first 200 characters, because a name of 1000 may exceed the key size.
-- The rest is compared in the row.
DROP INDEX venues_name;
CREATE INDEX venues_name ON venues (substr(name_ci, 1, 200));
DROP INDEX organizers_name;
CREATE INDEX organizers_name ON organizers (substr(name_ci, 1, 200));
DROP INDEX terms_name;
CREATE INDEX terms_name ON terms (taxonomy, substr(name_ci, 1, 200), id);
