/**
 * The tools that runs call: each start follows a script drawn for it. They answer, fail, hang, answer late after nobody
 * wants it any more, keep their place, and throw what no retry can help. Every start is in the ledger first.
 */
import type { Json } from "holdfast";
import type { Activity, ActivityScope } from "../../src/runtime/attempt.ts";
import type { Random } from "../../test/generate/random.ts";
import type { Judge } from "./judge.ts";
import type { Ledger, Start } from "./ledger.ts";
import type { Life } from "./life.ts";
import { bookTool, unbookTool } from "./machines/trip.ts";
import type { Time } from "./time.ts";

export interface ToolWorld {
  readonly time: Time;
  readonly random: Random;
  readonly ledger: Ledger;
  readonly judge: Judge;
  /** Whether tools only do their work by now. */
  isCalm(): boolean;
  say(life: Life, text: string): void;
}

type Script =
  | "answer"
  | "answer later"
  | "fail"
  | "fatal"
  | "hang"
  | "answer late"
  | "keep and fail"
  | "keep late";

/** What a tool may do unless it says otherwise. */
const anything: readonly Script[] = [
  ...(["answer", "answer", "answer later", "answer later", "answer later", "fail", "fail"] as const),
  ...(["fatal", "hang", "answer late", "keep and fail", "keep and fail", "keep late"] as const),
];

interface Tool {
  /** Whether it may act at most once. */
  readonly once?: boolean;
  readonly scripts?: readonly Script[];
}

const tools: Readonly<Record<string, Tool>> = {
  fetch: {},
  pay: { once: true },
  crawl: {},
  [bookTool]: { scripts: ["answer", "answer", "answer", "answer later", "fail", "fatal", "answer late"] },
  // Nobody gives it up when it takes too long.
  [unbookTool]: { scripts: ["answer", "answer", "answer later", "fail", "fatal", "keep and fail"] },
};

/** The tools as one process has them. */
export function toolsOf(world: ToolWorld, life: Life): Record<string, Activity> {
  const use = (name: string, tool: Tool): [string, Activity] => [
    name,
    (input: never, scope: ActivityScope) => begin(world, life, scope, { ...tool, input }),
  ];
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => use(name, tool)));
}

function begin(
  world: ToolWorld,
  life: Life,
  scope: ActivityScope,
  tool: Tool & { readonly input: unknown },
): Promise<Json> {
  // The process is gone; the rest of its turn is only still running.
  if (life.status === "dead") return new Promise(() => {});
  world.judge.toolStarts(life, scope, tool);
  const start: Start = {
    key: scope.key,
    run: scope.run,
    life: life.number,
    attempt: scope.attempt,
    aborted: false,
    answer: undefined,
    over: false,
  };
  world.ledger.started(start);
  scope.signal.addEventListener("abort", () => {
    start.aborted = true;
  });
  const script = world.isCalm() ? "answer" : world.random.pick(tool.scripts ?? anything);
  world.say(life, `${scope.key} attempt ${scope.attempt} starts: ${script}`);
  return act(world, life, scope, start, script).finally(() => {
    start.over = true;
  });
}

async function act(
  world: ToolWorld,
  life: Life,
  scope: ActivityScope,
  start: Start,
  script: Script,
): Promise<Json> {
  const { time, random, ledger } = world;
  const wait = (ms: number) => new Promise<void>((resolve) => void time.after(ms, resolve, life));
  const answer = (): Json => {
    const value = {
      key: scope.key,
      life: life.number,
      start: ledger.starts.get(scope.key)?.indexOf(start) ?? 0,
    };
    if (!start.aborted) start.answer = value;
    return value;
  };
  const page = (scope.progress as { page: number } | undefined)?.page ?? 0;
  switch (script) {
    case "answer":
      return answer();
    case "answer later":
      await wait(random.between(1, 3_000));
      return answer();
    case "fail":
      await wait(random.between(0, 1_000));
      throw new Error("busy");
    case "fatal":
      throw Object.assign(new Error("nothing helps"), { name: "Fatal" });
    case "hang":
      return new Promise(() => {});
    case "answer late":
      await wait(random.between(5_000, 60_000));
      return answer();
    case "keep and fail":
      await scope.checkpoint({ page: page + 1 });
      await wait(random.between(0, 500));
      throw new Error("busy");
    case "keep late":
      await wait(random.between(3_500, 9_000));
      await scope.checkpoint({ page: page + 100 });
      return answer();
  }
}
