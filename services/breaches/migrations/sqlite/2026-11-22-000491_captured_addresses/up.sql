-- Addresses of a domain that are in stealer logs, as last counted; all domains are counted anew.
ALTER TABLE domain_control ADD COLUMN captured BIGINT;
DELETE FROM meta WHERE key = 'domains_counted_at_version';
