/** `holdfast inbox` against what a server answers: what is said to it, and what a decision that was made before ends with. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { execute } from "../../src/cli/command.ts";
import { stillWorld } from "./read-command.ts";

let server: Server | undefined;
afterEach(() => void server?.close());

interface Scene {
  readonly asked: readonly object[];
  readonly answer?: object;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request) text += piece;
  return text;
}

/** What the command said to the server, and what it told of the answer. */
async function decide(line: string, { asked, answer }: Scene) {
  let sent: unknown;
  server = createServer(async (request, response) => {
    const text = await textOf(request);
    if (request.method === "POST") sent = JSON.parse(text);
    const decided = { run: "r-1", decision: "d", outcome: "taken", seq: 2, isRepeat: false, ...answer };
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify(request.method === "POST" ? decided : { decisions: asked }));
  });
  await new Promise<void>((listening) => server?.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const { world, said } = stillWorld();
  const argv = [...line.split(" "), "--url", `http://127.0.0.1:${port}`];
  const code = await execute(argv, { ...world, stop: new AbortController().signal });
  return { code, out: said.out, sent };
}

const approval = { run: "r-1", decision: "d", kind: "approval" };
const tool = { run: "r-1", decision: "d", kind: "tool" };

test("an approval is approved with what it is to bring along, and a tool call edited", async () => {
  expect((await decide('inbox approve r-1 --input {"euros":2}', { asked: [approval] })).sent).toEqual({
    ...{ verdict: "approve", input: { euros: 2 } },
  });
  expect((await decide('inbox approve r-1 d --input {"euros":2}', { asked: [tool] })).sent).toEqual({
    ...{ verdict: "edit", input: { euros: 2 } },
  });
});

test.each([
  ["approve", "approve", 0, "it was decided before\n"],
  ["reject", "approve", 1, "it was decided before, the other way: approve\n"],
  ["approve", "reject", 1, "it was decided before, the other way: reject\n"],
  ["reject", undefined, 0, "it was decided before\n"],
])("to %s what was decided before by %s ends with %i", async (verb, verdict, code, words) => {
  const answer = { isRepeat: true, ...(verdict === undefined ? {} : { verdict }) };
  const told = await decide(`inbox ${verb} r-1 d`, { asked: [], answer });
  expect([told.code, told.out]).toEqual([code, `r-1 d: ${words}`]);
});
