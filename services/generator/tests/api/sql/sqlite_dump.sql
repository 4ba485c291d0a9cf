PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE currency (code TEXT PRIMARY KEY CHECK (code IN ('EUR','SEK','USD')), decimals SMALLINT NOT NULL DEFAULT 2 CHECK (decimals BETWEEN 0 AND 4)) WITHOUT ROWID;
CREATE TABLE country (code CHAR(2) NOT NULL PRIMARY KEY CHECK (code = upper(code) AND length(code) = 2), name VARCHAR(60) NOT NULL CHECK (length(name) <= 60), currency_code TEXT NOT NULL REFERENCES currency, vat_rate NUMERIC(4,3) NOT NULL CHECK (vat_rate >= 0 AND vat_rate < 1));
CREATE TABLE customer (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  email VARCHAR(30) NOT NULL COLLATE NOCASE UNIQUE CHECK (email LIKE '%@%' AND length(email) <= 30),
  "first name" VARCHAR(8) NOT NULL CHECK (length("first name") <= 8),
  country_code CHAR(2) NOT NULL REFERENCES country(code) ON DELETE RESTRICT,
  referred_by INTEGER REFERENCES customer(id),
  default_address INTEGER REFERENCES address(id),
  points INT NOT NULL DEFAULT 0 CHECK (points >= 0),
  settings JSON NOT NULL CHECK (json_valid(settings)),
  joined DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, last_seen DATETIME,
  score REAL GENERATED ALWAYS AS (points / 2.0) VIRTUAL,
  CHECK (last_seen IS NULL OR last_seen >= joined)
);
CREATE TABLE address (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customer(id), kind TEXT NOT NULL CHECK (kind IN ('billing', 'shipping')), street VARCHAR(30) CHECK (length(street) <= 30), postcode VARCHAR(5) CHECK (length(postcode) <= 5), is_default BOOLEAN NOT NULL CHECK (is_default IN (0, 1)));
CREATE TABLE category (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL REFERENCES category(id), name VARCHAR(40) NOT NULL, slug TEXT NOT NULL UNIQUE, UNIQUE (parent, name));
CREATE TABLE product (
  id INTEGER PRIMARY KEY, sku TEXT NOT NULL UNIQUE CHECK (sku GLOB '[A-Z][A-Z]*' OR length(sku) = 12),
  category INTEGER NOT NULL REFERENCES category(id),
  price DECIMAL(8,2) NOT NULL CHECK (price > 0 AND price < 1000000), sale_price DECIMAL(8,2) CHECK (sale_price > 0), stock SMALLINT NOT NULL CHECK (stock BETWEEN 0 AND 32767),
  rating REAL CHECK (rating >= 1 AND rating <= 5), barcode CHAR(13) CHECK (length(barcode) = 13),
  CHECK (sale_price <= price)
);
CREATE TABLE product_text (product INTEGER NOT NULL REFERENCES product(id), locale TEXT NOT NULL CHECK (locale IN ('de','en')), title VARCHAR(20) CHECK (length(title) <= 20), PRIMARY KEY (product, locale)) WITHOUT ROWID;
CREATE TABLE warehouse (id TINYINT PRIMARY KEY CHECK (id < 128), name TEXT UNIQUE);
CREATE TABLE stock_level (warehouse TINYINT NOT NULL REFERENCES warehouse(id), product INTEGER NOT NULL REFERENCES product(id), day DATE NOT NULL, quantity INT NOT NULL CHECK (quantity > 0), PRIMARY KEY (warehouse, product, day));
CREATE TABLE IF NOT EXISTS "order" (id TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE, customer INTEGER NOT NULL REFERENCES customer(id), currency TEXT NOT NULL REFERENCES currency(code), state TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new','paid','it''s done')), discount NUMERIC(3,2) NOT NULL CHECK (discount >= 0 AND discount <= 0.5), placed TEXT NOT NULL);
CREATE TABLE order_line ("order" TEXT NOT NULL REFERENCES "order"(id), line SMALLINT NOT NULL CHECK (line >= 1 AND line <= 99), product INTEGER NOT NULL REFERENCES product, quantity INTEGER NOT NULL CHECK (quantity > 0), PRIMARY KEY ("order", line), UNIQUE ("order", product));
CREATE TABLE shipment (id INTEGER PRIMARY KEY, "order" TEXT NOT NULL REFERENCES "order"(id), carrier TEXT NOT NULL CHECK (carrier <> ''), tracking TEXT, UNIQUE (carrier, tracking));
CREATE TABLE shipment_line (shipment INTEGER NOT NULL REFERENCES shipment(id), "order" TEXT NOT NULL, line SMALLINT NOT NULL, PRIMARY KEY (shipment, "order", line), FOREIGN KEY ("order", line) REFERENCES order_line("order", line));
CREATE TABLE review (product INTEGER NOT NULL REFERENCES product(id), customer INTEGER NOT NULL REFERENCES customer(id), stars TINYINT NOT NULL CHECK (stars BETWEEN 1 AND 5), text TEXT, PRIMARY KEY (product, customer)) WITHOUT ROWID;
CREATE TABLE voucher (code VARCHAR(8) PRIMARY KEY CHECK (length(code) = 8), "order" TEXT UNIQUE REFERENCES "order"(id), percent INT CHECK (percent BETWEEN 1 AND 100), amount NUMERIC(6,2) CHECK (amount < 10000), valid_from DATE NOT NULL, valid_to DATE NOT NULL, CHECK (valid_to >= valid_from), CHECK (percent IS NOT NULL OR amount IS NOT NULL));
DELETE FROM sqlite_sequence;
CREATE UNIQUE INDEX address_default ON address (customer) WHERE is_default;
COMMIT;
