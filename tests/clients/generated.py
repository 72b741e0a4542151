"""A client that is generated from the server's OpenAPI document calls every endpoint."""

import importlib
import json
import pkgutil
import subprocess
import sys
import urllib.request
from pathlib import Path

ADDRESS, WORK, TOKEN = sys.argv[1], Path(sys.argv[2]), sys.argv[3]


def fetch(path):
    return urllib.request.urlopen(urllib.request.Request(f"{ADDRESS}{path}", headers={"Authorization": f"Bearer {TOKEN}"}))


with fetch("/openapi.json") as answer:
    (WORK / "openapi.json").write_bytes(answer.read())
generate = ["openapi-python-client", "generate", "--path", "openapi.json", "--output-path", "aurora_client", "--meta", "none"]
made = subprocess.run([str(Path(sys.executable).with_name(generate[0])), *generate[1:]], cwd=WORK, capture_output=True, text=True)
assert made.returncode == 0, made
assert "Endpoint will not be generated" not in made.stdout + made.stderr, made.stdout
sys.path.insert(0, str(WORK))
from aurora_client import AuthenticatedClient  # noqa: E402
from aurora_client import models  # noqa: E402

CALLED = set()


def call(name, /, *arguments, status=200, body=None, **parameters):
    """Calls an endpoint by the name of its module, such as `search.search`, and returns the parsed answer."""
    module = importlib.import_module(f"aurora_client.api.{name}")
    if body is not None:
        parameters["body"] = body
    response = module.sync_detailed(*arguments, client=CLIENT, **parameters)
    assert response.status_code == status, (name, response)
    CALLED.add(name)
    return response.parsed


CLIENT = AuthenticatedClient(base_url=ADDRESS, token=TOKEN)
with CLIENT:
    found = call("search.search", body=models.SearchBody.from_dict({"query": "remove the oldest page"}))
    best = found.to_dict()["results"][0]
    assert best["file"] == "src/cache.py", best
    body = models.SearchBody.from_dict({"query": "remove the oldest page", "memory": True})
    assert any("Memory was searched" in note for note in call("search.search", body=body).notes)
    batch = call("search.batch", body=models.BatchBody.from_dict({"queries": [{"query": "page"}, {"query": "cache"}]}))
    assert len(batch.to_dict()["answers"]) == 2
    assert "evict_oldest" in call("search.chunk", id=best["id"]).content
    assert "class PageCache" in call("search.file", path="src/cache.py").content
    assert call("search.graph", name="drop_page").root.name == "drop_page"
    assert call("search.impact", name="drop_page").tests == []
    assert call("search.unused_definitions").examined >= 1
    assert call("search.file_imports", name="src/cache.py").files == ["src/cache.py"]
    assert call("search.blame", path="src/cache.py").complete
    verdict = models.FeedbackBody.from_dict({"verdict": "good", "ids": [best["id"]]})
    call("search.feedback", body=verdict)

    assert call("index.contents").files == 1
    assert call("index.roots")[0].indexed
    assert call("index.runs").runs
    assert call("index.tree").to_dict()
    assert call("index.omissions").total >= 0
    call("index.start", body=models.IndexBody.from_dict({"force": True}), status=202)
    assert call("index.status").run >= 1
    ended = importlib.import_module("aurora_client.api.index.cancel").sync_detailed(client=CLIENT)
    assert ended.status_code in (202, 404), ended
    CALLED.add("index.cancel")
    # The stream never ends, so only its first event is read, which describes the current state.
    with fetch("/api/v1/index/events") as events:
        lines = [events.readline().decode() for _ in range(3)]
    assert any(line.startswith("data: ") and json.loads(line[6:])["run"] >= 1 for line in lines), lines
    CALLED.add("index.events")

    session = call("knowledge.create", status=201).id
    article = models.Article.from_dict({"title": "Zebras", "url": "https://example.org/z", "content": "Zebras graze."})
    added = call("knowledge.add", session, body=article, status=201)
    answer = call("knowledge.search", session, body=models.KnowledgeBody.from_dict({"query": "zebras"}))
    assert answer.results[0].article_id == added.article_id, answer
    queries = models.KnowledgeBatchBody.from_dict({"queries": [{"query": "zebras"}]})
    assert len(call("knowledge.search_batch", session, body=queries).to_dict()["answers"]) == 1
    assert call("knowledge.stats", session).total_chunks == 1
    assert call("knowledge.list_").sessions == [session]
    assert call("knowledge.articles", session).articles[0].title == "Zebras"
    call("knowledge.remove_article", session, added.article_id, status=204)
    call("knowledge.remove", session, status=204)

    agent = call("memory.create_session", status=201).id
    note = {"kind": "note", "content": "Pages are evicted at night", "session": agent}
    assert call("memory.remember", body=models.RememberBody.from_dict(note)).stored
    recalled = call("memory.recall", body=models.RecallBody.from_dict({"query": "evicted pages", "session": agent}))
    assert "at night" in str(recalled.to_dict()), recalled
    ended = {"session": agent, "result": "success"}
    assert call("memory.outcome", body=models.OutcomeBody.from_dict(ended)).session == agent

    assert call("server.live").status == "ok"
    assert call("server.ready").status == "ok"
    call("server.metrics")

import aurora_client.api  # noqa: E402

packages = [part.name for part in pkgutil.iter_modules(aurora_client.api.__path__)]
known = {
    f"{package}.{part.name}"
    for package in packages
    for part in pkgutil.iter_modules(importlib.import_module(f"aurora_client.api.{package}").__path__)
}
assert known == CALLED, known ^ CALLED
