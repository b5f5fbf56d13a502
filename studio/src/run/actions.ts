/** What can be done with a run. Each tells the page to read again what it changed. */
import { useMutation } from "@tanstack/react-query";
import { client } from "../data/client.ts";
import { lookAgainAt } from "../data/query-client.ts";

export type Deed = "cancel" | "retry" | "pause" | "advance";

export const useDeed = (run: string) =>
  useMutation({
    mutationFn: (deed: Deed) => client.runs[deed]({ run }),
    onSettled: () => lookAgainAt(run),
  });

export interface SentEvent {
  readonly type: string;
  readonly data?: unknown;
}

/** Sends an event and waits for what becomes of it. */
export const useSend = (run: string) =>
  useMutation({
    mutationFn: async ({ type, data }: SentEvent) => {
      const events = [{ type, ...(data === undefined ? {} : { data: data as never }) }];
      const { events: sent } = await client.runs.send({ run, events, wait: "handled" });
      return sent[0]?.handled;
    },
    onSettled: () => lookAgainAt(run),
  });

export interface Fork {
  readonly at: number;
  readonly fork?: string;
  readonly context?: Record<string, unknown>;
}

export const useFork = (run: string) =>
  useMutation({
    mutationFn: (fork: Fork) => client.runs.fork({ run, ...fork } as Parameters<typeof client.runs.fork>[0]),
    onSettled: () => lookAgainAt(run),
  });

export interface Rollback {
  readonly to: number;
  readonly context?: Record<string, unknown>;
}

export const useRollback = (run: string) =>
  useMutation({
    mutationFn: (rollback: Rollback) =>
      client.runs.rollback({ run, ...rollback } as Parameters<typeof client.runs.rollback>[0]),
    onSettled: () => lookAgainAt(run),
  });

export const useBreakpoints = (run: string) =>
  useMutation({
    mutationFn: (breakpoints: readonly ({ readonly state: string } | { readonly event: string })[]) =>
      client.runs.breakpoints({ run, breakpoints: [...breakpoints] }),
    onSettled: () => lookAgainAt(run),
  });
