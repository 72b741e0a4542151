//! The timeline of the stages of a run, as SVG.

use std::fmt::Write as _;
use std::time::Duration;

use aurora_stages::index::RunRecord;

use super::escape::html;
use crate::units;

/// Height of a row, and positions and widths in the drawing, in its units.
const ROW: f64 = 26.0;
const BAR: f64 = 14.0;
const LEFT: f64 = 170.0;
const WIDTH: f64 = 900.0;
const RIGHT: f64 = 190.0;
/// Maximum number of ticks of the axis.
const MAX_TICKS: f64 = 6.0;
/// Maximum number of characters of the name of a stage.
const MAX_NAME_CHARS: usize = 22;

/// Draws when each stage was active. The colours of a bar are the shares of the time that its workers worked, waited for
/// input, and waited to send or for memory.
pub(super) fn svg(run: &RunRecord) -> String {
    let end = run.stages.iter().map(|stage| stage.last_ms).fold(1.0, f64::max);
    let x = |ms: f64| LEFT + ms / end * (WIDTH - LEFT - RIGHT);
    let height = ROW * (run.stages.len() as f64 + 1.0);
    let mut out = format!(
        "<svg class=\"timeline\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"Timeline of the stages\">\n"
    );
    let step = round_step(end / MAX_TICKS);
    let mut tick = 0.0;
    while tick <= end {
        let (at, label) = (x(tick), time(tick));
        let _ = write!(
            out,
            "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{ROW}\" y2=\"{height}\"/>\
             <text class=\"faint\" x=\"{at:.1}\" y=\"16\">{label}</text>"
        );
        tick += step;
    }
    for (stage, row) in run.stages.iter().zip(1..) {
        let top = f64::from(row) * ROW;
        let middle = top + BAR;
        let mut name: String = stage.name.chars().take(MAX_NAME_CHARS).collect();
        if name.len() < stage.name.len() {
            name.push('…');
        }
        let name = html(&name);
        let bottleneck = if run.bottleneck.as_deref() == Some(&stage.name) { " class=\"strong\"" } else { "" };
        let _ = write!(out, "<text{bottleneck} x=\"0\" y=\"{middle}\">{name}</text>");
        let all = (stage.busy_ms + stage.starved_ms + stage.blocked_ms).max(f64::MIN_POSITIVE);
        let (mut from, to) = (x(stage.first_ms), x(stage.last_ms.max(stage.first_ms)));
        let whole = (to - from).max(1.0);
        let parts = [("busy", stage.busy_ms), ("starved", stage.starved_ms), ("blocked", stage.blocked_ms)];
        for (class, ms) in parts {
            let width = ms / all * whole;
            let title = format!("{}: {class} {}", stage.name, time(ms));
            let _ = write!(
                out,
                "<rect class=\"{class}\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{BAR}\"><title>{}</title></rect>",
                top + 3.0,
                html(&title)
            );
            from += width;
        }
        let figures = format!("{} busy, {} %", time(stage.busy_ms), (stage.utilisation * 100.0).round());
        let _ = writeln!(out, "<text class=\"faint\" x=\"{:.1}\" y=\"{middle}\">{figures}</text>", to + 8.0);
    }
    out.push_str("</svg>\n");
    out
}

fn time(ms: f64) -> String {
    units::duration(Duration::from_secs_f64((ms / 1e3).max(0.0)))
}

/// Returns the smallest number of the form 1, 2 or 5 times a power of ten that is at least `rough`.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0].map(|factor| factor * power).into_iter().find(|step| *step >= rough).unwrap_or(10.0 * power)
}
