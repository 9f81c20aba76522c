-- A stream folder's database as version 1 made it, with a few rows.
PRAGMA application_id = 1668508013;
PRAGMA user_version = 1;

CREATE TABLE config (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE steps (
  step INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  position INTEGER NOT NULL,
  body INTEGER,
  pixels BLOB
) STRICT;

CREATE TABLE items (
  place INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  step INTEGER NOT NULL,
  is_accepted INTEGER NOT NULL,
  nearest INTEGER,
  score REAL,
  model INTEGER,
  class_id INTEGER,
  question_id INTEGER,
  is_told INTEGER NOT NULL DEFAULT 0,
  picture BLOB
) STRICT;
CREATE INDEX items_with_picture ON items (picture) WHERE picture IS NOT NULL;
CREATE INDEX items_of_question ON items (question_id) WHERE question_id IS NOT NULL;
CREATE INDEX items_of_step ON items (step);

CREATE TABLE pictures (sha256 BLOB PRIMARY KEY, file BLOB NOT NULL) STRICT;

CREATE TABLE events (
  number INTEGER PRIMARY KEY,
  step INTEGER NOT NULL,
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX events_of_step ON events (step);

CREATE TABLE classes (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  today INTEGER
) STRICT;

CREATE TABLE questions (
  id INTEGER PRIMARY KEY,
  position INTEGER NOT NULL,
  representative INTEGER NOT NULL,
  guesses TEXT NOT NULL,
  status TEXT NOT NULL,
  class_id INTEGER
) STRICT;

CREATE TABLE members (
  question_id INTEGER NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (question_id, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE inbox (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,
  not_before INTEGER NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  step INTEGER,
  refusal TEXT
) STRICT;
CREATE INDEX inbox_waiting ON inbox (number) WHERE step IS NULL;

CREATE TABLE models (
  version INTEGER PRIMARY KEY,
  base INTEGER,
  position INTEGER NOT NULL,
  switch_at INTEGER,
  images INTEGER NOT NULL,
  installed_at INTEGER,
  class_ids TEXT,
  sha256 TEXT,
  seconds REAL
) STRICT;

CREATE TABLE snapshots (step INTEGER PRIMARY KEY, position INTEGER NOT NULL, model INTEGER NOT NULL) STRICT;

CREATE TABLE troubles (id TEXT PRIMARY KEY, kind TEXT NOT NULL, reason TEXT NOT NULL) STRICT;

CREATE TABLE outputs (path TEXT PRIMARY KEY, step INTEGER NOT NULL, size INTEGER NOT NULL) STRICT;

INSERT INTO config VALUES ('settings', '{"look": 50, "budget": 0.1}');
INSERT INTO config VALUES ('keep_bytes', '1000');
INSERT INTO config VALUES ('image_shape', '[8, 8]');
INSERT INTO config VALUES ('retrain_lag', '250');
INSERT INTO classes VALUES (0, 'heron', 0);
INSERT INTO classes VALUES (1, 'grey heron', 0);
INSERT INTO classes VALUES (2, 'nothing', NULL);
INSERT INTO steps VALUES (1, 'warm-up', 0, 1, NULL);
INSERT INTO items (place, id, step, is_accepted, class_id) VALUES (1, 'a', 1, 1, 1);
INSERT INTO items (place, id, step, is_accepted, class_id) VALUES (2, 'b', 1, 1, 2);
INSERT INTO items (place, id, step, is_accepted, class_id) VALUES (3, 'c', 1, 0, NULL);
INSERT INTO models (version, position, images, installed_at, class_ids) VALUES (1, 0, 40, 0, '[0]');
