"""The stage `{name}`, which writes the first directory of each chunk's path to a column."""

from aurora_stage import stage


@stage
def value(path):
    """Returns the value of the column, or None. Parameters are columns listed in `reads` of the pipeline."""
    return path.split("/")[0] if "/" in path else None
