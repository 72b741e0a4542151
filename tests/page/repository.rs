//! The repositories that the web page shows in the browser tests.

use crate::fixture::Fixture;

const CACHE: &str = r#""""A cache of pages."""


class PageCache:
    """Keeps the pages that were read last."""

    def __init__(self, size):
        self.size = size
        self.pages = []

    def read_page(self, name):
        """Read a page from the cache, or from the disk."""
        if name not in self.pages:
            self.evict_oldest()
            self.pages.append(load_page(name))
        return self.pages[-1]

    def evict_oldest(self):
        """Remove the page that was not read for the longest time."""
        if len(self.pages) > self.size:
            self.pages = drop_page(self.pages)


def load_page(name):
    """Read a page from the disk."""
    return open(name).read()


def drop_page(pages):
    """Remove a page from the cache."""
    return pages[1:]


def warm_cache(cache, names):
    """Fill the cache before the first request."""
    for name in names:
        cache.read_page(name)
"#;

const RETRY: &str = "package http

// RetryWithBackoff calls f again after a growing pause until it succeeds.
func RetryWithBackoff(f func() error) error {
	for {
		if err := f(); err == nil {
			return nil
		}
		Pause(2)
	}
}

// Pause waits for some seconds.
func Pause(seconds int) {
}
";

/// A file with the same name as the file that contains [`REMOTE_JOBS`], and with a call of a function in that file.
/// Together, the two files have three definitions called `open_store`.
const LOCAL_JOBS: &str = r#""""Jobs that are kept on this machine."""

from store.remote.jobs import encode_job


class LocalJobs:
    """Keeps jobs in a list."""

    def add_job(self, job):
        """Keep a job."""
        self.jobs.append(encode_job(job))

    def open_store(self):
        """Begin with nothing."""
        self.jobs = []


def open_store(path):
    """Keep jobs in a directory."""
    return LocalJobs()
"#;
const REMOTE_JOBS: &str = r#""""Jobs that are kept elsewhere."""


def encode_job(job):
    """Write a job as bytes."""
    return bytes(job)


def open_store(address):
    """Keep jobs at an address."""
    return address
"#;

const QUEUE: &str = "# A queue of jobs.\nclass Queue\n  def push(job)\n  end\nend\n";

/// Markup, a script, quotes and bidirectional control characters, in all kinds of text that a page shows.
const HOSTILE: &str = r#"# <img src=x onerror="document.title='owned'">
def hostile_name(text="</script><script>document.title='owned'</script>"):
    """Hostile <b>markup</b> <script>document.title='owned'</script> & 'quotes' "here"."""
    return "größe 日本 hostile" + text
"#;

/// Path of the file with hostile texts.
const HOSTILE_PATH: &str = "web/<b>bold<b> & \"odd\" [id]/hostile#1?x=%41.py";
/// Path of the file with 20,000 lines.
const LONG_PATH: &str = "data/long.py";

/// Creates an indexed repository with two commits by two authors, several languages, skipped files, a long file, and
/// texts that would harm a careless page.
pub(crate) fn indexed() -> Fixture {
    let fixture = Fixture::git_in_memory();
    fixture.write(".gitignore", ".aurora/\n").write("README.md", "# Pages\n\nHow the cache of pages works.\n");
    fixture.write("src/cache.py", CACHE).write("http/retry.go", RETRY).write(HOSTILE_PATH, HOSTILE);
    fixture.write("store/local/jobs.py", LOCAL_JOBS).write("store/remote/jobs.py", REMOTE_JOBS);
    fixture.write("store/steps.py", steps());
    fixture.write("assets/logo.png", [0x89, b'P', b'N', b'G', 0, 1, 2, 3]).write("Cargo.lock", "version = 4\n");
    fixture
        .write("web/plain/view.py", "def plain_view():\n    \"\"\"Nothing hostile.\"\"\"\n")
        .write(LONG_PATH, long_file());
    fixture.commit("Pages are cached");
    fixture.write("src/cache.py", CACHE.replace("pages[1:]", "pages[1:]  # the oldest is the first"));
    fixture.run_git(&["-c", "user.name=Grace &amp; Hopper", "commit", "--all", "--quiet", "--message", "Say which"]);
    let run = fixture.aur(&["mem", "index", "--quiet"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    // The first change is indexed by a second run. The other change is not indexed.
    fixture.write("http/retry.go", RETRY.replace("Pause(2)", "Pause(3)"));
    let run = fixture.aur(&["mem", "index", "--quiet"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    fixture.write("README.md", "# Pages\n\nHow the cache of pages works now.\n");
    fixture
}

/// Returns a file with 20,000 lines.
fn long_file() -> String {
    let function =
        |number: usize| format!("def step_{number}(value):\n    \"\"\"Step {number}.\"\"\"\n    return value\n\n");
    (0..5_000).map(function).collect()
}

/// Returns a file with a method that is too long for one chunk, and with code outside of definitions.
fn steps() -> String {
    let begin = "import os\n\nPLACE = os.getcwd()\n\n\nclass Steps:\n    def take_all(self, value):\n";
    let step = |number: usize| format!("        value = self.take(value, {number}, PLACE)\n");
    begin.to_owned() + &(0..400).map(step).collect::<String>() + "        return value\n"
}

/// Creates a small project whose files a browser test changes.
pub(crate) fn edited() -> Fixture {
    let fixture = Fixture::git_in_memory();
    fixture.write(".gitignore", ".aurora/\n");
    fixture.write("birds.py", "def sparrow_flies():\n    return 1\n\n\ndef sparrow_sings():\n    return 2\n");
    fixture.commit("Birds");
    let run = fixture.aur(&["mem", "index", "--quiet"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    fixture
}

/// Creates a project that a server indexes again while the page is open. The files are so long that indexing takes a
/// moment.
pub(crate) fn growing() -> Fixture {
    let fixture = Fixture::git_in_memory();
    for number in 0..4 {
        fixture.write(&format!("steps/{number}.py"), long_file());
    }
    let run = fixture.aur(&["mem", "index", "--quiet"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    fixture
}

/// Creates a second indexed project. It uses the home directory of `owner`, or its own home directory if there is no
/// owner.
pub(crate) fn other(owner: Option<&Fixture>) -> Fixture {
    let fixture = Fixture::git_in_memory();
    fixture.write(".gitignore", ".aurora/\n").write("lib/queue.rb", QUEUE);
    fixture.commit("first");
    let root = fixture.root().to_str().expect("the path is UTF-8");
    let run = owner.unwrap_or(&fixture).aur(&["mem", "index", "--quiet", root]);
    assert_eq!(run.code, Some(0), "{run:?}");
    fixture
}
