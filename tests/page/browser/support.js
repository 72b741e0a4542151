// What all specifications share.

import AxeBuilder from "@axe-core/playwright";
import { test as base, expect } from "@playwright/test";

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];

/** The servers that the Rust side has started. */
const ORIGINS = ["", "_WITH_TOKEN", "_THAT_WRITES", "_OF_EDITED", "_THAT_FOLLOWS"].map((name) => process.env[`AURORA_PAGE${name}`]);

/** Paths of the repository that the Rust side makes. */
export const CACHE = "src/cache.py";
export const HOSTILE = 'web/<b>bold<b> & "odd" [id]/hostile#1?x=%41.py';
export const LONG = "data/long.py";

/** A page that fails the test on errors of scripts, on anything that its policy refuses, and on requests to elsewhere. */
export const test = base.extend({
  page: async ({ page }, use) => {
    const problems = [];
    page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
    page.on("console", (message) => {
      // Chromium reports each status of an error here; whether it was right to have one is for the specification to say.
      if (message.type() === "error" && !message.text().includes("responded with a status of")) {
        problems.push(`console: ${message.text()}`);
      }
    });
    page.on("request", (request) => {
      if (!request.url().startsWith("data:") && !ORIGINS.includes(new URL(request.url()).origin)) {
        problems.push(`request to ${request.url()}`);
      }
    });
    await use(page);
    expect(problems).toEqual([]);
  },
});

/** Lets axe look at a page; what it finds fails the test at its end. */
export async function audit(page) {
  // The legacy mode opens no second page for each audit. It differs for frames only, and there are none.
  const { violations } = await new AxeBuilder({ page }).withTags(TAGS).setLegacyMode(true).analyze();
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html}\n${node.failureSummary}`).join("\n")}`);
  expect.soft(told).toEqual([]);
}

/** The URL of a view with parameters. */
export function at(view, parameters = {}, hash = "") {
  return `/?${new URLSearchParams({ ...(view === "search" ? {} : { view }), ...parameters })}${hash}`;
}

export { expect };
