"""Stich: trick-taking card games as a reinforcement-learning research environment."""
