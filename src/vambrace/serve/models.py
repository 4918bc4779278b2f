"""What goes into the service and what comes out of it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, model_validator

MOST_ITEMS = 1_000  # of a batch
MOST_ARMS = 10_000
LONGEST_LABEL = 200
EXAMPLE_ID = "0-5c0a1d7e8f3b4a6c9d2e1f0a7b8c9d0e-1f2e3d4c5b6a7988"

NAME = r"^[\w-][\w.-]{0,99}$"
Name = Annotated[StrictStr, Field(pattern=NAME, description="The name: letters, digits, dots, hyphens, underscores.")]
Label = (
    Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_LABEL)] | Annotated[StrictInt, Field(ge=0, le=2**53)]
)
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
    horizon: StrictInt | None = Field(None, ge=1, le=10**15, description="The largest number of decisions.")
    seed: StrictInt | None = Field(None, ge=0, lt=2**128, description="The seed of a randomised policy.")
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

    count: StrictInt = Field(1, ge=1, le=MOST_ITEMS)
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

    id: DecisionId
    reward: Reward


class Tell(Given):
    """One answer (id and reward), or a list of them (answers)."""

    model_config = ConfigDict(json_schema_extra={"example": {"id": EXAMPLE_ID, "reward": 1.0}})

    id: DecisionId | None = None
    reward: Reward | None = None
    answers: list[Answer] | None = Field(None, min_length=1, max_length=MOST_ITEMS)

    @model_validator(mode="after")
    def _one_form(self) -> "Tell":
        if (self.answers is None) != (self.id is not None and self.reward is not None):
            raise ValueError("expected either id and reward or answers")
        if self.answers is not None and (self.id is not None or self.reward is not None):
            raise ValueError("expected either id and reward or answers, got both")
        return self

    def pairs(self) -> list[tuple[str, float]]:
        """The ids and their rewards."""
        if self.answers is not None:
            return [(each.id, each.reward) for each in self.answers]
        return [(self.id or "", self.reward or 0.0)]


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
    arms: StrictInt | None = Field(None, ge=2, le=20, description="The number of arms, with rate and gap.")
    rate: Reward | None = Field(None, description="The mean of the best arm.")
    gap: Reward | None = Field(None, description="How much less each other arm pays.")
    fakes: list[Annotated[StrictInt, Field(ge=0, le=10_000)]] = Field([0, 20], min_length=1, max_length=3)
    policies: list[Annotated[StrictStr, Field(max_length=200)]] = Field(
        ["thompson", "kl-ucb-wr:budget=20"], min_length=1, max_length=4
    )
    attacks: list[Annotated[StrictStr, Field(max_length=200)]] = Field(["conceal"], min_length=1, max_length=3)
    horizon: StrictInt = Field(10_000, ge=10, le=20_000, description="Rounds of a game.")
    replications: StrictInt = Field(4, ge=2, le=20, multiple_of=2, description="Games behind each figure.")
    seed: StrictInt = Field(0, ge=0, lt=2**63)


class Health(BaseModel):
    """Whether the service is well."""

    status: Literal["ok"]


Json = dict[str, Any]
