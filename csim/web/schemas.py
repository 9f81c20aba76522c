"""The JSON of the service: what it answers and what it reads, with examples."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

ImageId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=200),
    Field(description="Permanent id of an image.", examples=["camera-2/000017.png"]),
]
ClassName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=200),
    Field(description="A class name. csim adds the class if it is new.", examples=["heron"]),
]
Labeller = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100),
    Field(description="Who answers: any name, the same in each request.", examples=["ana"]),
]
ClassNumber = Annotated[int, Field(ge=0, le=2**31, description="A class id.", examples=[3])]
Time = Annotated[
    str | None,
    Field(description="UTC, as in RFC 3339.", examples=["2026-11-17T08:30:00.250Z"]),
]
Status = Literal["open", "answered", "skipped", "split", "undone", "expired"]


class _Input(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class ClassRef(BaseModel):
    """Name a class."""

    id: int = Field(examples=[3])
    name: str = Field(examples=["heron"])


class ImageAnswer(BaseModel):
    """Say what csim decided about an image at arrival."""

    id: ImageId
    position: int = Field(description="How many images had come, with this one.", examples=[512])
    time: Time
    decision: Literal["accepted", "rejected"]
    class_: ClassRef | None = Field(
        alias="class", description="The class that csim gave it; null if it was rejected."
    )
    score: float | None = Field(description="Of the best class.", examples=[0.93])
    model: int | None = Field(description="Version of the model that decided.", examples=[2])
    question: int | None = Field(
        description="The question whose group the image is in.", examples=[None]
    )


class ImageState(ImageAnswer):
    """Say what csim decided about an image, and the class that it has today."""

    today: ClassRef | None = Field(description="Its class today; null if it has none.")
    is_junk: bool = Field(description="A person calls it junk, or it looks like junk.")
    decided_by: Literal["told", "answer", "model", "none"] = Field(
        description="told: a person saw this image. answer: a person named its group."
    )
    answered_by: int | None = Field(description="The question whose answer gave it its class.")
    picture: str | None = Field(
        description="Path of its picture; null if it is no longer kept.",
        examples=["/v1/pictures/512"],
    )


class ImageAnswers(BaseModel):
    """Hold the decisions about the images of a request, in their order."""

    images: list[ImageAnswer]


class Guess(BaseModel):
    """Hold a class that the model suggests."""

    class_: ClassRef = Field(alias="class")
    score: float = Field(examples=[0.41])


class Member(BaseModel):
    """Name an image of a group."""

    id: str = Field(examples=["camera-2/000017.png"])
    position: int = Field(examples=[498])
    picture: str | None = Field(examples=["/v1/pictures/498"])


class Lease(BaseModel):
    """Say who has a question, and until when."""

    labeller: str = Field(examples=["ana"])
    until: Time


class QuestionSummary(BaseModel):
    """Describe a question."""

    id: int = Field(examples=[17])
    position: int = Field(description="Where in the stream csim asked it.", examples=[512])
    time: Time
    answered: Time
    status: Status
    class_: ClassRef | None = Field(alias="class", description="The answer, if it has one.")
    is_junk: bool = Field(description="The answer is junk.")
    is_audit: bool = Field(description="Drawn at random, to measure accuracy.")
    is_given: bool = Field(description="A person chose the image; csim did not ask.")
    images: int = Field(description="Images in the group.", examples=[12])
    representative: Member
    guesses: list[Guess]
    lease: Lease | None


class Question(QuestionSummary):
    """Describe a question with all images of its group."""

    members: list[Member]


class QuestionPage(BaseModel):
    """Hold some questions, in order of id."""

    questions: list[QuestionSummary]
    next: int | None = Field(
        description="Send it as `after` for the next page; null at the end.", examples=[None]
    )


class Naming(_Input):
    """Answer with a class: its name, or its id."""

    name: ClassName | None = None
    class_id: ClassNumber | None = None
    labeller: Labeller | None = None
    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"example": {"name": "heron"}}
    )


class NamingOrJunk(Naming):
    """Answer with a class, by its name or its id, or with junk."""

    junk: bool = Field(default=False, description="Instead of a class: nothing of interest.")


class ImageNaming(NamingOrJunk):
    """Say what images are."""

    images: list[ImageId] = Field(min_length=1, max_length=1000)
    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"example": {"images": ["camera-2/000017.png"], "name": "heron"}},
    )


class Said(_Input):
    """Say who answers; the path says what."""

    labeller: Labeller | None = None
    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"example": {"labeller": "ana"}}
    )


class Splitting(_Input):
    """Split a group; without parts, csim halves it where its images differ most."""

    parts: list[list[ImageId]] = Field(
        default=[], max_length=1000, description="Image ids, part by part, each image once."
    )
    labeller: Labeller | None = None
    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"example": {}})


class TakingOut(_Input):
    """Take images out of a group; they become a question of their own."""

    images: list[ImageId] = Field(min_length=1, max_length=10_000)
    labeller: Labeller | None = None


class LeaseRequest(_Input):
    """Ask for a question."""

    labeller: Labeller
    seconds: float | None = Field(
        default=None,
        ge=1,
        le=86_400,
        description="How long to keep it from others. Higher gives you more time.",
        examples=[300],
    )


class Outcome(BaseModel):
    """Say what became of an answer or an edit, which is safe in the folder."""

    message: int = Field(description="Its number in the inbox.", examples=[31])
    taken: bool = Field(description="False: the engine has not taken it yet.", examples=[True])
    questions: list[int] = Field(
        default=[], description="The questions that it made.", examples=[[18, 19]]
    )


class ClassEntry(ClassRef):
    """Describe a class of today."""

    images: int = Field(description="Images of the stream that have it.", examples=[214])
    told: int = Field(description="Images that a person labelled with it.", examples=[12])
    is_learned: bool = Field(description="Whether the model in use can give it.")
    examples: list[Member] = Field(description="Its newest images that have a picture.")


class ClassList(BaseModel):
    """Hold all classes of today."""

    classes: list[ClassEntry]


class ClassNaming(_Input):
    """Give a class a name."""

    name: ClassName


class Merging(_Input):
    """Name the class to merge into."""

    into: ClassNumber


class EditOutcome(BaseModel):
    """Say what an edit changes. With `dry_run`, nothing has changed."""

    dry_run: bool
    change: str = Field(examples=["renames 'hern' to 'heron'"])
    images: int = Field(description="Images of the stream that it is about.", examples=[214])
    told: int = Field(description="Labels of people that it is about.", examples=[12])
    message: int | None = Field(description="Its number in the inbox.", examples=[32])
    taken: bool = Field(description="False: the engine has not taken it yet.")


class SignIn(_Input):
    """Hold the token to exchange for a cookie."""

    token: str = Field(max_length=1000, examples=["the-token-of-your-service"])


class ServiceStatus(BaseModel):
    """Sum up the stream and the service; fields as in `csim status --json`."""

    model_config = ConfigDict(extra="allow")
    position: int = Field(description="Images observed.", examples=[4096])
    service: dict[str, Any] = Field(
        examples=[{"engine": "running", "queue_images": 0, "event_streams": 1}]
    )


class Health(BaseModel):
    """Say how the service is."""

    status: str = Field(examples=["running"])
    reason: str = Field(default="", examples=[""])
