import { at, expect, test } from "../support.js";

const names = (page) => page.locator(".result-name");

test("results appear while a query is typed, and its URL can be shared", async ({ page }) => {
  const bodies = [];
  page.on("request", (request) => request.url().endsWith("/search") && bodies.push(request.postDataJSON()));
  await page.goto("/");
  await expect(page.locator("#query")).toBeFocused();
  await page.keyboard.type("evict oldest");
  await expect(names(page).first()).toHaveText("PageCache.evict_oldest");
  await expect(page).toHaveURL(/\?q=evict\+oldest$/);
  await expect(page).toHaveTitle("evict oldest · Aurora");
  expect(bodies.every((body) => body.record === false)).toBe(true);
  await page.reload();
  await expect(page.locator("#query")).toHaveValue("evict oldest");
  await expect(names(page).first()).toHaveText("PageCache.evict_oldest");
});

test("an older answer never replaces a newer one", async ({ page }) => {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  let isHeld;
  const arrived = new Promise((resolve) => (isHeld = resolve));
  await page.route("**/api/v1/search", async (route) => {
    if (route.request().postDataJSON().query === "pause") {
      isHeld();
      await held;
    }
    // A request that was aborted cannot continue.
    await route.continue().catch(() => {});
  });
  await page.goto("/");
  await page.fill("#query", "pause");
  await arrived;
  await page.fill("#query", "evict oldest");
  await expect(names(page).first()).toHaveText("PageCache.evict_oldest");
  release();
  await page.fill("#query", "evict oldest page");
  await expect(page).toHaveURL(/oldest\+page$/);
  await expect(page.locator(".found")).not.toHaveAttribute("aria-busy");
  await expect(names(page).first()).toHaveText("PageCache.evict_oldest");
});

test("results are grouped by file, with highlighted code and marked words", async ({ page }) => {
  await page.goto(at("search", { q: "cache of pages" }));
  const file = page.getByRole("region", { name: "src/cache.py" });
  await expect(file.locator(".result")).not.toHaveCount(0);
  const paths = await page.locator(".file-results").evaluateAll((all) => all.map((one) => one.ariaLabel));
  expect(new Set(paths).size).toBe(paths.length);
  await expect(file.locator("mark").first()).toBeVisible();
  await expect(file.locator(".token-keyword").first()).toBeVisible();
  await expect(file.locator(".row .number").first()).toHaveText(/^\d+$/);
  await expect(page.getByRole("region", { name: "README.md" }).getByText("changed since it was indexed")).toBeVisible();
});

test("facets count matches, and narrow the search", async ({ page }) => {
  await page.goto(at("search", { q: "page pause hostile" }));
  const languages = page.getByRole("region", { name: "Language" });
  const facet = (name) => languages.getByRole("button", { name });
  await expect(facet("python")).toBeVisible();
  const count = Number(await facet("go").locator(".facet-count").textContent());
  expect(count).toBeGreaterThan(0);
  await facet("go").click();
  await expect(facet("go")).toHaveAttribute("aria-pressed", "true");
  await expect(page).toHaveURL(/lang=go/);
  await expect(page.locator(".file-results")).toHaveCount(1);
  await expect(facet("go").locator(".facet-count")).toHaveText(String(count));
  await page.goBack();
  await expect(facet("python")).toBeVisible();
  await expect(page.locator(".file-results").nth(1)).toBeVisible();
});

test("a directory with unusual characters is a facet", async ({ page }) => {
  await page.goto(at("search", { q: "hostile" , path: "/web" }));
  await page.getByRole("region", { name: "Directory" }).getByRole("button", { name: "odd" }).click();
  await expect(page.locator(".file-results")).toHaveCount(1);
  await expect(page.locator(".result")).not.toHaveCount(0);
});

test("the parts of a score add up to the score", async ({ page }) => {
  await page.goto(at("search", { q: "read a page from the disk" }));
  const panel = page.getByRole("complementary", { name: "Score of the result" });
  await expect(page.locator(".result")).not.toHaveCount(0);
  if ((await panel.locator(".bars").count()) === 0) {
    await panel.getByRole("button", { name: "Show" }).click();
  }
  const values = await panel.locator(".bar-value").allTextContents();
  const numbers = values.map((value) => Number(value.replace("−", "-")));
  const sum = numbers.slice(0, -1).reduce((a, b) => a + b, 0);
  expect(numbers.length).toBeGreaterThan(3);
  expect(Math.abs(sum - numbers.at(-1))).toBeLessThan(0.01);
  await expect(panel.locator(".bar-reason").first()).not.toBeEmpty();
});

test("a mode and a pattern of paths are part of the search", async ({ page }) => {
  await page.goto(at("search", { q: "page" }));
  await page.getByLabel("Ranked by").selectOption("Words only");
  await expect(page).toHaveURL(/mode=sparse/);
  await page.getByLabel("Path pattern").fill("*.go");
  await page.getByLabel("Path pattern").press("Enter");
  await expect(page).toHaveURL(/path=\*\.go/);
  await expect(page.locator(".status")).toContainText("Nothing was found");
  await page.getByRole("button", { name: "Clear all filters" }).click();
  await expect(names(page).first()).toBeVisible();
});

test("a filter alone lists all matches", async ({ page }) => {
  await page.goto(at("search", { lang: "py" }));
  await expect(names(page).first()).toBeVisible();
  await expect(page.locator(".status")).not.toContainText("with words of the query");
});

test("errors of a search are reported", async ({ page }) => {
  await page.goto(at("search", { q: "page", path: "src/[" }));
  await expect(page.getByRole("alert")).toContainText(/invalid path pattern/i);
  await page.goto(at("search", { q: "page", root: "nowhere" }));
  await expect(page.getByRole("alert")).toContainText("No root is called nowhere");
});

test("another project can be chosen", async ({ page }) => {
  await page.goto(at("search", { q: "queue" }));
  const choice = page.locator("#root");
  await expect(choice.locator("option")).toHaveCount(3);
  const names = await choice.locator("option").allTextContents();
  expect(names[0]).toBe("All projects");
  await expect(choice).toHaveValue("");
  await choice.selectOption(names[2]);
  await expect(page).toHaveURL(new RegExp(`root=${names[2].replace(".", "\\.")}`));
  await expect(page.locator(".result-name").first()).toHaveText(/Queue/);
  await page.locator(".result-name").first().click();
  await expect(page.locator(".code")).toContainText("class Queue");
  await page.goBack();
  await page.goBack();
  await expect(choice).toHaveValue("");
});

test("all projects are searched together, and a result leads to its project", async ({ page }) => {
  await page.goto(at("search", { q: "class Queue" }));
  const projects = page.getByRole("region", { name: "Project" }).getByRole("button");
  await expect(projects).toHaveCount(2);
  const names = await page.locator("#root option").allTextContents();
  const found = page.locator(".file-results", { has: page.locator("h2 a", { hasText: `${names[2]}/` }) }).first();
  await found.locator(".result-name").first().click();
  await expect(page).toHaveURL(new RegExp(`root=${names[2].replace(".", "\\.")}`));
  await expect(page.locator(".code")).toContainText("class Queue");
  await page.goBack();
  await projects.first().click();
  await expect(page.locator("#root")).not.toHaveValue("");
  await expect(projects).toHaveCount(1);
});
