"""The stage `{name}`, which writes the first directory of each chunk's path to a column."""

from wit_world import WitWorld as Stage
from wit_world.imports.types import Batch, Column, Output, Settings, Values_Texts


def value(path):
    """Returns the value of the column for a file, or None."""
    return path.split("/")[0] if path and "/" in path else None


class WitWorld(Stage):
    def configure(self, settings: Settings) -> None:
        """Receives the table `config` of the stage, as JSON in `settings.config`."""

    def process(self, batch: Batch) -> Output:
        paths = next(column.values.value for column in batch.columns if column.name == "file.path")
        values = [value(path) for path in paths]
        return Output([Column("chunk.{name}", Values_Texts([values[file] for file in batch.chunk_files]))], [], [])
