// Checks each view against WCAG 2.1 AA, as far as axe can: light and dark, narrow and wide.

import { CACHE, at, audit, expect, test } from "../support.js";

/** The views, each with an element that must exist before the view is checked. */
const VIEWS = [
  ["welcome", at("search"), ".message"],
  ["results", at("search", { q: "read a page", lang: "python" }), ".result"],
  ["problem", at("search", { q: "x", path: "[" }), "[role=alert]"],
  ["file", at("file", { path: CACHE, blame: "1" }, "#L25-27"), ".who-commit"],
  ["graph", at("graph", { name: "PageCache.read_page", depth: "2" }), ".node"],
  ["several definitions", at("graph", { name: "open_store" }), ".graph-lists"],
  ["directories", at("contents"), ".area"],
  ["languages", at("contents", { by: "language" }), ".area"],
  ["reasons", at("contents", { by: "reason" }), ".area"],
  ["runs", at("runs"), ".timeline"],
];

for (const colorScheme of ["light", "dark"]) {
  for (const [width, height] of [[390, 844], [1400, 900]]) {
    test.describe(`${colorScheme}, ${width} pixels wide`, () => {
      test.use({ colorScheme, viewport: { width, height } });

      test("every view passes", async ({ page }) => {
        for (const [name, url, landmark] of VIEWS) {
          await test.step(name, async () => {
            await page.goto(url);
            await expect(page.locator(landmark).first()).toBeAttached();
            await expect(page.locator("main [aria-busy]:visible")).toHaveCount(0);
            if (name === "results") {
              await page.locator(".result-name").first().focus();
              await page.keyboard.press("?");
              await audit(page);
              await page.keyboard.press("Escape");
              if ((await page.locator(".bars").count()) === 0) {
                await page.keyboard.press("e");
              }
            }
            // Nothing is wider than the window.
            expect.soft(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
            await audit(page);
          });
        }
      });
    });
  }
}
