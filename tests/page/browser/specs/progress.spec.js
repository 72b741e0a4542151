import { at, audit, expect, test } from "../support.js";

test.use({ baseURL: process.env.AURORA_PAGE_THAT_WRITES });

test("the progress of an index run is shown, and its timeline afterwards", async ({ page, request }) => {
  // A busy machine may take long for a complete run.
  test.slow();
  await page.goto(at("runs"));
  await expect(page.locator(".run-list a")).not.toHaveCount(0);
  const before = await page.locator(".run-list a").count();
  const progress = page.locator(".run-progress");
  await expect(progress).toBeHidden();
  const seen = progress.getByText(/\d+ files? · \d[\d,]* chunks?/).waitFor();
  expect((await request.post("/api/v1/index", { data: { force: true } })).status()).toBe(202);
  await seen;
  await audit(page);
  await expect(progress).toBeHidden({ timeout: 120_000 });
  await expect(page.locator(".run-list a")).toHaveCount(before + 1);
});

test("a hidden view follows no run", async ({ page }) => {
  const ended = page.waitForEvent("requestfailed", (request) => request.url().includes("index/events"));
  await page.goto(at("runs"));
  await expect(page.locator(".run-list a")).not.toHaveCount(0);
  await page.getByRole("link", { name: "Contents" }).click();
  await ended;
});
