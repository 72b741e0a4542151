// The TypeScript MCP SDK uses every tool and resource of the server.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [packages, kind, target] = process.argv.slice(2);
const { resolve } = createRequire(join(packages, "package.json"));
const load = (name) => import(pathToFileURL(resolve(`@modelcontextprotocol/sdk/${name}`)));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");

const calls = [
  ["search", { query: "remove the oldest page", budget: 500 }, "evict_oldest"],
  ["read", { place: "src/cache.py:12-14" }, "def drop_page"],
  ["grep", { pattern: "def .*page" }, "src/cache.py:12"],
  ["graph", { name: "drop_page", relation: "callers" }, "evict_oldest"],
  ["history", { place: "src/cache.py" }, "lines by author"],
  ["status", {}, "1 files"],
];

const transport =
  kind === "stdio"
    ? new StdioClientTransport({ command: target, args: ["mcp"], env: process.env, cwd: process.cwd() })
    : new StreamableHTTPClientTransport(new URL(target));
const client = new Client({ name: "test", version: "1.0.0" });
await client.connect(transport);

const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name), calls.map(([name]) => name));
for (const [name, args, expected] of calls) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError && result.content[0].text.includes(expected), `${name}: ${JSON.stringify(result)}`);
}
assert.ok((await client.callTool({ name: "read", arguments: { place: "/etc/passwd" } })).isError);
const { resources } = await client.listResources();
const { contents } = await client.readResource({ uri: resources[0].uri });
assert.ok(contents[0].text.includes("class PageCache"));
assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 2);
await client.close();
