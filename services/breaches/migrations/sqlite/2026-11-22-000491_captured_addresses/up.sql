-- The number of addresses of a domain in stealer logs at the last count. All domains are counted again.
ALTER TABLE domain_control ADD COLUMN captured BIGINT;
DELETE FROM meta WHERE key = 'domains_counted_at_version';
