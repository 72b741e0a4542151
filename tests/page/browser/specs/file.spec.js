import { CACHE, HOSTILE, LONG, at, expect, test } from "../support.js";

test("a file has highlighted lines, definitions, and who wrote each line", async ({ page }) => {
  await page.goto(at("file", { path: CACHE }));
  await expect(page.locator(".code .token-keyword").first()).toBeVisible();
  await expect(page.getByRole("navigation", { name: "Definitions" })).toContainText("read_page");
  const line = page.locator(".line", { hasText: "the oldest is the first" });
  await expect(line.locator(".who")).toContainText("Grace &amp; Hopper");
  await expect(page.locator(".line").first().locator(".who")).toContainText("Ada");
  await page.getByRole("button", { name: "Blame" }).click();
  await expect(page.locator(".who")).toHaveCount(0);
  await expect(page).toHaveURL(/blame=0/);
});

test("lines have addresses", async ({ page }) => {
  await page.goto(at("file", { path: CACHE }, "#L24"));
  await expect(page.locator(".line.chosen")).toHaveCount(1);
  await expect(page.locator(".line.chosen")).toContainText("def load_page");
  await page.locator("a.number", { hasText: /^30$/ }).click();
  await expect(page).toHaveURL(/#L30$/);
  await page.locator("a.number", { hasText: /^32$/ }).click({ modifiers: ["Shift"] });
  await expect(page).toHaveURL(/#L30-32$/);
  await expect(page.locator(".line.chosen")).toHaveCount(3);
  await page.getByRole("navigation", { name: "Definitions" }).getByText("warm_cache").click();
  await expect(page.locator(".line.chosen").first()).toContainText("def warm_cache");
});

test("only the visible part of a long file is built, and each line can be reached", async ({ page }) => {
  await page.goto(at("file", { path: LONG }));
  await expect(page.locator(".line").first()).toBeVisible();
  expect(await page.locator(".line").count()).toBeLessThan(2_000);
  // The browser's own search needs the complete text.
  expect(await page.locator(".code").evaluate((node) => node.textContent.includes("def step_4999"))).toBe(true);
  await page.goto(at("file", { path: LONG }, "#L19997"));
  const chosen = page.locator(".line.chosen");
  await expect(chosen).toContainText("def step_4999");
  await expect(chosen).toBeInViewport();
  expect(await page.locator(".line").count()).toBeLessThan(4_000);
});

test("a definition of several chunks is listed once, and code between definitions is not", async ({ page }) => {
  await page.goto(at("file", { path: "store/steps.py" }, "#L400"));
  const entries = page.getByRole("navigation", { name: "Definitions" }).getByRole("link");
  await expect(entries).toHaveText([/^Steps\s*class$/, /^take_all\s*method$/]);
  await expect(entries.nth(1)).toHaveAttribute("aria-current", "true");
  await entries.nth(1).click();
  await expect(page).toHaveURL(/#L7-408$/);
});

test("changes since the index was built are reported", async ({ page }) => {
  await page.goto(at("file", { path: "README.md" }));
  await expect(page.locator(".notes:visible")).toContainText("changed since it was indexed");
  await page.goto(at("file", { path: "src/none.py" }));
  await expect(page.getByRole("alert")).toContainText("src/none.py is not in the index");
  await page.goto(at("file", { path: "nosuch.rs" }));
  await expect(page.getByRole("alert")).toContainText("nosuch.rs is not in the index");
});

test("a path may contain characters of URLs and markup", async ({ page }) => {
  await page.goto(at("search", { q: "hostile_name" }));
  await page.locator(".result-name", { hasText: "hostile_name" }).first().click();
  await expect(page.locator("h1:visible")).toContainText("hostile#1?x=%41.py");
  await expect(page.locator(".code")).toContainText("größe 日本 hostile");
  expect(new URL(page.url()).searchParams.get("path")).toBe(HOSTILE);
});
