// Hostile content of an index is shown literally and has no effect.

import { HOSTILE, at, expect, test } from "../support.js";

const VIEWS = {
  results: at("search", { q: "hostile markup" }),
  file: at("file", { path: HOSTILE, blame: "1" }),
  graph: at("graph", { name: "hostile_name" }),
  contents: at("contents", { path: HOSTILE.slice(0, HOSTILE.lastIndexOf("/")) }),
  "a query": at("search", { q: "<img src=x onerror=\"document.title='owned'\">" }),
  "a name": at("graph", { name: "</script><script>document.title='owned'</script>" }),
  "a path": at("file", { path: "<img src=x onerror=\"document.title='owned'\">" }),
  "a directory": at("contents", { path: "<img src=x onerror=\"document.title='owned'\">" }),
};

for (const [name, url] of Object.entries(VIEWS)) {
  test(`markup stays text: ${name}`, async ({ page }) => {
    const scripts = [];
    page.on("request", (request) => request.resourceType() === "image" && scripts.push(request.url()));
    await page.goto(url);
    await expect(page.locator(".view:visible")).toContainText(/hostile|owned|nothing|no /i);
    await expect(page.locator("main [aria-busy]:visible")).toHaveCount(0);
    expect(await page.locator("main img, main script, main b, main i, main style").count()).toBe(0);
    expect(scripts.filter((one) => !one.endsWith("/page/icon.svg"))).toEqual([]);
    await expect(page).not.toHaveTitle("owned");
  });
}

test("no text of the URL becomes a link to another site", async ({ page }) => {
  for (const url of [at("file", { path: "javascript:alert(1)//x" }), at("contents", { path: "//attacker.example/x", measure: "x" })]) {
    await page.goto(url);
    await expect(page.getByRole("alert")).toBeVisible();
    const links = await page.locator("a[href]").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
    expect(links.filter((href) => !href.startsWith("?") && !href.startsWith("#"))).toEqual([]);
  }
});
