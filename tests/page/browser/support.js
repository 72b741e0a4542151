// Helpers for all browser tests.

import AxeBuilder from "@axe-core/playwright";
import { test as base, expect } from "@playwright/test";

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];

/** Origins of the servers that the Rust test has started. */
const ORIGINS = ["", "_WITH_TOKEN", "_THAT_WRITES", "_OF_EDITED", "_THAT_FOLLOWS"].map((name) => process.env[`AURORA_PAGE${name}`]);

/** Paths in the repository that the Rust test creates. */
export const CACHE = "src/cache.py";
export const HOSTILE = 'web/<b>bold<b> & "odd" [id]/hostile#1?x=%41.py';
export const LONG = "data/long.py";

/** A page that makes the test fail on script errors, violations of the content security policy, and requests to other servers. */
export const test = base.extend({
  page: async ({ page }, use) => {
    const problems = [];
    page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
    page.on("console", (message) => {
      // Chromium reports every error status here. The tests check the expected ones themselves.
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

/** Checks a page with axe. If there are violations, the test fails at its end. */
export async function audit(page) {
  // The legacy mode does not open a second page for each audit. It behaves differently only for frames, which the page does not use.
  const { violations } = await new AxeBuilder({ page }).withTags(TAGS).setLegacyMode(true).analyze();
  const report = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html}\n${node.failureSummary}`).join("\n")}`);
  expect.soft(report).toEqual([]);
}

/** Returns the URL of a view with parameters. */
export function at(view, parameters = {}, hash = "") {
  return `/?${new URLSearchParams({ ...(view === "search" ? {} : { view }), ...parameters })}${hash}`;
}

export { expect };
