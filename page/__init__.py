"""The page in the browser: games against agents, agents among themselves, and records to step through."""
