"""Every slot of the package, with its signature: what a program is bound to when it is made (see `vambrace.kernels`).

The loop, the leap and the record use these names; `simulate` binds them to the kernels of one policy, one attack and
one environment, and to constants. A branch on a bound constant costs nothing, and a branch that is never taken is not
compiled. An attack may use `select` and `update` too: they are those of the attacked policy.
"""

from typing import cast

from vambrace import signatures
from vambrace.kernels import Slot

# the policy
select = cast(signatures.Select, Slot("select"))
update = cast(signatures.Update, Slot("update"))
cycle = cast(signatures.Cycle, Slot("cycle"))
quiet = cast(signatures.Quiet, Slot("quiet"))
absorb = cast(signatures.Absorb, Slot("absorb"))
open_arm = cast(signatures.ChangeArm, Slot("open_arm"))
close_arm = cast(signatures.ChangeArm, Slot("close_arm"))

copy = cast(signatures.Copy, Slot("copy"))  # copy(state, into); only for attacks that try the policy

# index policies; each is bound in the policy's module
growth = cast(signatures.Growth, Slot("growth"))
index = cast(signatures.Index, Slot("index"))
above = cast(signatures.Above, Slot("above"))
threshold = cast(signatures.Threshold, Slot("threshold"))
TIE = cast(float, Slot("TIE"))  # how close two indices count as equal

# the environment
draw = cast(signatures.Draw, Slot("draw"))
draw_total = cast(signatures.DrawTotal, Slot("draw_total"))
outcomes = cast(signatures.Outcomes, Slot("outcomes"))

# the attack
alter = cast(signatures.Alter, Slot("alter"))
corrupt = cast(signatures.Corrupt, Slot("corrupt"))
respond = cast(signatures.Respond, Slot("respond"))
look = cast(signatures.Look, Slot("look"))
witness = cast(signatures.Witness, Slot("witness"))
inject = cast(signatures.Inject, Slot("inject"))
reply = cast(signatures.Reply, Slot("reply"))

# constants
STRONG = cast(bool, Slot("STRONG"))  # the attack sees the arm
MEDIUM = cast(bool, Slot("MEDIUM"))  # it sees the rewards of all arms, but not the arm
INJECT = cast(bool, Slot("INJECT"))  # it adds events and leaves the others alone
LOOK = cast(bool, Slot("LOOK"))  # it has `look`
WITNESS = cast(bool, Slot("WITNESS"))  # it has `witness`
WHOLE = cast(bool, Slot("WHOLE"))  # every raw reward is 0 or 1, so that plain sums are exact
LEAP = cast(bool, Slot("LEAP"))  # the leap engine
CLOSED_FORM = cast(bool, Slot("CLOSED_FORM"))  # the environment has `draw_total`
ARMS_CHANGE = cast(bool, Slot("ARMS_CHANGE"))  # arms open and close; true in a live learner, unless it is bound
LATE = cast(bool, Slot("LATE"))  # answers may be late or lost
KL_RADIUS = cast(bool, Slot("KL_RADIUS"))  # SE-WR and similar policies use the radius "kl"
