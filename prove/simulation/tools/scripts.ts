/**
 * Tools that follow a script drawn for each attempt: they answer, fail, hang, answer late after nobody wants it any more,
 * keep their place, and throw what no retry can help.
 */
import type { Json } from "holdfast";
import type { Tool, Use } from "./tool.ts";

export type Script =
  | "answer"
  | "answer later"
  | "fail"
  | "fatal"
  | "hang"
  | "answer late"
  | "keep and fail"
  | "keep late";

/** All there is, the usual more often. */
export const anything: readonly Script[] = [
  ...(["answer", "answer", "answer later", "answer later", "answer later", "fail", "fail"] as const),
  ...(["fatal", "hang", "answer late", "keep and fail", "keep and fail", "keep late"] as const),
];

/** A tool that follows one of these scripts, and only answers once the weather is calm. */
export function scripted(scripts: readonly Script[], once = false): Tool {
  return {
    once,
    act(use) {
      const script = use.world.isCalm() ? "answer" : use.world.random.pick(scripts);
      use.say(`starts: ${script}`);
      return follow(use, script);
    },
  };
}

async function follow({ world: { random }, scope, wait, answer }: Use, script: Script): Promise<Json> {
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
      throw fatal();
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

/** An error that no retry can help. */
export function fatal(): Error {
  return Object.assign(new Error("nothing helps"), { name: "Fatal" });
}
