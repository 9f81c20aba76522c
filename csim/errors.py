"""Every error that callers may catch.

    CsimError
    ├── SettingsError      a setting or an argument is outside its range
    ├── InputError         images, labels or names cannot be used
    ├── NotFittedError     a part was used before it was fitted
    ├── QuestionError      there is no such question, or it cannot be answered like this now
    ├── ClassError         there is no such class, or its name is already used
    ├── EncoderError       an encoder is not installed, damaged, or another one than before
    ├── CheckpointError    a file is damaged, not from csim, or from a newer version
    ├── BrokerError        a Redis server or a cluster does not answer, or refuses
    └── FolderError        a stream folder is damaged, not from csim, or from a newer version
        ├── BusyError      another process uses the folder
        ├── StorageError   the disk is full or not writable
        └── TrainingError  a model could not be trained: the trainer process keeps dying

A message says what must hold, what came instead, and what to do. After an error the state is the
same as before.
"""


class CsimError(Exception):
    """Report anything that csim refuses; the base class of all its errors."""


class SettingsError(CsimError, ValueError):
    """Report that a setting or an argument is outside its range."""


class InputError(CsimError, ValueError):
    """Report that images, labels or names cannot be used."""


class NotFittedError(CsimError, ValueError):
    """Report that a part was used before it was fitted."""


class QuestionError(CsimError, LookupError):
    """Report that there is no such question, or that it cannot be answered like this now."""


class ClassError(CsimError, LookupError):
    """Report that there is no such class, or that a class name is already used."""


class EncoderError(CsimError):
    """Report that an encoder is not installed, is damaged, or is another one than before."""


class CheckpointError(CsimError):
    """Report that a saved file is damaged, not from csim, or from a newer version."""


class BrokerError(CsimError):
    """Report that a Redis server or a cluster does not answer, or refuses what csim wants."""


class FolderError(CsimError):
    """Report that a stream folder is damaged, not from csim, or from a newer version."""


class BusyError(FolderError):
    """Report that another process uses the stream folder."""


class StorageError(FolderError):
    """Report that the disk is full or not writable."""


class TrainingError(FolderError):
    """Report that a model could not be trained, because the trainer process keeps dying."""
