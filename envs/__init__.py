"""Environments: rules, states, views, encodings and the faces that expose them."""

from .batch import make_batch
from .games import HERZELN, VIERSCHE

__all__ = ["HERZELN", "VIERSCHE", "make_batch"]
