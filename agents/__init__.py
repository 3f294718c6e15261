"""Agents: whatever chooses a card."""

from .base import Agent
from .loader import load_agent

__all__ = ["Agent", "load_agent"]
