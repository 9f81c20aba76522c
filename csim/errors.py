"""Every error a caller may catch.

    CsimError
    ├── SettingsError      a setting or an argument outside its range
    ├── InputError         images, labels or names that cannot be taken
    ├── NotFittedError     used before it was fitted
    ├── QuestionError      no such question, or not in a state to be answered so
    ├── ClassError         no such class, or a name that is taken
    ├── CheckpointError    a file that is damaged, foreign or newer than this program
    └── FolderError        a stream folder that is damaged, foreign or newer than this program
        ├── BusyError      another process has it
        └── StorageError   the disk is full, or does not let us write

A message says what must hold, what came instead, and what to do. The state is then as it was before.
"""


class CsimError(Exception):
    """The root: whatever csim refuses."""


class SettingsError(CsimError, ValueError):
    """A setting or an argument lies outside its range."""


class InputError(CsimError, ValueError):
    """Images, labels or names that cannot be taken."""


class NotFittedError(CsimError, ValueError):
    """A part was used before it was fitted."""


class QuestionError(CsimError, LookupError):
    """No such question, or one that cannot be answered in this way now."""


class ClassError(CsimError, LookupError):
    """No such class, or a class name that is already taken."""


class CheckpointError(CsimError):
    """A saved file is damaged, foreign or newer than this program."""


class FolderError(CsimError):
    """A stream folder is damaged, foreign or newer than this program."""


class BusyError(FolderError):
    """Another process has the stream folder."""


class StorageError(FolderError):
    """The disk is full, or does not let us write."""
