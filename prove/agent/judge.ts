/**
 * What must hold of a conversation, however often the agent was killed in it.
 *
 * A1. It comes to its end by itself: both turns are answered, and no process fails.
 * A2. No call is without its result, and no result without its call.
 * A3. A tool that is called again for a call is given the same key; one that may happen once happens once at most.
 * A4. Whoever listened has heard every word of every answer, once, and every call, result and question to people, once and in their order.
 * A5. What it remembers, sums up and answers is what it would have been had nobody killed it: no fact is noted twice or
 *     lost, and no summary is made of other messages.
 */
import type { Message, TurnPart } from "holdfast/agent";
import { textOf } from "holdfast/agent";

export type Part = TurnPart;

/** What one process said. */
export interface Life {
  readonly marks: string[];
  readonly parts: Part[];
  /** `NAME CALL KEY` of every call. */
  readonly tools: string[];
  thoughts: number;
  thread: readonly Message[] | undefined;
  /** What it remembered and had summed up in the end. */
  kept: string;
  wasKilled: boolean;
  /** Whether it was ended since it took too long. */
  wasLate: boolean;
  errors: string;
}

/** What is wrong with a conversation, held against one in which nobody was killed. */
export function judge(lives: readonly Life[], whole: readonly Life[]): string[] {
  const last = lives.at(-1) as Life;
  const thread = last.thread;
  if (thread === undefined)
    return [`A1: it never came to its end: ${last.errors.trim().slice(0, 2_000) || whereOf(last)}`];
  const parts = lives.flatMap((life) => life.parts);
  return [
    ...[...endsOf(parts), ...linksOf(thread), ...callsOf(lives), ...heardOf(parts, thread)],
    ...sameAs(last, whole.at(-1) as Life),
  ];
}

/** Where it was last seen. */
const whereOf = ({ wasLate, marks, parts }: Life): string =>
  `it ${wasLate ? "hung" : "was gone"} after ${marks.at(-1) ?? "nothing"}, with ${parts.length} parts`;

function sameAs(last: Life, whole: Life): string[] {
  const [said, wanted] = [last, whole].map(({ thread = [] }) => spokenIn(thread).join("\n"));
  return [
    ...(last.kept === whole.kept ? [] : [`A5: it has kept ${last.kept}, where that should be ${whole.kept}`]),
    ...(said === wanted ? [] : [`A5: it has answered ${said}, where that should be ${wanted}`]),
  ];
}

const spokenIn = (thread: readonly Message[]): string[] =>
  thread.flatMap((message) => (message.role === "assistant" ? [textOf(message)] : []));

function endsOf(parts: readonly Part[]): string[] {
  const ends = parts.flatMap((part) => (part.type === "end" ? [`${part.message} ${part.outcome}`] : []));
  const wanted = ["first answered", "second answered"];
  return ends.join() === wanted.join() ? [] : [`A1: the turns ended as ${ends.join(", ")}`];
}

function linksOf(thread: readonly Message[]): string[] {
  const calls = thread.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "call" ? [part.id] : [])),
  );
  const results = thread.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "result" ? [part.call] : [])),
  );
  return calls.toSorted().join() === results.toSorted().join()
    ? []
    : [`A2: calls ${calls.join(", ")} have the results ${results.join(", ")}`];
}

function callsOf(lives: readonly Life[]): string[] {
  const problems: string[] = [];
  const keys = new Map<string, string>();
  let mails = 0;
  for (const [name, call, key] of lives.flatMap(({ tools }) => tools.map((line) => line.split(" ")))) {
    if ((keys.get(call as string) ?? key) !== key)
      problems.push(
        `A3: ${name} was called again for ${call} with the key ${key}, after ${keys.get(call as string)}`,
      );
    keys.set(call as string, key as string);
    if (name === "mail" && ++mails === 2) problems.push("A3: the mail was sent twice");
  }
  return problems;
}

/** Puts together what was said from what was heard, as a listener would. */
function heardOf(parts: readonly Part[], thread: readonly Message[]): string[] {
  const spoken = spokenIn(thread);
  const heard = [""];
  for (const part of parts) {
    if (part.type === "restart") heard[heard.length - 1] = "";
    else if (part.type === "text") heard[heard.length - 1] += part.text;
    else heard.push("");
  }
  const links = thread.flatMap((message) =>
    message.parts
      .filter(({ type }) => type === "call" || type === "result")
      .map((part) => JSON.stringify(part)),
  );
  const told = parts.flatMap((part) =>
    part.type === "call"
      ? [JSON.stringify(part.call)]
      : part.type === "result"
        ? [JSON.stringify(part.result)]
        : [],
  );
  const asked = parts.flatMap((part) => (part.type === "approval" ? part.calls.map(({ id }) => id) : []));
  return [
    ...(new Set(asked).size === asked.length
      ? []
      : [`A4: people were asked again about ${asked.join(", ")}`]),
    ...(parts.some(({ type }) => type === "restart") ? ["A4: what was said again is not the same"] : []),
    ...differ("words", [heard.join("")], [spoken.join("")]),
    ...differ("calls and results", told, links),
  ];
}

const differ = (what: string, heard: readonly string[], said: readonly string[]): string[] =>
  heard.join("\n") === said.join("\n")
    ? []
    : [`A4: the ${what} that were heard are ${heard.join(", ")}, where there were ${said.join(", ")}`];
