//! Texts in batches of the size that an indexing run uses.

use std::path::{Path, PathBuf};

use serde_json::json;

/// Size of a corpus, in bytes.
const CORPUS: usize = 100_000_000;
/// Size of a corpus with short rows, in bytes. It is smaller, because short rows take longer per byte.
const SHORT_CORPUS: usize = 20_000_000;
/// Size of the texts in a batch, in bytes: the default of `batch_bytes`.
const BATCH: usize = 1 << 20;
/// Maximum number of rows in a message: the default of `rows`.
const ROWS: usize = 256;
/// Length in bytes at which a chunk ends. The line that reaches this length is still part of the chunk.
const CHUNK: usize = 560;
/// Typical lines of programs, with characters that JSON escapes.
const LINES: [&str; 24] = [
    "    fn charge(&self, amount: Money) -> Result<Receipt, PaymentError> {\n",
    "        let receipt = self.gateway.charge(&self.card, amount)?;\n",
    "        log::debug!(\"charged {amount} for {}\", self.customer.id);\n",
    "        Ok(Receipt { id: receipt.id, at: SystemTime::now() })\n",
    "    }\n",
    "\n",
    "\tif err := store.Put(ctx, key, value); err != nil {\n",
    "\t\treturn fmt.Errorf(\"put %q: %w\", key, err)\n",
    "\t}\n",
    "\treturn nil\n",
    "}\n",
    "def render(self, template, **context):\n",
    "    \"\"\"Renders a template of the application's directory.\"\"\"\n",
    "    path = os.path.join(self.root, template.replace(\"\\\\\", \"/\"))\n",
    "    with open(path, encoding=\"utf-8\") as source:\n",
    "        return self.environment.from_string(source.read()).render(context)\n",
    "# Größen über 10 KiB werden nicht zwischengespeichert.\n",
    "  const response = await fetch(`/api/orders/${order.id}`, { method: \"POST\" });\n",
    "  if (!response.ok) throw new HttpError(response.status, await response.text());\n",
    "/// Returns the number of rows which the statement has changed since the transaction began.\n",
    "    private final Map<String, List<Subscriber>> subscribers = new ConcurrentHashMap<>();\n",
    "        for (int index = 0; index < values.length; index++) {\n",
    "            total += values[index] * weights[index % weights.length];\n",
    "        }\n",
];

/// Rows, divided into batches.
pub(crate) struct Corpus {
    pub(crate) name: &'static str,
    pub(crate) batches: Vec<Vec<String>>,
}

impl Corpus {
    /// Creates chunks of generated source code.
    pub(crate) fn generated() -> Self {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let chunk = |_| {
            let longest = CHUNK / 2 + random.below(CHUNK);
            let mut text = String::new();
            while text.len() < longest {
                text.push_str(LINES[random.below(LINES.len())]);
            }
            text
        };
        Self::new("source code", (0..).map(chunk), CORPUS)
    }

    /// Creates short names.
    pub(crate) fn short() -> Self {
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        let name = |row| format!("module_{}::render_{row}", random.below(1_000));
        Self::new("names", (0..).map(name), SHORT_CORPUS)
    }

    /// Reads the files of a directory as chunks, which are repeated until the corpus is large enough.
    pub(crate) fn from_directory(root: &Path) -> Self {
        let mut files = Vec::new();
        collect(root, &mut files);
        files.sort();
        let texts = files.iter().filter_map(|file| String::from_utf8(std::fs::read(file).ok()?).ok());
        let chunks: Vec<String> = texts.flat_map(|text| chunks(&text)).collect();
        assert!(!chunks.is_empty(), "{}: no text", root.display());
        Self::new("files", chunks.into_iter().cycle(), CORPUS)
    }

    fn new(name: &'static str, texts: impl Iterator<Item = String>, most: usize) -> Self {
        let (mut batches, mut batch, mut total, mut held) = (Vec::new(), Vec::new(), 0, 0);
        for text in texts {
            total += text.len();
            held += text.len();
            batch.push(text);
            if held >= BATCH {
                batches.push(std::mem::take(&mut batch));
                held = 0;
            }
            if total >= most {
                break;
            }
        }
        batches.push(batch);
        Self { name, batches }
    }

    pub(crate) fn rows(&self) -> usize {
        self.batches.iter().map(Vec::len).sum()
    }

    pub(crate) fn text_bytes(&self) -> usize {
        self.batches.iter().flatten().map(String::len).sum()
    }

    /// Returns the messages that a stage receives for these rows.
    pub(crate) fn json_lines(&self) -> Vec<Vec<u8>> {
        let messages = self.batches.iter().flat_map(|batch| batch.chunks(ROWS)).enumerate();
        let line = |(id, texts): (usize, &[String])| {
            let message = json!({
                "type": "batch",
                "id": id,
                "files": { "count": 1, "columns": {} },
                "chunks": { "count": texts.len(), "file": vec![0; texts.len()], "columns": { "text": texts } },
            });
            let mut line = serde_json::to_vec(&message).expect("the message is JSON");
            line.push(b'\n');
            line
        };
        messages.map(line).collect()
    }
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !is_hidden => collect(&entry.path(), files),
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
}

/// Divides a text into chunks of whole lines.
fn chunks(text: &str) -> Vec<String> {
    let mut chunks = vec![String::new()];
    for line in text.split_inclusive('\n') {
        if chunks.last().is_some_and(|chunk| chunk.len() >= CHUNK) {
            chunks.push(String::new());
        }
        chunks.last_mut().expect("there is always a chunk").push_str(line);
    }
    chunks
}

/// An xorshift generator of random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}
