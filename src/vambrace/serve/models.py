"""What goes into the service and what comes out of it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr

MOST_ITEMS = 1_000  # of a batch
MOST_ARMS = 10_000
LONGEST_LABEL = 200
EXAMPLE_ID = "0-5c0a1d7e8f3b4a6c9d2e1f0a7b8c9d0e-1f2e3d4c5b6a7988"


def _whole(value: Any) -> Any:
    """JSON knows only numbers: 3.0 is a whole one."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)  # the last one of an annotation, so that OpenAPI has the limits before it
NumberLabel = Annotated[int, Field(strict=True, ge=0, le=2**53), WHOLE]
Count = Annotated[int, Field(strict=True, ge=1, le=MOST_ITEMS), WHOLE]
Horizon = Annotated[int, Field(strict=True, ge=1, le=10**15), WHOLE]
Seed = Annotated[int, Field(strict=True, ge=0, le=2**53), WHOLE]
Fakes = Annotated[int, Field(strict=True, ge=0, le=10_000), WHOLE]
FewArms = Annotated[int, Field(strict=True, ge=2, le=20), WHOLE]
FewRounds = Annotated[int, Field(strict=True, ge=10, le=20_000), WHOLE]
FewGames = Annotated[int, Field(strict=True, ge=2, le=20, multiple_of=2), WHOLE]
NAME = r"^[\w-][\w.-]{0,99}$"
Name = Annotated[StrictStr, Field(pattern=NAME, description="The name: letters, digits, dots, hyphens, underscores.")]
UNPRINTABLE = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
TextLabel = Annotated[
    StrictStr,
    Field(max_length=LONGEST_LABEL, pattern=rf"^[^{UNPRINTABLE}]*[^\s{UNPRINTABLE}][^{UNPRINTABLE}]*$"),
]
Label = TextLabel | NumberLabel
DecisionId = Annotated[StrictStr, Field(min_length=1, max_length=200, examples=[EXAMPLE_ID])]
Reward = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False, examples=[1.0])]
Key = Annotated[StrictStr, Field(pattern=r"^[^\x00-\x1f\x7f]{1,150}$", examples=["view-17"])]
Status = Literal["applied", "duplicate", "late", "conflict", "unknown"]


class Given(BaseModel):
    """The body of a request: nothing but what is declared."""

    model_config = ConfigDict(extra="forbid")


class NewExperiment(Given):
    """An experiment to create."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"name": "headlines", "arms": ["old", "new"], "policy": "kl-ucb-wr:budget=20"},
        }
    )

    name: Name
    arms: list[Label] = Field(min_length=1, max_length=MOST_ARMS, description="The labels of the first arms.")
    policy: StrictStr = Field(max_length=500, description="A policy with its parameters: kl-ucb-wr:budget=20.")
    horizon: Horizon | None = Field(None, description="The largest number of decisions.")
    seed: Seed | None = Field(None, description="The seed of a randomised policy.")
    expires_after: Annotated[float, Field(strict=True, gt=0, le=10**9)] | None = Field(
        None, description="After how many seconds a decision without an answer is closed."
    )
    default_reward: Reward | None = Field(None, description="The reward that counts when a decision expires.")
    late: Literal["record", "count"] = Field("record", description="What happens to an answer after that.")


class Arm(BaseModel):
    """An arm."""

    label: str | int
    state: Literal["open", "retired"]


class Experiment(BaseModel):
    """An experiment."""

    name: str = Field(examples=["headlines"])
    state: Literal["open", "closed"] = Field(description="A closed one makes no decisions any more.")
    policy: str = Field(examples=["kl-ucb-wr:budget=20.0"])
    arms: list[Arm]
    horizon: int | None
    expires_after: float | None
    default_reward: float | None
    late: Literal["record", "count"]
    created: float = Field(description="When, in seconds since 1970.")
    asked: int = Field(description="Decisions that were made.")
    told: int = Field(description="Decisions that were answered.")


class Listing(BaseModel):
    """A page of the list of experiments."""

    experiments: list[Experiment]
    next: str | None = Field(description="The value of `after` for the next page; null: this is the last one.")


class Ask(Given):
    """How many decisions are wanted."""

    model_config = ConfigDict(json_schema_extra={"example": {"count": 1, "key": "view-17"}})

    count: Count = 1
    key: Key | None = Field(None, description="A name for this request: the same key gets the same decisions.")


class Decision(BaseModel):
    """An arm to play."""

    id: str = Field(examples=[EXAMPLE_ID])
    arm: str | int = Field(examples=["new"])
    probability: float | None = Field(description="With which the arm was chosen; null: the policy does not know it.")
    round: int


class Decisions(BaseModel):
    """Arms to play."""

    decisions: list[Decision]


class Answer(Given):
    """The reward of a decision."""

    model_config = ConfigDict(json_schema_extra={"example": {"id": EXAMPLE_ID, "reward": 1.0}})

    id: DecisionId
    reward: Reward


class Answers(Given):
    """The rewards of several decisions."""

    answers: list[Answer] = Field(min_length=1, max_length=MOST_ITEMS)


class Abandon(Given):
    """Decisions whose answers will never come."""

    model_config = ConfigDict(json_schema_extra={"example": {"ids": [EXAMPLE_ID]}})

    ids: list[DecisionId] = Field(min_length=1, max_length=MOST_ITEMS)


class Result(BaseModel):
    """What became of an answer."""

    id: str
    status: Status


class Results(BaseModel):
    """What became of each answer."""

    results: list[Result]


class Closing(BaseModel):
    """What became of a decision that was abandoned."""

    id: str
    status: Literal["abandoned", "closed", "unknown"]


class Closings(BaseModel):
    """What became of each decision that was abandoned."""

    results: list[Closing]


class ArmLabel(Given):
    """An arm to open or to retire."""

    model_config = ConfigDict(json_schema_extra={"example": {"label": "newer"}})

    label: Label


class ArmState(BaseModel):
    """What is known of an arm."""

    arm: str | int
    status: Literal["open", "dropped", "retired"]
    answers: int
    rate: float | None
    plain: tuple[float, float] | None
    armoured: tuple[float, float] | None
    share: float
    waiting: int
    needed: int | None


class State(BaseModel):
    """What an experiment knows now."""

    name: str
    state: Literal["open", "closed"]
    policy: str
    decisions: int
    events: int = Field(description="The number of the last event in the journal.")
    arms: list[ArmState]
    open: int = Field(description="Decisions that are not answered yet.")
    late: int = Field(description="Answers that came after their decision was closed.")


class Changes(BaseModel):
    """How far an experiment is."""

    events: int = Field(description="The number of the last event in the journal.")
    asked: int
    told: int


class Certificate(BaseModel):
    """How many fake events would overturn the winner; all that `vambrace certify --json` prints."""

    model_config = ConfigDict(extra="allow")

    winner: str | None = Field(description="The arm with the highest mean.")
    budget: float | None = Field(
        description="The winner stands against this many fake events; null: it does not lead for sure."
    )
    verdict: str
    sentences: list[str]


class Choice(BaseModel):
    """Which policy loses least; all that `vambrace choose --json` prints."""

    model_config = ConfigDict(extra="allow")


class Wanted(Given):
    """Games to play, to choose a policy: means, or arms with rate and gap."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"means": [0.05, 0.04], "fakes": [0, 20], "policies": ["thompson", "kl-ucb-wr:budget=20"]}
        }
    )

    means: list[Reward] | None = Field(None, min_length=2, max_length=20, description="The means of the arms.")
    arms: FewArms | None = Field(None, description="The number of arms, with rate and gap.")
    rate: Reward | None = Field(None, description="The mean of the best arm.")
    gap: Reward | None = Field(None, description="How much less each other arm pays.")
    fakes: list[Fakes] = Field([0, 20], min_length=1, max_length=3)
    policies: list[Annotated[StrictStr, Field(max_length=200)]] = Field(
        ["thompson", "kl-ucb-wr:budget=20"], min_length=1, max_length=4
    )
    attacks: list[Annotated[StrictStr, Field(max_length=200)]] = Field(["conceal"], min_length=1, max_length=3)
    horizon: FewRounds = Field(10_000, description="Rounds of a game.")
    replications: FewGames = Field(4, description="Games behind each figure.")
    seed: Seed = 0


class Health(BaseModel):
    """Whether the service is well."""

    status: Literal["ok"]


Json = dict[str, Any]
