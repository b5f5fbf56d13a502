/** Bugs between a step and its commit. */
import { type Bug, noGuard, noLook } from "./bug.ts";

export const stepBugs: readonly Bug[] = [
  {
    name: "ack before commit",
    file: "src/runtime/step-loop.ts",
    find: "checkpoint.take(delivery, now);",
    replace:
      'checkpoint.take(delivery, now); delivery.handled?.({ seq: checkpoint.head.seq, outcome: checkpoint.taken.at(-1)?.step.outcome ?? "taken", error: undefined });',
    catches: [1, 8],
  },
  {
    name: "effect without its step",
    file: "src/runtime/step-loop.ts",
    find: "commits.push(commit);",
    replace: "commits.push(commit); this.#world.published(checkpoint);",
    catches: [4],
  },
  {
    name: "refusal treated as success",
    file: "src/runtime/step-loop.ts",
    find: 'if (outcome.outcome !== "committed") {',
    replace: 'if (outcome.outcome === "fenced") {',
    catches: [1, 2, 3],
  },
  {
    name: "fenced commit treated as success",
    file: "src/runtime/step-loop.ts",
    find: 'if (outcome.outcome !== "committed") {',
    replace: 'if (outcome.outcome !== "committed" && outcome.outcome !== "fenced") {',
    catches: [1, 4, 8],
  },
  {
    name: "lost reply treated as failure",
    file: "src/runtime/recovery.ts",
    find: "this.#giveUp(withStarts(checkpoint), deliveries, error);",
    replace:
      "void this.#world.read(checkpoint.run.name).then((run) => deliveries.forEach((one) => this.#world.deliver(run, one)), () => deliveries.forEach(({ failed, row }) => row === undefined && failed(error)));",
    catches: [1, 2, 8, 13],
  },
  {
    name: "lost reply treated as success",
    file: "src/runtime/recovery.ts",
    find: "for (const { failed, row } of deliveries) if (row === undefined || isUnavailable(error)) failed(error);",
    replace:
      'for (const { handled } of deliveries) handled?.({ seq: checkpoint.head.seq, outcome: "taken", error: undefined });',
    catches: [1, 8],
  },
  {
    name: "sender not told of a lost reply",
    file: "src/runtime/recovery.ts",
    find: "for (const { failed, row } of deliveries) if (row === undefined || isUnavailable(error)) failed(error);",
    replace: "",
    catches: [8],
  },
  {
    name: "run in doubt not read again",
    file: "src/runtime/recovery.ts",
    find: "this.#giveUp(withStarts(checkpoint), deliveries, error);",
    replace: "this.#giveUp([], deliveries, error);",
    also: [noLook],
    catches: [8],
    from: 401,
  },
  {
    name: "repeat after the end told to be late",
    file: "src/runtime/recovery.ts",
    find: "else if (hasEnded(run)) this.#answerLate(run, delivery);",
    replace: "else if (hasEnded(run)) failed(endedError(run, event));",
    catches: [1, 8],
  },
  {
    name: "stale cache",
    file: "src/runtime/checkpoint.ts",
    find: "run.state = this.state;",
    replace: "if (this.outbox.begun.size === 0) run.state = this.state;",
    catches: [3, 4, 5, 8],
  },
  {
    name: "patch missing from an entry",
    file: "src/runtime/checkpoint.ts",
    find: "return diff(before as unknown as Json, after as unknown as Json);",
    replace:
      "const patches = diff(before as unknown as Json, after as unknown as Json); return patches.length > 4 ? patches.slice(1) : patches;",
    catches: [3],
  },
  {
    name: "snapshot of the wrong state",
    file: "src/runtime/checkpoint.ts",
    find: "state: pack(this.state as unknown as Json, this.#contents)",
    replace: "state: pack(this.run.state as unknown as Json, this.#contents)",
    catches: [3],
  },
  {
    name: "dedupe key forgotten",
    file: "src/runtime/checkpoint.ts",
    find: "else if (delivery?.key !== undefined) keys.push({ key: delivery.key, seq });",
    replace:
      "else if (delivery?.key !== undefined && this.taken.length === 1) keys.push({ key: delivery.key, seq });",
    catches: [1, 2],
  },
  {
    name: "wrong dedupe key",
    file: "src/runtime/checkpoint.ts",
    find: "else if (delivery?.key !== undefined) keys.push({ key: delivery.key, seq });",
    replace:
      "else if (delivery?.key !== undefined) keys.push({ key: delivery.event.type + (seq % 3), seq });",
    catches: [1, 2, 8],
  },
  {
    name: "inbox row not consumed",
    file: "src/runtime/checkpoint.ts",
    find: "consumed.push({ id: delivery.row, seq });",
    replace: "{ if (this.taken.length === 1) consumed.push({ id: delivery.row, seq }); }",
    catches: [2],
  },
  {
    name: "inbox row consumed without a step",
    file: "src/runtime/checkpoint.ts",
    find: "return {\n      expect: head.seq,",
    replace:
      "for (const { row } of this.run.inbox) if (row !== undefined) consumed.push({ id: row, seq: this.head.seq });\n    return {\n      expect: head.seq,",
    catches: [1],
  },
  {
    name: "send between runs lost",
    file: "src/runtime/checkpoint.ts",
    find: "sends: this.outbox.sends,",
    replace: "sends: this.outbox.sends.slice(0, 1),",
    catches: [4],
  },
  {
    name: "send between runs sent twice",
    file: "src/runtime/outbox.ts",
    find: "bytes, ...parts });",
    replace:
      'bytes, ...parts }); if (at % 5 === 0) this.sends.push({ tenant, run, id: id + " again", subject, priority: 0, at, bytes, ...parts });',
    catches: [4],
  },
  {
    name: "activity not recorded with its step",
    file: "src/runtime/checkpoint.ts",
    find: "begun: Array.from(this.outbox.begun.values(), ({ row }) => row),",
    replace: "begun: Array.from(this.outbox.begun.values(), ({ row }) => row).slice(0, 1),",
    catches: [4],
  },
  {
    name: "settled activity stays pending",
    file: "src/runtime/outbox.ts",
    find: "if (!this.begun.delete(key)) this.ended.push(key);",
    replace: "if (!this.begun.delete(key) && this.ended.length === 0) this.ended.push(key);",
    catches: [4],
  },
  {
    name: "child started twice",
    file: "src/runtime/outbox.ts",
    find: "newRun({ tenant, run: this.#childOf(key) }, bound, parts, at);",
    replace:
      "newRun({ tenant, run: this.starts.length > 0 || at % 3 === 0 ? this.#childOf(key) + at : this.#childOf(key) }, bound, parts, at);",
    catches: [4],
  },
  {
    name: "child result lost",
    file: "src/runtime/outbox.ts",
    find: "if (parent === undefined || (status ===",
    replace: "if (at % 4 === 0 || parent === undefined || (status ===",
    catches: [4, 8],
  },
  {
    name: "child not cancelled",
    file: "src/runtime/outbox.ts",
    find: 'else if (of === "child")',
    replace: 'else if (of === "child" && at % 3 > 0)',
    catches: [4],
  },
  {
    name: "priority ignored",
    file: "src/runtime/live-run.ts",
    find: ".priority > (inbox[best] as Delivery).priority",
    replace: ".priority === Number.POSITIVE_INFINITY",
    catches: [2],
  },
  {
    name: "finished run takes events",
    file: "src/runtime/handle.ts",
    find: 'if (run.head.status !== "active" || run.more || !this',
    replace: 'if (run.head.status === "parked" || run.more || !this',
    also: [noGuard],
    catches: [1, 2],
  },
  {
    name: "cancel forgotten",
    file: "src/runtime/handle.ts",
    find: "await this.#access.deliver(run, cancelEvent());",
    replace: "void this.#access.deliver(run, cancelEvent()).catch(() => {});",
    catches: [1],
  },
];
