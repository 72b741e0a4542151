//! The metrics of the server, in the OpenMetrics text format.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aurora_live::{LiveProject, Roots};
use aurora_memory::{MemoryOperation, OperationResult};
use aurora_project::{FeedbackReport, Interface, has_close_result, last_run};
use aurora_query::{Mode, SearchResults};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry, Unit};

/// Upper bounds of the histogram buckets for durations, in seconds.
const BUCKETS: [f64; 12] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0, 30.0];

/// Upper bounds of the histogram buckets for numbers of results.
const RESULT_BUCKETS: [f64; 8] = [0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];

/// The names and values of `N` labels.
type Labels<const N: usize> = [(&'static str, String); N];

/// Metrics of the server.
pub(crate) struct Metrics {
    pub(crate) open_connections: Gauge,
    pub(crate) refused_connections: Counter,
    requests: Family<Labels<3>, Counter>,
    durations: Family<Labels<1>, Histogram>,
    searches: Family<Labels<2>, Histogram>,
    phases: Family<Labels<2>, Histogram>,
    results: Histogram,
    without_close_result: Counter,
    without_vectors: Counter,
    feedback: Family<Labels<1>, Counter>,
    memory_operations: Family<Labels<2>, Counter>,
    memory_durations: Family<Labels<1>, Histogram>,
    cache_uses: Family<Labels<3>, Counter>,
    indexes: IndexMetrics,
    registry: Registry,
}

/// A gauge of whole numbers for each root.
type RootGauge = Family<Labels<1>, Gauge>;

/// Metrics of the indexes and of their last runs, by root.
struct IndexMetrics {
    generation: RootGauge,
    chunks: RootGauge,
    files: RootGauge,
    age: RootGauge,
    complete: RootGauge,
    failed_rows: RootGauge,
    size: RootGauge,
    run_end: RootGauge,
    run_duration: Family<Labels<1>, Gauge<f64, AtomicU64>>,
    run_good: RootGauge,
}

impl IndexMetrics {
    fn new(registry: &mut Registry) -> Self {
        let mut with_unit = |name: &str, help: &str, unit: Unit| {
            let gauge = RootGauge::default();
            registry.register_with_unit(name, help, unit, gauge.clone());
            gauge
        };
        let age = with_unit("index_age", "Time since the generation was published", Unit::Seconds);
        let size = with_unit("index_size", "Size of the index on disk after the last run", Unit::Bytes);
        let run_end = with_unit("index_run_end_timestamp", "End of the last run in Unix time", Unit::Seconds);
        let run_duration = Family::<Labels<1>, Gauge<f64, AtomicU64>>::default();
        let help = "Wall-clock time of the last run";
        registry.register_with_unit("index_run_duration", help, Unit::Seconds, run_duration.clone());
        Self {
            generation: registered(registry, "index_generation", "Generation of the index in use"),
            chunks: registered(registry, "index_chunks", "Chunks in the index"),
            files: registered(registry, "index_files", "Files in the index"),
            age,
            complete: registered(registry, "index_complete", "Whether the run of the generation has finished"),
            failed_rows: registered(registry, "index_failed_rows", "Rows on which a stage failed"),
            size,
            run_end,
            run_duration,
            run_good: registered(
                registry,
                "index_run_good",
                "Whether the last run is complete and violates no requirement",
            ),
        }
    }

    /// Reads the values of a root. A root without an index has no values.
    fn update(&self, root: &LiveProject, now: i64) {
        let Some(snapshot) = root.snapshot() else { return };
        let labels = [("root", root.name().to_owned())];
        let set = |gauge: &RootGauge, value: u64| {
            gauge.get_or_create(&labels).set(i64::try_from(value).unwrap_or(i64::MAX));
        };
        let manifest = snapshot.manifest();
        set(&self.generation, manifest.generation);
        set(&self.chunks, manifest.chunk_count);
        set(&self.files, manifest.file_count);
        set(&self.age, (now - manifest.updated).max(0).unsigned_abs());
        set(&self.complete, u64::from(manifest.complete));
        let unfinished = &manifest.unfinished;
        let failed = unfinished.rows.iter().map(|rows| rows.failed).sum::<u64>() + unfinished.failures.len() as u64;
        set(&self.failed_rows, failed);
        let Some(run) = last_run(root.project(), &snapshot) else { return };
        set(&self.run_end, run.ended.max(0).unsigned_abs());
        set(&self.run_good, u64::from(run.is_good()));
        self.run_duration.get_or_create(&labels).set(run.elapsed_ms as f64 / 1e3);
        if run.index_bytes > 0 {
            set(&self.size, run.index_bytes);
        }
    }
}

/// Creates a metric and registers it.
fn registered<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

/// Creates histograms of durations, one for each combination of labels.
fn durations_by<const N: usize>() -> Family<Labels<N>, Histogram> {
    Family::new_with_constructor((|| Histogram::new(BUCKETS)) as fn() -> Histogram)
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("aurora");
        let refused = "Connections that were closed because too many were open";
        let open_connections = registered(&mut registry, "open_connections", "Open connections");
        let refused_connections = registered(&mut registry, "refused_connections", refused);
        let requests = registered(&mut registry, "requests", "Answered requests");
        let durations = durations_by();
        registry.register_with_unit("request", "Time from a request to its answer", Unit::Seconds, durations.clone());
        let (searches, phases) = (durations_by(), durations_by());
        let help = "Duration of searches, by interface and mode";
        registry.register_with_unit("search_duration", help, Unit::Seconds, searches.clone());
        let help = "Duration of the phases of searches, by phase and mode";
        registry.register_with_unit("search_phase_duration", help, Unit::Seconds, phases.clone());
        let results = Histogram::new(RESULT_BUCKETS);
        registry.register("search_results", "Results of a search", results.clone());
        let without_close_result =
            registered(&mut registry, "searches_without_close_result", "Searches without a close result");
        let without_vectors = registered(
            &mut registry,
            "searches_without_vectors",
            "Searches in mode hybrid that ranked by keywords only, because the query could not be embedded",
        );
        let feedback = registered(&mut registry, "feedback", "Judged results, by verdict");
        let memory_operations =
            registered(&mut registry, "memory_operations", "Operations on memory, by operation and result");
        let memory_durations = durations_by();
        let help = "Duration of operations on memory, by operation";
        registry.register_with_unit("memory_operation_duration", help, Unit::Seconds, memory_durations.clone());
        let help = "Uses of the caches of searches, by root, cache and result (hit or miss)";
        let cache_uses = registered(&mut registry, "cache_uses", help);
        let indexes = IndexMetrics::new(&mut registry);
        Self {
            open_connections,
            refused_connections,
            requests,
            durations,
            searches,
            phases,
            results,
            without_close_result,
            without_vectors,
            feedback,
            memory_operations,
            memory_durations,
            cache_uses,
            indexes,
            registry,
        }
    }

    /// Counts an answered request. `route` is the pattern of the path, not the path itself.
    pub(crate) fn answered(&self, method: &str, route: &str, status: u16, took: Duration) {
        let route = ("route", route.to_owned());
        self.durations.get_or_create(std::array::from_ref(&route)).observe(took.as_secs_f64());
        let labels = [("method", method.to_owned()), route, ("status", status.to_string())];
        self.requests.get_or_create(&labels).inc();
    }

    /// Counts an answered search.
    pub(crate) fn searched(&self, via: Interface, found: &SearchResults) {
        let mode = ("mode", found.mode.as_str().to_owned());
        let labels = [("interface", via.as_str().to_owned()), mode.clone()];
        self.searches.get_or_create(&labels).observe(found.took.as_secs_f64());
        for (phase, time) in found.phases.iter().filter(|(_, time)| !time.is_zero()) {
            self.phases.get_or_create(&[("phase", phase.to_owned()), mode.clone()]).observe(time.as_secs_f64());
        }
        self.results.observe(found.hits.len() as f64);
        if !has_close_result(found) {
            self.without_close_result.inc();
        }
        if found.mode == Mode::Hybrid && !found.phases.is_empty() && found.phases.vectors.is_zero() {
            self.without_vectors.inc();
        }
    }

    /// Counts a verdict, once for each judged result.
    pub(crate) fn judged(&self, report: &FeedbackReport) {
        let verdict = format!("{:?}", report.verdict).to_lowercase();
        self.feedback.get_or_create(&[("verdict", verdict)]).inc_by(report.chunks.len() as u64);
    }

    /// Counts an operation on memory.
    pub(crate) fn remembered(&self, operation: MemoryOperation, result: OperationResult, took: Duration) {
        let operation = ("operation", operation.as_str().to_owned());
        self.memory_durations.get_or_create(std::array::from_ref(&operation)).observe(took.as_secs_f64());
        self.memory_operations.get_or_create(&[operation, ("result", result.as_str().to_owned())]).inc();
    }

    /// Returns all metrics as text, at the time `now` in Unix seconds.
    ///
    /// # Errors
    /// Returns an error only if writing to a string fails, which does not happen.
    pub(crate) fn text(&self, roots: &Roots, now: i64) -> Result<String, fmt::Error> {
        for root in roots.iter() {
            for (cache, counts) in root.cache_counts() {
                for (result, count) in [("hit", counts.hits), ("miss", counts.misses)] {
                    let labels =
                        [("root", root.name().to_owned()), ("cache", cache.to_owned()), ("result", result.to_owned())];
                    // The caches count their uses themselves. Counts never decrease, also if requests overlap.
                    self.cache_uses.get_or_create(&labels).inner().fetch_max(count, Ordering::Relaxed);
                }
            }
            self.indexes.update(root, now);
        }
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
