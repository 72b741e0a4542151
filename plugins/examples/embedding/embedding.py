"""Embeds texts with a service that has the common embeddings API: texts in `input`, their vectors in `data`."""
import json
import os
import urllib.request
from aurora_stage import Retry, stage


@stage(batch=True)
def embedding(chunk_language, qualified_name, doc, text, config):
    """Embeds all rows of a message with one request. A query is passed as a chunk in the language `query`."""
    rows = zip(chunk_language, qualified_name, doc, text)
    inputs = [text if language == "query" else "\n".join((name, doc, text)) for language, name, doc, text in rows]
    body = json.dumps({"model": config["model"], "input": inputs}).encode()
    request = urllib.request.Request(os.environ["EMBEDDING_URL"], body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return [row["embedding"] for row in json.load(answer)["data"]]
    except OSError as error:
        raise Retry("the embedding service: %s" % error)
