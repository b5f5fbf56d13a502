/**
 * News: one stream of all steps for the whole page, whatever is open on it, since browsers allow few connections to one
 * server. It is closed while nobody looks at the page. Whoever shows something says which news concern it.
 */
import { useEffect, useRef } from "react";
import { client } from "./client.ts";
import type { StepNews } from "./contract.ts";
import { lookAgain } from "./query-client.ts";

export { useConnection } from "./connection.ts";

type Listener = (news: StepNews) => void;
const listeners = new Set<Listener>();

/** What is true of lists, counts and details may have changed in any way: all of it is read again. */
const readAnew = (): void => void lookAgain({ predicate: ({ queryKey }) => queryKey[0] !== "picture" });

async function listen(signal: AbortSignal): Promise<void> {
  for await (const { type, data } of client.steps.follow({}, { signal })) {
    if (type === "gap") readAnew();
    else for (const listener of listeners) listener(data);
  }
}

let listening: AbortController | undefined;

function begin(): void {
  if (listening !== undefined || document.hidden) return;
  listening = new AbortController();
  const { signal } = listening;
  listen(signal).catch(() => {
    // Who may not listen, or not yet, sees what was read; the next look at the page tries again.
    listening = undefined;
  });
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    listening?.abort();
    listening = undefined;
  } else if (listeners.size > 0) {
    begin();
    readAnew();
  }
});

/** Is told of every step of any run, while the component is on the page. */
export function useNews(listener: Listener): void {
  const newest = useRef(listener);
  newest.current = listener;
  useEffect(() => {
    const told: Listener = (news) => newest.current(news);
    listeners.add(told);
    begin();
    return () => void listeners.delete(told);
  }, []);
}

/** The same function, called at most once in a while, and once more at its end if it was asked for meanwhile. */
export function atMostEvery(ms: number, run: () => void): () => void {
  let timer: number | undefined;
  let isWanted = false;
  const tick = () => {
    timer = undefined;
    if (!isWanted) return;
    isWanted = false;
    run();
    timer = window.setTimeout(tick, ms);
  };
  return () => {
    isWanted = true;
    if (timer === undefined) tick();
  };
}
