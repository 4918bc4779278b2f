"""Experiments: read a TOML file, run the cells that are missing, load the results.

from vambrace import lab

status = lab.run(lab.read("mine.toml"), "out/mine")
frame = lab.load("out/mine").to_frame()
"""

from vambrace.lab.experiment import Experiment, parse, read
from vambrace.lab.runner import run
from vambrace.lab.study import Study, load

__all__ = ["Experiment", "Study", "load", "parse", "read", "run"]
