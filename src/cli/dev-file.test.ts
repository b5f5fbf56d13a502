/** The file of a `holdfast dev`: it is followed while somebody is there, and passed by with a word when nobody is. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { execute } from "../../src/cli/command.ts";
import { stillWorld } from "../../test/cli/read-command.ts";
import { devFileOf, devFolder, findDev } from "./dev-file.ts";

let folder: string;
let open: Server[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-dev-file-"));
  mkdirSync(join(folder, "inner", devFolder), { recursive: true });
  mkdirSync(join(folder, devFolder));
});
afterEach(async () => {
  for (const server of open) server.close();
  open = [];
  rmSync(folder, { recursive: true });
});

async function listen(): Promise<string> {
  const server = createServer((socket) => socket.destroy());
  open.push(server);
  await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

/** Of a process that has been and is no more. */
const gonePid = (): number => spawnSync(process.execPath, ["-e", ""]).pid;
const write = (at: string, file: object | string) =>
  writeFileSync(devFileOf(at), typeof file === "string" ? file : JSON.stringify(file));

async function find(at: string) {
  const notes: string[] = [];
  return { found: (await findDev(at, (line) => notes.push(line)))?.url, notes };
}

test("G5: leads to a server that is there, without a word", async () => {
  const url = await listen();
  write(folder, { url, token: "t", pid: process.pid });
  expect(await find(join(folder, "inner"))).toEqual({ found: url, notes: [] });
});

test("G5: of a process that is gone is passed by, even where its port is another's by now", async () => {
  const [stale, url] = [await listen(), await listen()];
  const pid = gonePid();
  write(join(folder, "inner"), { url: stale, token: "t", pid });
  write(folder, { url, token: "t", pid: process.pid });
  const { found, notes } = await find(join(folder, "inner"));
  expect(found).toBe(url);
  expect(notes).toEqual([expect.stringContaining(`its process, ${pid}, is gone`)]);
});

test("G5: of a server that does not listen any more is passed by, as is one that was never written to its end", async () => {
  const url = await listen();
  await new Promise((closed) => open.pop()?.close(closed));
  write(join(folder, "inner"), { url, token: "t", pid: process.pid });
  write(folder, '{"url":');
  const { found, notes } = await find(join(folder, "inner"));
  expect(found).toBeUndefined();
  expect(notes).toEqual([
    expect.stringContaining(`nobody answers at ${url}`),
    expect.stringContaining("it cannot be read"),
  ]);
});

test("G5: that a killed process left hides no store, and that is said once, beside the data", async () => {
  write(folder, { url: "http://127.0.0.1:9", token: "t", pid: gonePid() });
  const { world, said } = stillWorld({ HOLDFAST_STORE: join(folder, "runs.db") });
  const stop = new AbortController().signal;
  await execute(["db", "migrate"], { ...stillWorld(world.env).world, stop });
  expect(await execute(["runs", "list", "--json"], { ...world, cwd: folder, stop })).toBe(0);
  expect(JSON.parse(said.out)).toEqual([]);
  expect(said.err.trim().split("\n")).toEqual([expect.stringContaining("is passed by")]);
  const bare = stillWorld();
  expect(await execute(["runs", "list"], { ...bare.world, cwd: folder, stop })).toBe(2);
  expect(bare.said.err).toContain("There is no server here");
});
