// The displayed results are updated when the index changes. These tests change the files of a separate project.

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { at, expect, test } from "../support.js";

test.use({ baseURL: process.env.AURORA_PAGE_OF_EDITED });
test.describe.configure({ mode: "default" });

const named = (page, name) => page.locator(".result-name", { hasText: name });
const write = (path, text) => writeFileSync(join(process.env.AURORA_EDITED_ROOT, path), text);
const birds = (...names) => write("birds.py", names.map((name) => `def ${name}():\n    return 1\n`).join("\n\n"));

/** Collects the bodies of the search requests that a page sends. */
function searches(page) {
  const bodies = [];
  page.on("request", (request) => request.url().endsWith("/search") && bodies.push(request.postDataJSON()));
  return bodies;
}

test("an edit is shown without a key press, and nothing moves", async ({ page }) => {
  const bodies = searches(page);
  await page.goto(at("search", { q: "sparrow", mode: "sparse" }));
  await expect(named(page, "sparrow_")).toHaveCount(2);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("j");
  const chosen = await page.locator(":focus").textContent();
  const shown = page.url();
  birds("sparrow_lands", "sparrow_flies", "sparrow_sings");
  await expect(named(page, "sparrow_lands")).toBeVisible();
  await expect(named(page, chosen)).toBeFocused();
  await expect(page.locator(".result.selected .result-name")).toHaveText(chosen);
  expect(page.url()).toBe(shown);
  expect(await page.evaluate(() => scrollY)).toBe(0);
  expect(bodies.length).toBeGreaterThan(1);
  expect(bodies.every((body) => body.record === false)).toBe(true);
});

test("Enter searches again if the results are outdated, and moves to them otherwise", async ({ page }) => {
  await page.goto(at("search", { q: "heron", mode: "sparse" }));
  await expect(page.locator(".status")).toContainText("Nothing was found");
  let isRefusing = true;
  let refused;
  const wasRefused = new Promise((resolve) => (refused = resolve));
  await page.route("**/api/v1/search", (route) => {
    if (!isRefusing) {
      return route.continue();
    }
    return route.fulfill({ status: 503, json: { error: "too many requests wait" } });
  });
  page.on("response", (response) => response.status() === 503 && refused());
  write("waders.py", "def heron_waits():\n    return 1\n");
  await wasRefused;
  // A background query that fails leaves the results on the screen.
  await expect(page.getByRole("alert")).toHaveCount(0);
  isRefusing = false;
  await page.locator("#query").focus();
  await page.keyboard.press("Enter");
  await expect(named(page, "heron_waits")).toBeVisible();
  await expect(page.locator("#query")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(named(page, "heron_waits")).toBeFocused();
});

test("a server that only follows the index is queried again when the window gets the focus", async ({ page }) => {
  await page.goto(`${process.env.AURORA_PAGE_THAT_FOLLOWS}${at("search", { q: "cormorant", mode: "sparse" })}`);
  await expect(page.locator(".status")).toContainText("Nothing was found");
  write("divers.py", "def cormorant_dives():\n    return 1\n");
  await expect(async () => {
    await page.evaluate(() => dispatchEvent(new Event("focus")));
    await expect(named(page, "cormorant_dives")).toBeVisible({ timeout: 1_000 });
  }).toPass();
});

test("views share one connection, and a view that needs no events ends it", async ({ page }) => {
  const connections = [];
  page.on("request", (request) => request.url().includes("index/events") && connections.push(request));
  const ended = page.waitForEvent("requestfailed", (request) => request.url().includes("index/events"));
  await page.goto(at("search", { q: "sparrow" }));
  await expect(page.locator(".result")).not.toHaveCount(0);
  const views = page.getByRole("navigation", { name: "Views" });
  await views.getByRole("link", { name: "Runs" }).click();
  await expect(page.locator(".run-list a")).not.toHaveCount(0);
  await views.getByRole("link", { name: "Search" }).click();
  await expect(page.locator(".result:visible, .message:visible")).not.toHaveCount(0);
  expect(connections).toHaveLength(1);
  await views.getByRole("link", { name: "Contents" }).click();
  await ended;
});
