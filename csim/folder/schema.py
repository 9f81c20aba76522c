"""The database's tables, and how an older folder becomes one of today.

`steps` is the order in which everything happened; the other tables say what it came to. An image of the stream stands
at the place that is its position, a labelled image of the warm-up at a negative one.
"""

from __future__ import annotations

APPLICATION = 0x6373696D  # "csim": a database that has another number is somebody else's
VERSION = 2

TABLES = """
CREATE TABLE config (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE steps (
  step INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,             -- warm-up, observe, inbox, install, ask
  position INTEGER NOT NULL,      -- of the stream, when it was done
  body INTEGER,                   -- how many images, which message, which model
  pixels BLOB,                    -- of an observe step, until two snapshots hold what came of it
  views BLOB                      -- those that came with the images, as long as the pixels
) STRICT;

CREATE TABLE items (
  place INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  step INTEGER NOT NULL,
  is_accepted INTEGER NOT NULL,
  nearest INTEGER,                -- the class that came closest at arrival
  score REAL,
  model INTEGER,
  class_id INTEGER,               -- what it has today
  question_id INTEGER,            -- whose answer gave it that
  is_told INTEGER NOT NULL DEFAULT 0,
  picture BLOB                    -- sha256 of the kept file
) STRICT;
CREATE INDEX items_with_picture ON items (picture) WHERE picture IS NOT NULL;
CREATE INDEX items_of_question ON items (question_id) WHERE question_id IS NOT NULL;
CREATE INDEX items_of_step ON items (step);

CREATE TABLE pictures (sha256 BLOB PRIMARY KEY, file BLOB NOT NULL) STRICT;

CREATE TABLE events (           -- all but what happens to an image at arrival, which stands in items
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
  today INTEGER                   -- itself; what it was merged into; NULL if it was removed
) STRICT;

CREATE TABLE questions (
  id INTEGER PRIMARY KEY,
  position INTEGER NOT NULL,
  representative INTEGER NOT NULL,  -- its place
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
  key TEXT NOT NULL UNIQUE,       -- the sender's own: a message sent twice is taken once
  not_before INTEGER NOT NULL,    -- the position from which it may be taken
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  step INTEGER,                   -- when it was taken
  refusal TEXT                    -- why it could not be
) STRICT;
CREATE INDEX inbox_waiting ON inbox (number) WHERE step IS NULL;

CREATE TABLE models (
  version INTEGER PRIMARY KEY,
  base INTEGER,                   -- the model that training went on from
  position INTEGER NOT NULL,      -- of the stream, when the job was written
  switch_at INTEGER,              -- where it takes over; NULL: as soon as it is ready
  images INTEGER NOT NULL,
  installed_at INTEGER,
  class_ids TEXT,
  sha256 TEXT,
  seconds REAL
) STRICT;

CREATE TABLE snapshots (step INTEGER PRIMARY KEY, position INTEGER NOT NULL, model INTEGER NOT NULL) STRICT;

CREATE TABLE troubles (id TEXT PRIMARY KEY, kind TEXT NOT NULL, reason TEXT NOT NULL) STRICT;

CREATE TABLE outputs (path TEXT PRIMARY KEY, step INTEGER NOT NULL, size INTEGER NOT NULL) STRICT;
"""

# From a version to the next.
MIGRATIONS: dict[int, str] = {
    # Setting and option names: look → ask_every, keep_bytes → picture_room. Views from outside.
    1: """
ALTER TABLE steps ADD COLUMN views BLOB;
UPDATE config SET value = json_remove(json_set(value, '$.ask_every', value -> '$.look'), '$.look')
  WHERE name = 'settings';
UPDATE config SET name = 'picture_room' WHERE name = 'keep_bytes'
""",
}
