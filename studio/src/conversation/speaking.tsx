/** What the model says right now, word by word, while the activity that asks it is under way. */
import { useEffect, useRef, useState } from "react";
import { client } from "../data/client.ts";
import type { Chunk, RunDetail } from "../data/contract.ts";

/** What a chunk adds to the text: agents write deltas as text or as `{ text }`. */
function textOf(data: Chunk["data"]): string {
  if (typeof data === "string") return data;
  const { text, delta } = (data ?? {}) as { readonly text?: unknown; readonly delta?: unknown };
  return typeof text === "string" ? text : typeof delta === "string" ? delta : "";
}

interface SpeakingProps {
  readonly detail: RunDetail;
  /** The checkpoint whose messages are shown. */
  readonly seq: number;
}

export function Speaking({ detail, seq }: SpeakingProps) {
  const shown = useRef<string>(undefined);
  const thinking = detail.waiting.for.find((wait) => wait.for === "activity" && wait.activity === "think");
  // What was said stays until the message that it became is there.
  if (thinking?.for === "activity") shown.current = thinking.key;
  else if (seq >= detail.seq) shown.current = undefined;
  const key = shown.current;
  return key === undefined ? null : <Words key={key} run={detail.run} activity={key} />;
}

function Words({ run, activity }: { readonly run: string; readonly activity: string }) {
  const [said, setSaid] = useState({ text: "", attempt: 0 });
  useEffect(() => {
    const stop = new AbortController();
    const listen = async () => {
      for await (const { data } of client.runs.chunks({ run, key: activity }, { signal: stop.signal }))
        setSaid((before) => ({
          // A later attempt says all of it again.
          text: (data.attempt > before.attempt ? "" : before.text) + textOf(data.data),
          attempt: data.attempt,
        }));
    };
    // It may be over by the time it is asked for; the message itself comes with the next step.
    listen().catch(() => {});
    return () => stop.abort();
  }, [run, activity]);
  return (
    <article className="message" data-role="assistant" data-speaking="true">
      <header className="message-head">
        <b>agent</b> <span>{said.text === "" ? "thinks…" : "speaks…"}</span>
      </header>
      <p className="message-text">{said.text}</p>
    </article>
  );
}
