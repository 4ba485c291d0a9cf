ALTER TABLE domain_control DROP COLUMN captured;
