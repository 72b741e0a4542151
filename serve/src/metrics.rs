//! The metrics of the server, in the OpenMetrics text format.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aurora_live::Roots;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Upper bounds of the histogram buckets for durations, in seconds.
const BUCKETS: [f64; 12] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0, 30.0];

/// The labels of requests: their route and result.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: String,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RootLabels {
    root: String,
}

/// Metrics of the server.
#[derive(Clone)]
pub(crate) struct Metrics {
    pub(crate) open_connections: Gauge,
    pub(crate) refused_connections: Counter,
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabels, Histogram>,
    generations: Family<RootLabels, Gauge>,
    chunks: Family<RootLabels, Gauge>,
    files: Family<RootLabels, Gauge>,
    registry: Arc<Mutex<Registry>>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("aurora");
        let metrics = Self {
            open_connections: Gauge::default(),
            refused_connections: Counter::default(),
            requests: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            generations: Family::default(),
            chunks: Family::default(),
            files: Family::default(),
            registry: Arc::default(),
        };
        registry.register("open_connections", "Open connections", metrics.open_connections.clone());
        registry.register(
            "refused_connections",
            "Connections that were closed because too many were open",
            metrics.refused_connections.clone(),
        );
        registry.register("requests", "Answered requests", metrics.requests.clone());
        registry.register_with_unit(
            "request",
            "Time from a request to its answer",
            Unit::Seconds,
            metrics.durations.clone(),
        );
        registry.register("index_generation", "Generation of the index in use", metrics.generations.clone());
        registry.register("index_chunks", "Chunks in the index", metrics.chunks.clone());
        registry.register("index_files", "Files in the index", metrics.files.clone());
        *metrics.registry.lock().unwrap_or_else(PoisonError::into_inner) = registry;
        metrics
    }

    /// Counts an answered request. `route` is the pattern of the path, not the path itself.
    pub(crate) fn answered(&self, method: &str, route: &str, status: u16, took: Duration) {
        let labels = RequestLabels { method: method.to_owned(), route: route.to_owned(), status };
        self.requests.get_or_create(&labels).inc();
        self.durations.get_or_create(&RouteLabels { route: route.to_owned() }).observe(took.as_secs_f64());
    }

    /// Returns all metrics as text.
    ///
    /// # Errors
    /// Returns an error only if writing to a string fails, which does not happen.
    pub(crate) fn text(&self, roots: &Roots) -> Result<String, fmt::Error> {
        for root in roots.iter() {
            let Some(searcher) = root.opened() else { continue };
            let manifest = searcher.snapshot().manifest();
            let set = |family: &Family<RootLabels, Gauge>, value: u64| {
                let labels = RootLabels { root: root.name().to_owned() };
                family.get_or_create(&labels).set(i64::try_from(value).unwrap_or(i64::MAX));
            };
            set(&self.generations, manifest.generation);
            set(&self.chunks, manifest.chunk_count);
            set(&self.files, manifest.file_count);
        }
        let mut text = String::new();
        encode(&mut text, &self.registry.lock().unwrap_or_else(PoisonError::into_inner))?;
        Ok(text)
    }
}
