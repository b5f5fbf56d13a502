/** A thread in a durable run: what a step writes, what is there after a restart, and that a bad message changes nothing. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, defineMachine } from "holdfast";
import { memory } from "holdfast/memory";
import { sqlite } from "holdfast/sqlite";
import { afterAll, describe, expect, test } from "vitest";
import type { Message } from "../../src/agent/thread/message.ts";
import { append, emptyThread, messagesOf, type Thread } from "../../src/agent/thread/thread.ts";
import { estimate } from "../../src/agent/window/tokens.ts";
import { buildWindow } from "../../src/agent/window/window.ts";

const chat = defineMachine<{ thread: Thread }>({
  id: "chat",
  start: () => ({ thread: emptyThread() }),
  initial: "open",
  states: {
    open: {
      on: {
        say: { update: (draft, { event }) => void append(draft.thread, event.data as unknown as Message) },
      },
    },
  },
});

const said = (turn: number): Message => ({
  id: `m${turn}`,
  role: turn % 2 === 0 ? "user" : "assistant",
  at: turn,
  parts: [{ type: "text", text: `message number ${turn % 10}` }],
});

const directory = mkdtempSync(join(tmpdir(), "holdfast-thread-"));
afterAll(() => rmSync(directory, { recursive: true }));
const kept = memory();

describe.each([
  ["memory", () => kept],
  ["SQLite", () => sqlite(join(directory, "thread.db"))],
] as const)("a thread in a run on %s", (_, open) => {
  test("C1: a step writes its message and no more, and all of it is there after a restart", async () => {
    const runtime = await createRuntime({ store: open(), machines: [chat] });
    const run = await runtime.start(chat, { id: "long" });
    for (let turn = 0; turn < 120; turn++) await run.send("say", said(turn) as never);
    await (await run.send("say", said(7) as never)).handled();
    const sizes: number[] = [];
    for await (const { event, patches } of run.journal())
      if (event.type === "say") sizes.push(JSON.stringify(patches).length);
    // The refused one wrote nothing of a message; of the others only names and numbers got longer.
    expect(sizes.pop()).toBeLessThan(sizes[20] as number);
    expect(Math.max(...sizes.slice(100))).toBeLessThanOrEqual((sizes[20] as number) + 16);
    const { thread } = (await run.state()).context;
    const options = { budget: 300, count: estimate(), now: 120 };
    const window = buildWindow(thread, options);
    await runtime.close();

    const second = await createRuntime({ store: open(), machines: [chat] });
    const again = (await (await second.start(chat, { id: "long" })).state()).context.thread;
    expect(messagesOf(again)).toEqual(messagesOf(thread));
    expect(messagesOf(again)).toHaveLength(120);
    expect(buildWindow(again, options)).toEqual(window);
    await second.close();
  });
});
