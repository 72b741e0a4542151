// Tests the page in the system's Chromium. `cargo test --test page` starts the servers and passes their addresses.

import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "specs",
  outputDir: process.env.AURORA_PAGE_OUTPUT,
  fullyParallel: true,
  workers: 2,
  reporter: [["list"]],
  timeout: 60_000,
  expect: { timeout: 20_000 },
  use: {
    baseURL: process.env.AURORA_PAGE,
    browserName: "chromium",
    viewport: { width: 1280, height: 800 },
    launchOptions: { executablePath: process.env.AURORA_PAGE_CHROMIUM },
  },
});
