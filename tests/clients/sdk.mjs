// The TypeScript MCP SDK uses every tool and resource of the server.
//
// Arguments: `PACKAGES stdio PROGRAM`, or `PACKAGES http URL [TOKEN]`. Without a token, the server has no tools for memory.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [packages, kind, target, token] = process.argv.slice(2);
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

const memory = ["recall", "remember", "outcome"];
const hasMemory = kind === "stdio" || token !== undefined;
const secret = "heliotrope";

async function connect() {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const transport =
    kind === "stdio"
      ? new StdioClientTransport({ command: target, args: ["mcp"], env: process.env, cwd: process.cwd() })
      : new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers } });
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(transport);
  return client;
}

async function textOf(client, name, args) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, `${name}: ${JSON.stringify(result)}`);
  return result.content[0].text;
}

const client = await connect();
const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name), [...calls.map(([name]) => name), ...(hasMemory ? memory : [])]);
for (const [name, args, expected] of calls) {
  const text = await textOf(client, name, args);
  assert.ok(text.includes(expected), `${name}: ${text}`);
}
assert.ok((await client.callTool({ name: "read", arguments: { place: "/etc/passwd" } })).isError);
const { resources } = await client.listResources();
const { contents } = await client.readResource({ uri: resources[0].uri });
assert.ok(contents[0].text.includes("class PageCache"));
assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 2);

if (!hasMemory) {
  const refused = await client.callTool({ name: "recall", arguments: { query: "x" } });
  assert.ok(refused.isError, JSON.stringify(refused));
} else {
  // Remembers, recalls and reports an outcome.
  const query = "code word of the launch";
  const shared = JSON.parse(await textOf(client, "remember", { kind: "note", content: `Zebras of ${kind} sleep on Fridays` }));
  assert.ok(shared.stored && shared.session === undefined, JSON.stringify(shared));
  assert.ok((await textOf(client, "recall", { query: "when do zebras sleep" })).includes(`[${shared.id}]`));
  const stored = { kind: "note", content: `The ${query} is ${secret}`, private: true };
  const own = JSON.parse(await textOf(client, "remember", stored)).session;
  const named = kind === "http" ? { session: own } : {};
  assert.ok((await textOf(client, "recall", { query, ...named })).includes(secret));
  assert.ok((await textOf(client, "outcome", { result: "success", ...named })).startsWith("Recorded."));
  // Another client tries to read the private entry.
  const other = await connect();
  for (const session of [undefined, "s-", "s1", own.slice(0, -1), `s-${"0".repeat(64)}`]) {
    for (const name of ["recall", "search"]) {
      const result = await other.callTool({ name, arguments: { query, session } });
      assert.ok(!result.content[0].text.includes(secret), `${name} ${session}: ${result.content[0].text}`);
      assert.equal(Boolean(result.isError), kind === "http" && session !== undefined, `${name} ${session}`);
    }
  }
  for (const scope of ["session", "project", "user", "global"]) {
    assert.ok(!(await textOf(other, "recall", { query, scope })).includes(secret), scope);
  }
  await other.close();
}
await client.close();
