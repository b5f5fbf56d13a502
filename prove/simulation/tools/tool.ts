/** A tool of the simulated world: what it is given for one attempt, and what the ledger hears of that first. */
import type { Json } from "holdfast";
import type { Activity, ActivityScope } from "../../../src/runtime/activity/attempt.ts";
import type { Random } from "../../../test/generate/random.ts";
import type { Judge } from "../judge.ts";
import type { Ledger, Start } from "../ledger.ts";
import type { Life } from "../life.ts";
import type { Time } from "../time.ts";

export interface ToolWorld {
  readonly time: Time;
  readonly random: Random;
  readonly ledger: Ledger;
  readonly judge: Judge;
  /** Whether tools only do their work by now. */
  isCalm(): boolean;
  say(life: Life, text: string): void;
}

/** One attempt. */
export interface Use {
  readonly world: ToolWorld;
  readonly life: Life;
  readonly scope: ActivityScope;
  readonly start: Start;
  readonly input: unknown;
  wait(ms: number): Promise<void>;
  /** The answer of this attempt, which is in the ledger unless nobody wants it any more. */
  answer(): Json;
  say(text: string): void;
}

export interface Tool {
  /** Whether it may act at most once. */
  readonly once?: boolean;
  act(use: Use): Promise<Json>;
}

/** The tool as an activity of one process. Every start is in the ledger first. */
export function activityOf(world: ToolWorld, life: Life, activity: string, tool: Tool): Activity {
  return (input: never, scope: ActivityScope) => {
    // The process is gone; the rest of its turn is only still running.
    if (life.status === "dead") return new Promise(() => {});
    const { key, run, attempt, signal } = scope;
    world.judge.toolStarts(life, scope, { once: tool.once === true, input });
    const start: Start = {
      ...{ key, run, activity, life: life.number, attempt },
      ...{ aborted: false, answer: undefined, over: false, pieces: 0, tokens: 0, cost: 0 },
    };
    world.ledger.started(start);
    signal.addEventListener("abort", () => {
      start.aborted = true;
    });
    spend(world, scope, start);
    return tool.act(useOf(world, life, scope, start, input)).finally(() => {
      start.over = true;
    });
  };
}

function useOf(world: ToolWorld, life: Life, scope: ActivityScope, start: Start, input: unknown): Use {
  return {
    ...{ world, life, scope, start, input },
    wait: (ms) => new Promise<void>((resolve) => void world.time.after(ms, resolve, life)),
    answer() {
      const { key } = scope;
      const value = { key, life: life.number, start: world.ledger.starts.get(key)?.indexOf(start) ?? 0 };
      if (!start.aborted) start.answer = value;
      return value;
    },
    say: (text) => world.say(life, `${scope.key} attempt ${scope.attempt} ${text}`),
  };
}

/** Some attempts cost something, whatever becomes of them. Quarters add up without a rest. */
function spend({ random }: ToolWorld, { spend }: ActivityScope, start: Start): void {
  if (!random.chance(0.5)) return;
  const spending = { tokens: random.between(0, 40), cost: random.between(0, 8) / 4 };
  Object.assign(start, spending);
  spend(spending);
}
