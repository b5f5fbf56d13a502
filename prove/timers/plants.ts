/**
 * Planted bugs: what the proof must find. Each replaces pieces of the runtime's source as it is loaded, in a process of
 * its own, so that nothing of it is left behind.
 */

interface Patch {
  /** From the project's top. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export interface Plant {
  readonly patches: readonly Patch[];
  /** The rules it breaks: whichever is looked at first is told. */
  readonly breaks: readonly string[];
}

const one = (breaks: string, file: string, from: string, to: string): Plant => ({
  patches: [{ file, from, to }],
  breaks: breaks.split(" "),
});

/** What is due is not looked for without a reason: that would make up for an alarm that does not ring. */
const noLook: Patch = {
  file: "src/runtime/waker.ts",
  from: "      this.#lookInAWhile();\n      void this.#wake();",
  to: "      this.#lookInAWhile();",
};

const unseen = (breaks: string, file: string, from: string, to: string): Plant => ({
  patches: [{ file, from, to }, noLook],
  breaks: breaks.split(" "),
});

export const plants: Readonly<Record<string, Plant>> = {
  "timers fire a little early": {
    breaks: ["T1"],
    patches: [
      { file: "src/runtime/waker.ts", from: "timer.due <= now", to: "timer.due <= now + 2_000" },
      { file: "src/core/step.ts", from: "if (work.at < timer.due) throw", to: "if (work.at < 0) throw" },
    ],
  },
  "a cancelled send comes all the same": one(
    "T1 T2 T4",
    "src/core/work.ts",
    "this.cancelTimers((timer) => timer.id === id && timer.state === undefined);",
    "void id;",
  ),
  "the timers of a state outlive it": one(
    "T1 T2 T4",
    "src/core/microstep.ts",
    "work.cancelTimers(",
    "((_: unknown) => {})(",
  ),
  "an outage does not move what remains": one(
    "T1 T3",
    "src/core/timer.ts",
    "due + until - begin",
    "due + 0 * (until - begin)",
  ),
  "a restart waits only for what remains": one(
    "T1 T3",
    "src/core/timer.ts",
    `resume === "remaining" ?`,
    `resume !== undefined ?`,
  ),
  "outages are not noted": one(
    "T1 T3",
    "src/store/lease.ts",
    "const before = isFresh(lease) ?",
    "const before = lease.epoch >= 0 ?",
  ),
  "an outage of a wrong clock holds up timers": one(
    "T5",
    "src/runtime/waker.ts",
    "if (timer.due <= now)",
    "if (outagesMoving(this.#outages, [timer], Number.POSITIVE_INFINITY).length === 0 && timer.due <= now)",
  ),
  "the alarm does not hear of earlier timers": unseen(
    "T5",
    "src/runtime/alarm.ts",
    "this.#at <= at) return;",
    "this.#at <= at + 1e15) return;",
  ),
  "the alarm sleeps through a jump of the clock": unseen(
    "T5",
    "src/runtime/alarm.ts",
    "const sleepMsMax = 5_000;",
    "const sleepMsMax = 1e12;",
  ),
  "nobody looks for what came due while nobody was there": unseen(
    "T5",
    "src/runtime/waker.ts",
    "await this.#wake();\n    this.#lookInAWhile();",
    "this.#lookInAWhile();",
  ),
  "a run is woken for its last timer only": unseen(
    "T5",
    "src/runtime/turn.ts",
    "if (due < wakeAt) wakeAt = due;",
    "if (due < wakeAt || Number.isFinite(wakeAt)) wakeAt = due;",
  ),
  "what a timer sends to another run is lost": one(
    "T6",
    "src/core/step.ts",
    "work.dispatch(timer.key, timer.event, timer.to, timer.via);",
    "void timer.to;",
  ),
  "a clock that was set stops the owner": one(
    "error T5",
    "src/store/lease.ts",
    "if (lease.owner === worker) return {",
    "if (lease.owner === worker && isHeld(lease, now)) return {",
  ),
  "a lease of a clock that was set back binds for years": one(
    "lease",
    "src/store/lease.ts",
    "now < until && until - now <= longest",
    "now < until && longest > 0",
  ),
  "a schedule fires under one name": one(
    "S1",
    "src/runtime/platform/schedule.ts",
    "timeText(due)}",
    "timeText(due - due)}",
  ),
  "a time that is tried again takes effect again": one(
    "S1",
    "src/runtime/platform/perform.ts",
    "{ key: name }",
    "{ key: name + Math.random() }",
  ),
  "a schedule fires a minute early": {
    breaks: ["S2"],
    patches: [
      {
        file: "src/runtime/platform/schedule-machine.ts",
        from: "(context.due as number) - at,",
        to: "Math.max(0, (context.due as number) - at - 60_000),",
      },
      {
        file: "src/runtime/platform/schedule-machine.ts",
        from: "if (due === undefined || due > at) {",
        to: "if (due === undefined || due > at + 60_000) {",
      },
      {
        file: "src/runtime/platform/schedule-machine.ts",
        from: "(context.due as number) <= at, target",
        to: "(context.due as number) <= at + 60_000, target",
      },
    ],
  },
  "a schedule forgets its time zone": one(
    "S4",
    "src/runtime/platform/calendar.ts",
    "new Cron(pattern, { timezone })",
    `new Cron(pattern, { timezone: "UTC" })`,
  ),
  "a schedule that makes up for all leaves some out": one(
    "S5",
    "src/runtime/platform/schedule-machine.ts",
    "aim(draft, nextTime(draft.definition, due), at);",
    "aim(draft, nextTime(draft.definition, at), at);",
  ),
};
