import { at, audit, expect, test } from "../support.js";

test.use({ baseURL: process.env.AURORA_PAGE_WITH_TOKEN });

test("the page asks for the token, and keeps it until the window is closed", async ({ page, context }) => {
  await page.goto(at("search", { q: "evict oldest" }));
  const dialog = page.getByRole("dialog", { name: "The server asks for its token" });
  await dialog.getByLabel("Token").fill("0123456789abcdef-wrong");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await expect(dialog.getByRole("alert")).toContainText("does not know");
  await audit(page);
  await dialog.getByLabel("Token").fill(process.env.AURORA_PAGE_TOKEN);
  await page.keyboard.press("Enter");
  await expect(page.locator(".result-name").first()).toHaveText("PageCache.evict_oldest");
  expect(page.url()).not.toContain(process.env.AURORA_PAGE_TOKEN);
  await page.reload();
  await expect(page.locator(".result-name").first()).toHaveText("PageCache.evict_oldest");
  const other = await context.newPage();
  await other.goto(`${process.env.AURORA_PAGE_WITH_TOKEN}/`);
  await expect(other.getByRole("dialog", { name: "The server asks for its token" })).toBeVisible();
});
