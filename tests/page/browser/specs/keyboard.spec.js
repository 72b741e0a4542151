import { at, expect, test } from "../support.js";

const focused = (page) => page.locator(":focus");

test("keys lead from a query to a file and back", async ({ page }) => {
  await page.goto("/");
  await page.keyboard.type("page");
  await expect(page).toHaveURL(/q=page$/);
  await expect(page.locator(".found")).not.toHaveAttribute("aria-busy");
  await expect(page.locator(".result")).not.toHaveCount(0);
  await page.keyboard.press("ArrowDown");
  const links = page.locator(".result-name");
  await expect(links.nth(0)).toBeFocused();
  await page.keyboard.press("j");
  await expect(links.nth(1)).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await expect(links.nth(2)).toBeFocused();
  await page.keyboard.press("k");
  await expect(links.nth(1)).toBeFocused();
  await expect(page.locator(".result.selected")).toContainText(await links.nth(1).textContent());
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/view=file/);
  await expect(page.locator(".line.chosen").first()).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(links.nth(1)).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.locator("#query")).toBeFocused();
});

test("moving on before the answer arrives leads to its first result", async ({ page }) => {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route("**/api/v1/search", async (route) => {
    if (route.request().postDataJSON().query === "evict oldest") {
      await held;
    }
    await route.continue();
  });
  await page.goto(at("search", { q: "pause" }));
  const links = page.locator(".result-name");
  await expect(links.first()).toHaveText("Pause");
  await page.fill("#query", "evict oldest");
  await expect(page).toHaveURL(/q=evict\+oldest$/);
  await page.keyboard.press("ArrowDown");
  await expect(links.first()).toBeFocused();
  release();
  await expect(links.first()).toHaveText("PageCache.evict_oldest");
  await expect(links.first()).toBeFocused();
});

test("a slash moves to the search from every view", async ({ page }) => {
  for (const view of ["contents", "runs", "graph", "file"]) {
    await page.goto(at(view, view === "file" ? { path: "src/cache.py" } : {}));
    await expect(page.locator("h1:visible")).toBeVisible();
    await page.keyboard.press("/");
    await expect(page.locator("#query")).toBeFocused();
    await page.keyboard.type("retry/");
    await expect(page.locator("#query")).toHaveValue("retry/");
    await page.fill("#query", "");
  }
});

test("the empty search view has no single-key shortcuts", async ({ page }) => {
  await page.goto("/");
  const query = page.locator("#query");
  await expect(query).toBeFocused();
  await page.keyboard.press("/");
  await expect(query).toHaveValue("");
  await expect(query).toBeFocused();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(query).toBeFocused();
  await expect(query).toHaveValue("");
  await page.keyboard.type("a/?");
  await expect(query).toHaveValue("a/?");
});

test("a question mark shows the keys, and they can be switched off", async ({ page }) => {
  await page.goto(at("search", { q: "page" }));
  await expect(page.locator(".result")).not.toHaveCount(0);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keys" });
  await expect(dialog).toBeVisible();
  await dialog.getByLabel("Single-key shortcuts are switched on").uncheck();
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  const before = await focused(page).textContent();
  await page.keyboard.press("j");
  expect(await focused(page).textContent()).toBe(before);
  await page.keyboard.press("/");
  await expect(page.locator("#query")).not.toBeFocused();
});

test("keys open the score of a result, and its callers and callees", async ({ page }) => {
  await page.setViewportSize({ width: 900, height: 700 });
  await page.goto(at("search", { q: "drop_page" }));
  await expect(page.locator(".result")).not.toHaveCount(0);
  await page.keyboard.press("ArrowDown");
  await expect(page.locator(".bars")).toHaveCount(0);
  await page.keyboard.press("e");
  await expect(page.locator(".bars")).toBeVisible();
  await page.keyboard.press("g");
  await expect(page.locator(".node.root")).toBeFocused();
  await expect(page.locator(".node.root")).toContainText("drop_page");
});

test("the definitions of a graph are reached with the arrows", async ({ page }) => {
  await page.goto(at("graph", { name: "PageCache.evict_oldest" }));
  await expect(page.locator(".node.root")).toBeFocused();
  await page.keyboard.press("ArrowRight");
  await expect(focused(page)).toContainText("drop_page");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await expect(focused(page)).toContainText("read_page");
  await page.keyboard.press("f");
  await expect(page).toHaveURL(/view=file/);
});

test("keys move between the definitions of a file", async ({ page }) => {
  await page.goto(at("file", { path: "src/cache.py" }));
  await expect(page.locator(".code")).toContainText("class PageCache");
  // `page.url()` may still return the URL from before the last key.
  const lines = () => page.evaluate(() => location.hash);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  const second = await lines();
  await page.keyboard.press("j");
  expect(await lines()).not.toBe(second);
  await page.keyboard.press("k");
  expect(await lines()).toBe(second);
});

test("no element traps the focus: Tab reaches every part of the page and leaves it", async ({ page }) => {
  await page.goto(at("search", { q: "retry" }));
  await expect(page.locator(".result")).not.toHaveCount(0);
  await page.locator(".skip").focus();
  const seen = new Set();
  for (let step = 0; step < 120; step += 1) {
    await page.keyboard.press("Tab");
    seen.add(await page.evaluate(() => document.activeElement.closest("header.bar, .facets, .results, .explanation")?.className ?? "none"));
    if (seen.size === 5) {
      break;
    }
  }
  expect([...seen].sort()).toEqual(["bar", "explanation", "facets", "none", "results"]);
});
