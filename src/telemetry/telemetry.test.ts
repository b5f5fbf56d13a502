/** Logs and traces of a runtime, by pino and by OpenTelemetry's own SDK. */

import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineMachine } from "../core/machine.ts";
import type { Observer } from "../runtime/observer.ts";
import { createRuntime } from "../runtime/runtime.ts";
import { memory } from "../store/memory/index.ts";
import { logs } from "./logs.ts";
import { traceIdOf, traces } from "./traces.ts";

const agent = defineMachine<{ answer: string }>({
  id: "agent",
  start: { answer: "" },
  initial: "thinking",
  states: {
    thinking: {
      entry: { log: "thinks", label: "mind" },
      invoke: {
        activity: "model",
        retry: { attempts: 2, first: "1ms" },
        onDone: {
          target: "waiting",
          update: (draft, { event }) => {
            draft.answer = event.data as string;
          },
        },
        onError: "waiting",
      },
    },
    waiting: { on: { approve: "done" }, after: { "2 days": "done" } },
    done: { type: "final" },
  },
});

type Model = (question: unknown, scope: { readonly attempt: number; spend(given: object): void }) => unknown;

/** One run of the agent to its end, with an event in it that nobody knows. */
async function live(observers: readonly Observer[], model: Model): Promise<void> {
  const machines = [{ machine: agent, activities: { model: model as never } }];
  const runtime = await createRuntime({ store: memory(), machines, observers });
  const run = await runtime.start(agent, { id: "q-1", tenant: "acme" });
  await run.waitFor("waiting");
  await (await run.send("nonsense")).handled();
  await run.send("approve", { secret: "nobody's business" });
  await run.finished();
  await runtime.close();
}

/** Fails once, then answers. */
const stubborn: Model = (_, { attempt, spend }) => {
  spend({ tokens: 7 });
  if (attempt === 1) throw new Error("overloaded");
  return "It grips.";
};

describe("logs", () => {
  async function linesOf(model: Model, level = "debug"): Promise<Record<string, unknown>[]> {
    const lines: string[] = [];
    await live([logs(pino({ level }, { write: (line: string) => void lines.push(line) }))], model);
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  test("E1: tell every step, attempt and end of a run in lines that have its name", async () => {
    const lines = await linesOf(stubborn);
    expect(lines.every(({ run }) => run === "q-1")).toBe(true);
    const place = { tenant: "acme", run: "q-1", machine: "agent", version: 1 };
    const attempt = { tenant: "acme", run: "q-1", machine: "agent", activity: "model", key: "q-1:1.0" };
    const ofMessage = (message: string) => lines.filter(({ msg }) => msg === message);
    expect(ofMessage("step")).toMatchObject([
      { ...place, level: 30, seq: 1, event: "start", outcome: "taken", configuration: ["thinking"] },
      { ...place, seq: 2, event: "done.invoke.thinking", configuration: ["waiting"] },
      { ...place, seq: 4, event: "approve", outcome: "taken", configuration: ["done"] },
    ]);
    expect(ofMessage("step refused")).toMatchObject([
      { ...place, level: 40, seq: 3, event: "nonsense", error: { code: "EVENT_UNKNOWN" } },
    ]);
    expect(ofMessage("attempt begins")).toMatchObject([
      { ...attempt, level: 20, attempt: 1 },
      { ...attempt, attempt: 2 },
    ]);
    expect(ofMessage("attempt failed")).toMatchObject([
      { ...attempt, level: 40, attempt: 1, error: { message: "overloaded" } },
    ]);
    expect(ofMessage("attempt done")).toMatchObject([{ ...attempt, attempt: 2, spent: { tokens: 14 } }]);
    expect(ofMessage("log")).toMatchObject([{ label: "mind", data: "thinks" }]);
    expect(ofMessage("run done")).toMatchObject([{ ...place, level: 30 }]);
  });

  test("E1: are silent below their level, and never tell payloads", async () => {
    const lines = await linesOf(stubborn, "warn");
    expect(lines.map(({ msg }) => msg)).toEqual(["attempt failed", "step refused"]);
    expect(JSON.stringify(await linesOf(stubborn))).not.toContain("nobody's business");
  });
});

describe("traces", () => {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const tracer = provider.getTracer("holdfast");
  const contexts = new AsyncLocalStorageContextManager().enable();

  beforeAll(() => context.setGlobalContextManager(contexts));
  afterAll(() => {
    context.disable();
    contexts.disable();
  });

  async function spansOf(model: Model): Promise<readonly ReadableSpan[]> {
    exporter.reset();
    await live([traces(tracer, { attributes: () => ({ "gen_ai.operation.name": "chat" }) })], model);
    return exporter.getFinishedSpans();
  }

  test("E1: have a span for every step and attempt of a run, all in the trace of its name", async () => {
    const spans = await spansOf(stubborn);
    const traceId = traceIdOf({ tenant: "acme", run: "q-1" });
    expect(spans.every((span) => span.spanContext().traceId === traceId)).toBe(true);
    expect(new Set(spans.map(({ parentSpanContext }) => parentSpanContext?.spanId)).size).toBe(1);
    expect(spans.map(({ name }) => name).toSorted()).toEqual([
      ...["activity model", "activity model", "step approve", "step done.invoke.thinking"],
      ...["step nonsense", "step start"],
    ]);
    const find = (name: string) => spans.filter((span) => span.name === name);
    expect(find("step start")[0]).toMatchObject({
      attributes: {
        ...{ "holdfast.tenant": "acme", "holdfast.run": "q-1", "holdfast.machine": "agent" },
        ...{ "holdfast.seq": 1, "holdfast.outcome": "taken", "holdfast.configuration": ["thinking"] },
      },
    });
    expect(find("step start")[0]?.events.map(({ name }) => name)).toContain("effect activity");
    expect(find("step nonsense")[0]?.status.code).toBe(SpanStatusCode.ERROR);
    const [failed, done] = find("activity model");
    expect(failed).toMatchObject({
      status: { code: SpanStatusCode.ERROR, message: "overloaded" },
      attributes: { "holdfast.attempt": 1, "gen_ai.operation.name": "chat" },
    });
    expect(failed?.events[0]?.name).toBe("exception");
    expect(done).toMatchObject({ attributes: { "holdfast.attempt": 2, "holdfast.tokens": 14 } });
    expect(JSON.stringify(spans.map(({ attributes, events }) => [attributes, events]))).not.toContain(
      "business",
    );
  });

  test("E1: what an activity traces itself hangs from its attempt", async () => {
    const spans = await spansOf(async () => {
      await Promise.resolve();
      tracer.startSpan("POST /v1/messages").end();
      return "It grips.";
    });
    const inner = spans.find(({ name }) => name === "POST /v1/messages");
    const outer = spans.find(({ name }) => name === "activity model");
    expect(inner?.parentSpanContext?.spanId).toBe(outer?.spanContext().spanId);
    expect(inner?.spanContext().traceId).toBe(traceIdOf({ tenant: "acme", run: "q-1" }));
  });

  test("E1: a child begins with a link to the run that started it", async () => {
    exporter.reset();
    const child = defineMachine({ id: "child", initial: "only", states: { only: { type: "final" } } });
    const parent = defineMachine({
      id: "parent",
      initial: "waiting",
      states: {
        waiting: { invoke: { id: "help", machine: "child", onDone: "over" } },
        over: { type: "final" },
      },
    });
    const observers = [traces(trace.getTracer("nothing")), traces(tracer)];
    const runtime = await createRuntime({ store: memory(), machines: [child, parent], observers });
    await (await runtime.start(parent, { id: "p" })).finished();
    await runtime.close();
    const links = exporter
      .getFinishedSpans()
      .flatMap((span) => span.links.map((link) => link.context.traceId));
    expect(links).toEqual([traceIdOf({ tenant: "default", run: "p" })]);
  });
});

describe("an observer", () => {
  test("E1: that calls nothing, throws or waits hurts no attempt, and all are told once", async () => {
    const told: string[] = [];
    let ran = 0;
    const observers: Observer[] = [
      { attempt: () => void told.push("calls nothing") },
      {
        attempt: () => {
          throw new Error("no ears");
        },
      },
      {
        attempt: async (_, go) => {
          await Promise.resolve();
          await go();
          told.push("waits");
        },
      },
      {
        attempt: (_, go) => go().then(({ error }) => void told.push(error === undefined ? "done" : "failed")),
      },
      { problem: ({ error }) => void told.push((error as Error).message) },
    ];
    await live(observers, () => {
      ran++;
      return "It grips.";
    });
    expect(ran).toBe(1);
    expect(told.toSorted()).toEqual(["calls nothing", "done", "no ears", "waits"]);
  });

  test("F5: that is none is refused", async () => {
    const bad = { store: memory(), machines: [], observers: ["x"] as never };
    await expect(createRuntime(bad)).rejects.toMatchObject({ code: "OPTIONS_INVALID" });
  });
});
