"""Where this course lies: its folder, and the folders in it that more than one room reads."""

from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
LABS = HOME / "labs"
DATASETS = HOME / "datasets"
