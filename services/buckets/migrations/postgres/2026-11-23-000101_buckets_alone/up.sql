-- The first migration has the same version in breaches. This one distinguishes the two databases.
SELECT 1;
