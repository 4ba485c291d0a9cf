DROP TABLE silent_link;
