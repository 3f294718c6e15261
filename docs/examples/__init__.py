"""A third game: whist, as the guide "your own game" builds it."""
