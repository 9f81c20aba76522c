"""The database's tables and views, and the migrations of older folders.

`steps` and `events` are the log: they hold what happened, in order. `items`, `questions`,
`members`, `classes` and `models` are a read model of it: they hold what is true today, so that
readers need not replay the log. `place` is an image's position in the stream, or negative if the
image is one of the labelled images that the stream started with. A class id of -2 means junk: it
has no row in `classes`.

`class_totals` and `picture_bytes` are sums over whole tables, kept by triggers, so that no reader
counts rows. `timeline` holds sums per minute. `folded`, `folded_ids` and `folded_until` hold what
`folding` leaves of old images. `picture_bytes`, `revised_labels` and `folded_until` have one row.
`workers` says who works for the run, and is no part of the log.
Times are seconds since 1970, in UTC; rows that an older csim wrote have none.
"""

from __future__ import annotations

APPLICATION = 0x6373696D  # "csim"; another number means that another program made the database
VERSION = 5

VIEWS = """
CREATE VIEW current_classes AS  -- what a class id means today; a removed class has no row
  SELECT classes.id AS id, target.id AS current_id, target.name AS name
  FROM classes JOIN classes AS target ON target.id = classes.today;

CREATE VIEW current_items AS    -- items with the class that they have today; NULL if they have none
  SELECT items.*, target.id AS current_id, target.name AS class_name  -- joins classes directly:
  FROM items LEFT JOIN classes ON classes.id = items.class_id         -- SQLite then looks up each
  LEFT JOIN classes AS target ON target.id = classes.today            -- row by its primary key
"""

# What a person said, each answer once; the condition must be written like this to use the index.
SAID = (
    "(kind IN ('Divided', 'Corrected') OR (kind = 'Labelled' AND json_extract(body, '$.is_told')))"
)

CLASS_EVENTS = (
    "kind IN ('ClassAdded', 'ClassRenamed', 'ClassesMerged', 'ClassRemoved', 'ClassRestored')"
)

TOTALS = """
CREATE TABLE class_totals (     -- images ever taken, those that were folded included
  class_id INTEGER PRIMARY KEY, -- as in items; -1 for none
  images INTEGER NOT NULL,      -- of the stream
  told INTEGER NOT NULL         -- with those of the warm-up
) STRICT;
CREATE TRIGGER count_item AFTER INSERT ON items
  BEGIN INSERT INTO class_totals
    VALUES (coalesce(new.class_id, -1), new.place > 0, new.is_told)
    ON CONFLICT DO UPDATE SET images = images + excluded.images, told = told + excluded.told; END;
CREATE TRIGGER count_item_out AFTER UPDATE OF class_id, is_told ON items
  BEGIN UPDATE class_totals SET images = images - (old.place > 0), told = told - old.is_told
    WHERE class_id = coalesce(old.class_id, -1); END;
CREATE TRIGGER count_item_in AFTER UPDATE OF class_id, is_told ON items
  BEGIN INSERT INTO class_totals
    VALUES (coalesce(new.class_id, -1), new.place > 0, new.is_told)
    ON CONFLICT DO UPDATE SET images = images + excluded.images, told = told + excluded.told; END;

CREATE TABLE picture_bytes (total INTEGER NOT NULL) STRICT;
INSERT INTO picture_bytes VALUES (0);
CREATE TRIGGER count_picture AFTER INSERT ON pictures
  BEGIN UPDATE picture_bytes SET total = total + length(new.file); END;
CREATE TRIGGER count_picture_out AFTER DELETE ON pictures
  BEGIN UPDATE picture_bytes SET total = total - length(old.file); END;

CREATE TABLE folded (           -- images that are no longer in items, by class and place
  block INTEGER NOT NULL,       -- (place - 1) / 512
  class_id INTEGER NOT NULL,    -- as in class_totals
  images INTEGER NOT NULL,
  rejected INTEGER NOT NULL,    -- of these images, those that were rejected at arrival
  PRIMARY KEY (block, class_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE folded_ids (hash INTEGER PRIMARY KEY) STRICT;

CREATE TABLE folded_until (step INTEGER NOT NULL, place INTEGER NOT NULL) STRICT;
INSERT INTO folded_until VALUES (0, 0)
"""

AUDIT = """
CREATE TABLE audited (          -- drawn images that a person named, by class id; NULL for none
  question_id INTEGER PRIMARY KEY,
  at_arrival INTEGER,
  today INTEGER,                -- the class before the answer
  answer INTEGER                -- NULL once it is undone
) STRICT;

CREATE TABLE revised_labels (total INTEGER NOT NULL) STRICT;
INSERT INTO revised_labels VALUES (0);
CREATE TRIGGER count_revised AFTER INSERT ON events
  WHEN new.kind = 'Revised' AND json_extract(new.body, '$.before') IS NOT NULL
  BEGIN UPDATE revised_labels SET total = total + 1; END
"""

INDEXES = f"""
CREATE INDEX items_pictured ON items (place) WHERE picture IS NOT NULL;
CREATE INDEX steps_with_pixels ON steps (step) WHERE pixels IS NOT NULL;
CREATE INDEX steps_of_models ON steps (step) WHERE kind = 'install';
CREATE INDEX steps_by_time ON steps (time) WHERE time IS NOT NULL;
CREATE INDEX events_of_people ON events (position) WHERE {SAID};
CREATE INDEX questions_by_status ON questions (status);
CREATE INDEX questions_by_position ON questions (position);
CREATE INDEX questions_by_class ON questions (class_id, position) WHERE class_id IS NOT NULL;
CREATE INDEX questions_by_representative ON questions (representative);
CREATE INDEX members_by_place ON members (place);
CREATE INDEX inbox_waiting ON inbox (not_before, number) WHERE step IS NULL;
CREATE INDEX inbox_refused ON inbox (number) WHERE refusal IS NOT NULL;
CREATE INDEX models_waiting ON models (version) WHERE installed_at IS NULL;
CREATE INDEX troubles_by_kind ON troubles (kind)
"""

_TABLES = """
CREATE TABLE config (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE steps (
  step INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,             -- warm-up, observe, inbox, install, ask
  position INTEGER NOT NULL,      -- of the stream, after the step
  body INTEGER,                   -- number of images, of the message, or of the model
  pixels BLOB,                    -- of an observe step, until two snapshots include the step,
                                  -- or its frozen vectors, as safetensors
  views BLOB,                     -- given with the images, kept as long as the pixels
  time REAL                       -- when it was written
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
  picture BLOB,                   -- sha256 of the kept file
  fingerprint BLOB,               -- of the bytes that a client sent; NULL: from a source
  source TEXT                     -- the camera, if the stream has several
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
  class_id INTEGER,
  audit INTEGER NOT NULL DEFAULT 0,  -- whether it was drawn at random, to measure accuracy
  time REAL,                      -- when it was asked
  answered REAL,                  -- when the answer was given; NULL: there is none
  given INTEGER NOT NULL DEFAULT 0  -- whether a person chose the image; csim did not ask
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
  refusal TEXT,                   -- the reason, if it was refused
  time REAL                       -- when it was sent
) STRICT;

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

CREATE TABLE outputs (          -- files of predictions; "-" is standard output
  path TEXT PRIMARY KEY,
  step INTEGER NOT NULL,          -- up to which it is written
  size INTEGER NOT NULL,          -- then
  head BLOB,                      -- its first bytes, recorded before they are written
  inode INTEGER
) STRICT
"""
_LEASES = """
CREATE TABLE leases (
  question_id INTEGER PRIMARY KEY,
  labeller TEXT NOT NULL,         -- who has the question
  until REAL NOT NULL             -- when it may be given to another
) STRICT
"""
_WORKERS = """
CREATE TABLE workers (            -- one row, which a run with workers replaces again and again
  engine INTEGER PRIMARY KEY,     -- the process that wrote it
  body TEXT NOT NULL
) STRICT
"""
_SOURCES = "CREATE INDEX items_of_source ON items (source) WHERE source IS NOT NULL"
# What a page with charts and the images of a class reads.
TIMELINE = f"""
CREATE TABLE timeline (           -- sums of every minute, so that no reader counts rows
  minute INTEGER PRIMARY KEY,     -- since 1970, in UTC
  images INTEGER NOT NULL,
  accepted INTEGER NOT NULL,      -- of these images, at arrival
  revised INTEGER NOT NULL,       -- images whose class changed later
  labels INTEGER NOT NULL,        -- that people gave
  classes INTEGER NOT NULL        -- added, less those removed or merged
) STRICT;
CREATE INDEX inbox_times ON inbox (time);
CREATE INDEX items_of_class ON items (class_id, is_told, place) WHERE picture IS NOT NULL;
CREATE INDEX events_of_classes ON events (number) WHERE {CLASS_EVENTS}
"""
_FILL_TIMELINE = f"""
INSERT INTO timeline SELECT minute, sum(images), sum(accepted), sum(revised), sum(labels),
  sum(classes) FROM (
    SELECT CAST(time / 60 AS INTEGER) AS minute, 1 AS images, is_accepted AS accepted, 0 AS revised,
      0 AS labels, 0 AS classes
    FROM items JOIN steps ON steps.step = items.step WHERE place > 0 AND time IS NOT NULL
    UNION ALL SELECT CAST(time / 60 AS INTEGER), 0, 0, kind = 'Revised', {SAID},
      (kind IN ('ClassAdded', 'ClassRestored')) - (kind IN ('ClassRemoved', 'ClassesMerged'))
    FROM events JOIN (SELECT step, time FROM steps WHERE time IS NOT NULL) USING (step)
  ) GROUP BY minute
"""  # noqa: S608
TABLES = ";\n".join([_TABLES, AUDIT, VIEWS, TOTALS, INDEXES, _LEASES, _SOURCES, TIMELINE, _WORKERS])
_NEW_COLUMNS = """
ALTER TABLE steps ADD COLUMN time REAL;
ALTER TABLE questions ADD COLUMN audit INTEGER NOT NULL DEFAULT 0;
ALTER TABLE questions ADD COLUMN time REAL;
ALTER TABLE inbox ADD COLUMN time REAL;
DROP INDEX inbox_waiting
"""
_NEWER_COLUMNS = """
ALTER TABLE items ADD COLUMN fingerprint BLOB;
ALTER TABLE items ADD COLUMN source TEXT;
ALTER TABLE questions ADD COLUMN answered REAL;
ALTER TABLE questions ADD COLUMN given INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outputs ADD COLUMN head BLOB;
ALTER TABLE outputs ADD COLUMN inode INTEGER
"""
_COUNT = """
UPDATE revised_labels SET total = (SELECT count(*) FROM events
  WHERE kind = 'Revised' AND json_extract(body, '$.before') IS NOT NULL);
UPDATE picture_bytes SET total = (SELECT coalesce(sum(length(file)), 0) FROM pictures);
INSERT INTO class_totals SELECT coalesce(class_id, -1), place > 0, is_told FROM items WHERE true
  ON CONFLICT DO UPDATE SET images = images + excluded.images, told = told + excluded.told
"""

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
    # Times, audit questions, totals that status reads, room for folded images, an index for every
    # query. One pass over each table, in one transaction: killed, it leaves the old version.
    2: ";\n".join([_NEW_COLUMNS, AUDIT, TOTALS, _COUNT, INDEXES]),
    # What clients sent, who has which question and when it was answered, how a file of predictions
    # is known again, images that people labelled unasked, names of cameras, and sums per minute.
    3: ";\n".join([_NEWER_COLUMNS, _LEASES, _SOURCES, TIMELINE, _FILL_TIMELINE]),
    # Who works for the run.
    4: _WORKERS,
}
