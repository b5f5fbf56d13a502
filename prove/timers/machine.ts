/** A plan as a machine of Holdfast. */
import { type Action, defineMachine, type Machine, type StateDefinition } from "../../src/index.ts";
import type { Plan, Policy, RegionPlan, StatePlan } from "./plan.ts";

interface Context {
  name: string;
  peer: string;
  quiet: boolean;
  rings: number;
  /** How often a state of each region was entered. */
  entries: Record<string, number>;
}

interface Ring {
  readonly n: string;
  readonly ms: number;
  readonly policy: Policy;
  readonly id?: string;
  readonly to?: string;
}

/** Runs of it take `set`, `cancel`, `go`, `reset`, `quiet`, `finish`, and `ring`, which timers send. */
export function machineOf(plan: Plan): Machine {
  const regions = plan.regions.map((region, index) => [`r${index}`, regionOf(region, index)] as const);
  return defineMachine<Context>({
    id: plan.id,
    start: ({ input }) => {
      const { name, peer } = input as unknown as Pick<Context, "name" | "peer">;
      return {
        name,
        peer,
        quiet: false,
        rings: 0,
        entries: Object.fromEntries(regions.map(([key]) => [key, 0])),
      };
    },
    initial: "live",
    states: {
      live: { type: "parallel", states: Object.fromEntries(regions) as never },
      over: { type: "final" },
    },
    on: {
      ring: { update: (draft) => void draft.rings++ },
      quiet: {
        update: (draft) => {
          draft.quiet = true;
        },
      },
      set: { actions: { send: ({ event }) => ringOf(event.data as unknown as Ring) } },
      cancel: { actions: { cancel: ({ event }) => (event.data as { id: string }).id } },
      finish: "over",
    },
  }) as unknown as Machine;
}

function ringOf({ n, ms, policy, id, to }: Ring) {
  return {
    ...{ type: "ring", data: { n }, delay: ms, resume: policy },
    ...(id === undefined ? {} : { id }),
    ...(to === undefined ? {} : { to: { run: to } }),
  };
}

function regionOf({ delays, states }: RegionPlan, index: number): StateDefinition<Context> {
  const isHere = (data: unknown) => (data as { region: number }).region === index;
  const goesTo = (data: unknown, state: number) => isHere(data) && (data as { to: number }).to === state;
  const keys = states.map((_, state) => `s${state}`);
  return {
    initial: "s0",
    after: Object.fromEntries(
      delays.map(({ ms, policy }) => [
        `${ms}ms`,
        { resume: policy, update: (draft: Context) => void draft.rings++ },
      ]),
    ),
    states: {
      ...Object.fromEntries(states.map((state, at) => [`s${at}`, stateOf(state, index)])),
      idle: {},
    },
    on: {
      go: keys.map((key, state) => ({ guard: ({ event }) => goesTo(event.data, state), target: `.${key}` })),
      reset: { guard: ({ event }) => isHere(event.data), target: ".s0", reenter: true },
    },
  };
}

function stateOf({ delays, sends, cancels }: StatePlan, region: number): StateDefinition<Context> {
  const after = delays.map(({ ms, policy, to }) => [
    `${ms}ms`,
    [
      { guard: ({ context }: { context: Context }) => context.quiet, target: "idle", resume: policy },
      { target: `s${to}`, reenter: true, resume: policy },
    ],
  ]);
  const rings: Action<Context>[] = sends.map(({ to, ...send }, index) => ({
    send: ({ context }) => {
      const n = `${context.name} ${region} ${context.entries[`r${region}`]} ${index}`;
      const { id, ...ring } = send;
      return ringOf({ ...ring, n, ...(id && { id }), ...(to === "peer" && { to: context.peer }) });
    },
  }));
  return {
    entry: [
      {
        update: (draft) => {
          draft.entries[`r${region}`] = (draft.entries[`r${region}`] as number) + 1;
        },
      },
      { choose: [{ guard: ({ context }) => !context.quiet, actions: rings }] },
    ],
    exit: cancels.map((cancel) => ({ cancel })),
    after: Object.fromEntries(after),
  };
}
