import { CACHE, at, expect, test } from "../support.js";

test("callers are left of a definition and callees right of it", async ({ page }) => {
  await page.goto(at("graph", { name: "PageCache.evict_oldest" }));
  const place = (name) => page.locator(".node", { hasText: name }).evaluate((node) => Number(node.dataset.x));
  await expect(page.locator(".node")).toHaveCount(3);
  expect(await place("read_page")).toBeLessThan(await place("evict_oldest"));
  expect(await place("drop_page")).toBeGreaterThan(await place("evict_oldest"));
  await expect(page.locator("path.edge")).toHaveCount(2);
  const lists = page.locator(".graph-lists");
  await expect(lists.locator("section", { hasText: "Callers" }).first()).toContainText("read_page");
  await expect(lists.locator("section", { hasText: "Callees" }).first()).toContainText("drop_page");
  await page.getByLabel("Steps").selectOption("2");
  await expect(page.locator(".node", { hasText: "warm_cache" })).toBeVisible();
  await page.locator(".node", { hasText: "drop_page" }).click();
  await expect(page.locator(".node.root")).toContainText("drop_page");
  await page.goBack();
  await expect(page.locator(".node.root")).toContainText("evict_oldest");
});

test("an unknown name leads to similar definitions", async ({ page }) => {
  await page.goto(at("graph", { name: "evict" }));
  await expect(page.locator(".message:visible")).toHaveText("No definition is called evict");
  await page.getByRole("link", { name: "PageCache.evict_oldest" }).click();
  await expect(page.locator(".node.root")).toContainText("evict_oldest");
});

test("an ambiguous name leads to each definition, and to others that end with it", async ({ page }) => {
  await page.goto(at("graph", { name: "open_store" }));
  await expect(page.locator(".message:visible")).toHaveText("2 definitions are called open_store");
  const list = (title) => page.locator(".graph-lists section", { has: page.getByRole("heading", { name: title }) }).getByRole("listitem");
  await expect(list("Which one is meant?")).toHaveText([/in store\/local\/jobs\.py/, /in store\/remote\/jobs\.py/]);
  await expect(list("Others whose name ends with open_store")).toHaveText([/^LocalJobs\.open_store method in store\/local/]);
  await list("Which one is meant?").last().getByRole("link").click();
  await expect(page.locator(".node.root")).toContainText("jobs.py");
});

test("files of the same name are distinguishable in a graph, and reasons are explained", async ({ page }) => {
  await page.goto(at("graph", { name: "LocalJobs.add_job" }));
  await expect(page.locator(".node.root")).toContainText("local/jobs.py:9");
  await expect(page.locator(".node", { hasText: "encode_job" })).toContainText("remote/jobs.py:4");
  const lists = page.locator(".graph-lists");
  await expect(lists.locator("li", { hasText: "encode_job" })).toContainText("import 99 %");
  await expect(lists.locator("dt")).toHaveText(["import"]);
  await expect(lists.locator("section", { hasText: "Calls to names not defined here" })).toContainText("append");
});

test("a drawing that is wider than the window begins in its middle and indicates more content", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(at("graph", { name: "PageCache.evict_oldest" }));
  const frame = page.locator(".graph-frame");
  await expect(frame).toHaveAttribute("data-beyond", "left right");
  await expect(page.locator(".node.root")).toBeInViewport({ ratio: 1 });
  await expect(page.locator(".node", { hasText: "drop_page" })).toBeInViewport();
  await frame.evaluate((node) => (node.scrollLeft = node.scrollWidth));
  await expect(frame).toHaveAttribute("data-beyond", "left");
});

test("the contents are divided by directory, down to files", async ({ page }) => {
  await page.goto(at("contents"));
  const area = (name) => page.locator(".treemap .area", { hasText: name });
  await expect(page.locator(".figures")).toContainText("Chunks");
  await expect(area("data").first()).toBeVisible();
  const size = async (name) => (await page.locator(`.area[title^="${name}:"]`).boundingBox()).width * (await page.locator(`.area[title^="${name}:"]`).boundingBox()).height;
  expect(await size("data")).toBeGreaterThan(await size("src"));
  await page.getByLabel("Area").selectOption("Files");
  await expect(page).toHaveURL(/measure=files/);
  await page.locator("td a", { hasText: "src/" }).click();
  await expect(page.locator(".trail:visible")).toContainText("The whole project / src");
  await page.locator(`.area[title^="${CACHE}:"]`).click();
  await expect(page.locator(".code")).toContainText("class PageCache");
});

test("areas fill the treemap without overlapping", async ({ page }) => {
  await page.goto(at("contents", { measure: "files" }));
  await expect(page.locator(".area").first()).toBeVisible();
  const boxes = await page.locator(".area").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
  const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
  const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
  for (const [at, a] of boxes.entries()) {
    for (const b of boxes.slice(at + 1)) {
      expect(apart(a, b) || inside(b, a), JSON.stringify([a, b])).toBe(true);
    }
  }
});

test("the contents are divided by language", async ({ page }) => {
  await page.goto(at("contents", { by: "language" }));
  await expect(page.locator(".area", { hasText: "python" })).toBeVisible();
  await page.locator("td a", { hasText: /^go$/ }).click();
  await expect(page.locator(".trail:visible")).toContainText("only go");
  await expect(page.locator("tbody tr:visible")).toHaveCount(1);
});

test("skipped files are shown with the reason", async ({ page }) => {
  await page.goto(at("contents", { by: "reason" }));
  const row = page.locator("tr", { hasText: "Cargo.lock" });
  await expect(row).toContainText("lock file");
  await expect(page.locator("tr", { hasText: "assets/logo.png" })).toBeVisible();
  await page.locator("a.area", { hasText: "lock file" }).press("Enter");
  await expect(page.locator("tbody tr:visible")).toHaveCount(1);
});

test("a run is a timeline of its stages", async ({ page }) => {
  await page.goto(at("runs"));
  await expect(page.locator(".run-list a")).toHaveCount(2);
  await expect(page.locator(".run-list a").first()).toContainText("1 file indexed");
  await page.locator(".run-list a").nth(1).click();
  // Until the answer arrives, the page still shows the last run.
  await expect(page.locator(".run-list a").nth(1)).toHaveAttribute("aria-current", "true");
  const stages = page.locator(".timeline tbody tr");
  for (const name of ["discover", "parse", "chunk", "store"]) {
    await expect(stages.filter({ has: page.locator("th", { hasText: name }) })).toHaveCount(1);
  }
  await expect(page.locator(".bottleneck")).toHaveCount(1);
  await expect(page.locator(".bottleneck")).toContainText("bottleneck");
  const [bar, track] = [await stages.last().locator(".span").boundingBox(), await stages.last().locator(".track").boundingBox()];
  expect(bar.x + bar.width).toBeLessThanOrEqual(track.x + track.width + 3);
  expect(bar.x).toBeGreaterThanOrEqual(track.x);
});

test("the choice of colours is kept", async ({ page }) => {
  await page.goto("/");
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await ground();
  await page.locator("#theme").click();
  await page.locator("#theme").click();
  await expect(page.locator("#theme")).toHaveText("Dark");
  expect(await ground()).not.toBe(light);
  await page.reload();
  await expect(page.locator("#theme")).toHaveText("Dark");
});
