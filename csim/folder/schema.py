"""The database's tables and views, and the migrations of older folders.

`steps` and `events` are the log: they hold what happened, in order. `items`, `questions`,
`members`, `classes` and `models` are a read model of it: they hold what is true today, so that
readers need not replay the log. `place` is an image's position in the stream, or negative if the
image is one of the labelled images that the stream started with.
"""

from __future__ import annotations

APPLICATION = 0x6373696D  # "csim"; another number means that another program made the database
VERSION = 2

VIEWS = """
CREATE VIEW current_classes AS  -- what a class id means today; a removed class has no row
  SELECT classes.id AS id, target.id AS current_id, target.name AS name
  FROM classes JOIN classes AS target ON target.id = classes.today;

CREATE VIEW current_items AS    -- items with the class that they have today; NULL if they have none
  SELECT items.*, target.id AS current_id, target.name AS class_name  -- joins classes directly:
  FROM items LEFT JOIN classes ON classes.id = items.class_id         -- SQLite then looks up each
  LEFT JOIN classes AS target ON target.id = classes.today            -- row by its primary key
"""

TABLES = f"""
CREATE TABLE config (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE steps (
  step INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,             -- warm-up, observe, inbox, install, ask
  position INTEGER NOT NULL,      -- of the stream, after the step
  body INTEGER,                   -- number of images, of the message, or of the model
  pixels BLOB,                    -- of an observe step, until two snapshots include the step
  views BLOB                      -- given with the images, kept as long as the pixels
) STRICT;

CREATE TABLE items (
  place INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  step INTEGER NOT NULL,
  is_accepted INTEGER NOT NULL,
  nearest INTEGER,                -- the class with the best score at arrival
  score REAL,
  model INTEGER,
  class_id INTEGER,               -- its label; see current_items for the class of today
  question_id INTEGER,            -- the question whose answer gave it this label
  is_told INTEGER NOT NULL DEFAULT 0,
  picture BLOB                    -- sha256 of the kept file
) STRICT;
CREATE INDEX items_with_picture ON items (picture) WHERE picture IS NOT NULL;
CREATE INDEX items_of_question ON items (question_id) WHERE question_id IS NOT NULL;
CREATE INDEX items_of_step ON items (step);

CREATE TABLE pictures (sha256 BLOB PRIMARY KEY, file BLOB NOT NULL) STRICT;

CREATE TABLE events (           -- all but Accepted and Rejected, which are in items
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
  today INTEGER                   -- itself; the class it was merged into; NULL if removed
) STRICT;

CREATE TABLE questions (
  id INTEGER PRIMARY KEY,
  position INTEGER NOT NULL,
  representative INTEGER NOT NULL,  -- place of the image that is shown
  guesses TEXT NOT NULL,
  status TEXT NOT NULL,           -- open, answered, skipped, split, undone, expired
  class_id INTEGER
) STRICT;

CREATE TABLE members (
  question_id INTEGER NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (question_id, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE inbox (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,       -- chosen by the sender: a message sent twice is taken once
  not_before INTEGER NOT NULL,    -- the position from which it may be taken
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  step INTEGER,                   -- when it was taken
  refusal TEXT                    -- the reason, if it was refused
) STRICT;
CREATE INDEX inbox_waiting ON inbox (number) WHERE step IS NULL;

CREATE TABLE models (
  version INTEGER PRIMARY KEY,
  base INTEGER,                   -- the model that training started from
  position INTEGER NOT NULL,      -- of the stream, when the job was written
  switch_at INTEGER,              -- position where it takes over; NULL: when it is trained
  images INTEGER NOT NULL,
  installed_at INTEGER,
  class_ids TEXT,
  sha256 TEXT,
  seconds REAL
) STRICT;

CREATE TABLE snapshots (
  step INTEGER PRIMARY KEY, position INTEGER NOT NULL, model INTEGER NOT NULL
) STRICT;

CREATE TABLE troubles (id TEXT PRIMARY KEY, kind TEXT NOT NULL, reason TEXT NOT NULL) STRICT;

CREATE TABLE outputs (path TEXT PRIMARY KEY, step INTEGER NOT NULL, size INTEGER NOT NULL) STRICT;
{VIEWS}"""

# By the version that they start from.
MIGRATIONS: dict[int, str] = {
    # Setting and option names: look → ask_every, keep_bytes → picture_room. Adds given views
    # and SQL views.
    1: """
ALTER TABLE steps ADD COLUMN views BLOB;
UPDATE config SET value = json_remove(json_set(value, '$.ask_every', value -> '$.look'), '$.look')
  WHERE name = 'settings';
UPDATE config SET name = 'picture_room' WHERE name = 'keep_bytes';
"""
    + VIEWS,
}
