"""The recipe of the contextual reranker; README.md beside this file says how it is run."""
