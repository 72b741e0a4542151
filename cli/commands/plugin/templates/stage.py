"""The stage `{name}`: the first directory of the path of each chunk."""

from aurora_stage import stage


@stage
def value(path):
    """Returns the value of the column, or None. Parameters are columns listed in `reads` of the pipeline."""
    return path.split("/")[0] if "/" in path else None
