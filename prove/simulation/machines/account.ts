/**
 * Accounts of a bank. Tokens move between runs by sends: at once, later through a timer of the sender, or by a delayed
 * send. Whatever happens, the tokens of all accounts and of all that is on its way keep their sum. An invariant refuses
 * what is not covered.
 */
import { defineMachine, type Machine } from "holdfast";
import type { Kind } from "./kind.ts";

export interface AccountContext {
  readonly balance: number;
  /** Payments that were ordered for later and can be recalled until then, by their number. */
  readonly pending: Readonly<Record<string, number>>;
}

interface Payment {
  readonly n: number;
  readonly to: string;
  readonly amount: number;
  readonly delayMs: number;
  /** The payment to recall. */
  readonly of: number;
}

const paymentOf = (event: { readonly data?: unknown }): Payment => event.data as Payment;

export const accountMachine = defineMachine<AccountContext>({
  id: "account",
  start: ({ input }) => ({ balance: input as number, pending: {} }),
  unhandled: "reject",
  invariants: { covered: ({ context }) => context.balance >= 0 },
  initial: "open",
  states: {
    open: {
      on: {
        deposit: {
          update: (draft, { event }) => {
            draft.balance += paymentOf(event).amount;
          },
        },
        transfer: {
          update: (draft, { event }) => {
            draft.balance -= paymentOf(event).amount;
          },
          actions: {
            send: ({ event }) => {
              const { n, to, amount } = paymentOf(event);
              return { type: "deposit", data: { n, amount }, to: { run: to } };
            },
          },
        },
        mail: {
          update: (draft, { event }) => {
            draft.balance -= paymentOf(event).amount;
          },
          actions: {
            send: ({ event }) => {
              const { n, to, amount, delayMs } = paymentOf(event);
              return { type: "deposit", data: { n, amount }, to: { run: to }, delay: delayMs };
            },
          },
        },
        later: {
          update: (draft, { event }) => {
            const { n, amount } = paymentOf(event);
            draft.balance -= amount;
            draft.pending[n] = amount;
          },
          actions: {
            send: ({ event }) => {
              const { n, to, amount, delayMs } = paymentOf(event);
              return { type: "pay", data: { n, to, amount }, delay: delayMs, id: `later ${n}` };
            },
          },
        },
        pay: {
          update: (draft, { event }) => {
            delete draft.pending[paymentOf(event).n];
          },
          actions: {
            send: ({ event }) => {
              const { n, to, amount } = paymentOf(event);
              return { type: "deposit", data: { n, amount }, to: { run: to } };
            },
          },
        },
        recall: {
          guard: ({ context, event }) => context.pending[paymentOf(event).of] !== undefined,
          actions: [
            { cancel: ({ event }) => `later ${paymentOf(event).of}` },
            {
              update: (draft, { event }) => {
                const { of } = paymentOf(event);
                draft.balance += draft.pending[of] as number;
                delete draft.pending[of];
              },
            },
          ],
        },
      },
    },
  },
});

/** The number of every account's tokens at first. */
export const firstBalance = 100;

export const account: Kind = {
  machine: accountMachine as unknown as Machine,
  runsMin: 2,
  runsMax: 4,
  rests: ["open"],
  cancellable: false,
  input: () => firstBalance,
  order(n, random, peers) {
    const type = random.pick(["transfer", "transfer", "mail", "later", "later", "recall"]);
    // Sometimes more than there is, so that the invariant has something to refuse.
    const amount = random.chance(0.15) ? random.between(200, 400) : random.between(1, 60);
    const of = random.between(Math.max(1, n - 6), n);
    // Sometimes to nobody: then it must be found among the dead letters.
    const to = random.chance(0.06) ? "nobody" : random.pick(peers);
    return { type, data: { n, to, amount, delayMs: random.between(0, 20_000), of } };
  },
};
