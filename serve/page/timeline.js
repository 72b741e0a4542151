// Shows the timeline of a run: when each stage was active, and what its workers did in that time.

import { element } from "./dom.js";
import { count, counted, duration } from "./format.js";

/** The states of workers, with their labels in the legend. */
const STATES = [
  ["busy", "At work"],
  ["starved", "Waiting for input"],
  ["blocked", "Waiting to send, or for memory"],
];
/** Maximum number of ticks on the axis. */
const MAX_TICKS = 6;

/** Returns the timeline of a run in an answer of the server. */
export function timeline(run) {
  const end = Math.max(...run.stages.map((stage) => stage.last_ms), 1);
  const heads = [["Stage"], ["Workers", "figure"], [axis(end), "times"], ["At work", "figure"], ["Files", "figure"], ["Chunks", "figure"]];
  const head = heads.map(([content, kind]) => element("th", { scope: "col", class: kind }, content));
  const rows = run.stages.map((stage) => row(stage, end, stage.name === run.bottleneck));
  return element(
    "div",
    { class: "timeline" },
    element("div", { class: "table", role: "region", tabindex: "0", "aria-label": "Stages" }, element("table", {}, element("thead", {}, element("tr", {}, head)), element("tbody", {}, rows))),
    legend(),
  );
}

function row(stage, end, isBottleneck) {
  const all = stage.busy_ms + stage.starved_ms + stage.blocked_ms || 1;
  const variables = { from: stage.first_ms / end, share: Math.max(stage.last_ms - stage.first_ms, 0) / end };
  const part = ([state, words]) => {
    const time = stage[`${state}_ms`];
    const title = `${words}: ${duration(time)}, ${percent(time / all)}`;
    return time > 0 && element("span", { class: `part ${state}`, title, variables: { share: time / all } });
  };
  const described = STATES.map(([state, words]) => `${words.toLowerCase()} ${percent(stage[`${state}_ms`] / all)}`).join(", ");
  const label = `From ${duration(stage.first_ms)} to ${duration(stage.last_ms)}: ${described}`;
  return element(
    "tr",
    { class: isBottleneck ? "bottleneck" : null },
    element("th", { scope: "row" }, stage.name, isBottleneck && element("span", { class: "badge warn" }, "bottleneck")),
    element("td", { class: "figure" }, count(stage.workers)),
    element(
      "td",
      { class: "times" },
      element("div", { class: "track" }, element("span", { class: "span", role: "img", "aria-label": label, variables }, STATES.map(part))),
      // On narrow screens, the other columns are hidden, so their values are shown here.
      element("div", { class: "in-words" }, inWords(stage)),
    ),
    element("td", { class: "figure" }, `${duration(stage.busy_ms)} · ${percent(stage.utilisation)}`),
    element("td", { class: "figure" }, count(stage.files)),
    element("td", { class: "figure" }, count(stage.chunks)),
  );
}

function inWords(stage) {
  const work = `at work ${duration(stage.busy_ms)} (${percent(stage.utilisation)})`;
  return [counted(stage.workers, "worker"), work, counted(stage.files, "file"), counted(stage.chunks, "chunk")].join(", ");
}

/** Returns ticks at round times. */
function axis(end) {
  const rough = end / MAX_TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
  const ticks = [];
  for (let at = 0; at <= end; at += step) {
    ticks.push(element("span", { class: "tick", variables: { from: at / end } }, at === 0 ? "0" : duration(at).replace(".0 ", " ")));
  }
  return element("div", { class: "axis" }, ticks);
}

function legend() {
  const entry = ([state, words]) => element("li", {}, element("span", { class: `swatch ${state}` }), words);
  return [
    element("ul", { class: "legend", "aria-label": "Colours" }, STATES.map(entry)),
    element("p", { class: "faint" }, "A bar extends from the first to the last work of a stage. Its colours are shares of the time of the stage’s workers."),
  ];
}

function percent(share) {
  return `${Math.round(share * 100)} %`;
}
