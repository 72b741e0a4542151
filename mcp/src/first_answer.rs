//! Lets a call wait, for a limited time, for the first index run of a project that has no index yet.

use std::time::Duration;

use aurora_live::{LiveProject, Roots, RunPhase, RunStatus, Upkeep};
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use tokio::time::Instant;

/// Maximum time that a call waits for the first index run to publish something. An answer must take less than two
/// seconds.
const MAX_WAIT: Duration = Duration::from_millis(1_700);
/// Interval at which the state of the index run is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Minimum interval between two progress notifications.
const NOTIFY_INTERVAL: Duration = Duration::from_millis(200);

/// Waits, at most [`MAX_WAIT`] in total, until every project whose index is being built has published something to
/// search. Reports the progress meanwhile. Returns a note if index runs are still in progress.
///
/// # Errors
/// Returns the reason if no index can answer.
pub(crate) async fn wait(roots: &Roots, context: &RequestContext<RoleServer>) -> Result<Option<String>, String> {
    let Some(first) = roots.iter().next() else { return Err("There is no root.".to_owned()) };
    let began = Instant::now();
    // The progress values that are sent for one call must not decrease, so the progress of all projects is added up.
    let mut reported = Reported::default();
    if roots.iter().all(|root| root.is_missing()) {
        wait_for(first, began, context, &mut reported).await?;
    }
    for root in roots.iter().filter(|root| root.is_missing() && root.upkeep() == Upkeep::Build) {
        // If this project is not ready in time, the other projects answer, with a note about this one.
        let _ = wait_for(root, began, context, &mut reported).await;
    }
    let notes: Vec<String> = roots.iter().filter_map(|root| unfinished_note(root)).collect();
    Ok((!notes.is_empty()).then(|| notes.join("\n")))
}

/// Returns a note if the first index run of a project has not finished. Updates of a complete index are too short to
/// mention.
fn unfinished_note(live: &LiveProject) -> Option<String> {
    let now = live.status().borrow().clone();
    let is_partial = now.is_running() && live.searcher().is_ok_and(|searcher| !searcher.snapshot().manifest().complete);
    is_partial.then(|| format!("The index is not complete yet: {}. Later answers may know more.", progress_text(&now)))
}

/// The progress that was last reported to the client.
#[derive(Default)]
struct Reported {
    /// Time of the report.
    last: Option<Instant>,
    /// Number of files that were completed at that time.
    done: u64,
}

async fn wait_for(
    live: &LiveProject,
    began: Instant,
    context: &RequestContext<RoleServer>,
    reported: &mut Reported,
) -> Result<(), String> {
    let status = live.status();
    let token = context.meta.get_progress_token();
    let done_before = reported.done;
    while live.is_missing() {
        let now = status.borrow().clone();
        if live.upkeep() != Upkeep::Build && !now.is_running() {
            let root = live.project().root().display().to_string();
            return Err(format!(
                "{root} has no index, and this server does not build it; `aur mem index {root}` does."
            ));
        }
        if now.phase == RunPhase::Failed {
            return Err(format!("There is no index: {}.", now.error.unwrap_or_default()));
        }
        if began.elapsed() >= MAX_WAIT || context.ct.is_cancelled() {
            return Err(format!("The index is being built: {}. Ask again in a moment.", progress_text(&now)));
        }
        if let Some(token) = &token
            && reported.last.is_none_or(|last| last.elapsed() >= NOTIFY_INTERVAL)
        {
            *reported = Reported { last: Some(Instant::now()), done: reported.done.max(done_before + now.files_done) };
            let progress = ProgressNotificationParam::new(token.clone(), reported.done as f64);
            notify(&context.peer, progress, done_before, &now).await;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    Ok(())
}

/// Sends a progress notification. Errors are ignored, because they mean that the client has disconnected.
async fn notify(peer: &Peer<RoleServer>, progress: ProgressNotificationParam, done_before: u64, now: &RunStatus) {
    let progress = progress.with_message(format!("indexing: {}", progress_text(now)));
    let progress = match now.files_total {
        Some(total) => progress.with_total((done_before + total) as f64),
        None => progress,
    };
    let _ = peer.notify_progress(progress).await;
}

/// Describes the progress of a run in words.
pub(crate) fn progress_text(status: &RunStatus) -> String {
    match status.files_total {
        _ if status.commits_total > 0 => format!(
            "all files are done, and {} of {} commits of their history have been read",
            status.commits_done, status.commits_total
        ),
        Some(total) => format!("{} of {total} files are done", status.files_done),
        None => "listing the files".to_owned(),
    }
}
