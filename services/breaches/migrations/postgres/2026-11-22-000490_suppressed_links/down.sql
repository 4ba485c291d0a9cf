DROP TABLE suppressed_link;
