import json

from wit_world import WitWorld as Stage
from wit_world.imports.types import Batch, Column, Output, Settings, Values_Texts


teams: dict[str, str] = {}


class WitWorld(Stage):
    def configure(self, settings: Settings) -> None:
        teams.update(json.loads(settings.config).get("teams", {}))
        if not teams:
            print("no teams are configured")

    def process(self, batch: Batch) -> Output:
        paths = next(column.values.value for column in batch.columns if column.name == "file.path")
        owners = [teams.get(path.split("/")[0]) for path in paths]
        values = [owners[file] for file in batch.chunk_files]
        return Output([Column("chunk.owner", Values_Texts(values))], [], [])
