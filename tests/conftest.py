"""What holds for all tests: windows open nowhere."""

import os

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
