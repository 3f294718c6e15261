"""Environments: rules, states, views, encodings and the faces that expose them."""

from . import herzeln_v0, viersche_v0
from .batch import make_batch
from .errors import DealError, IllegalCardError, OptionError
from .games import HERZELN, VIERSCHE
from .record import replay
from .registration import register_environments

__all__ = [
    "HERZELN",
    "VIERSCHE",
    "DealError",
    "IllegalCardError",
    "OptionError",
    "herzeln_v0",
    "make_batch",
    "replay",
    "viersche_v0",
]

register_environments()
