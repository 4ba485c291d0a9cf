-- The version of the first migration is also that of breaches. This one tells the two databases apart.
SELECT 1;
