/**
 * What a user means: "it", "that file" and "the second one" resolved by what was mentioned before, and told to whoever plans
 * and thinks. It is done by rules; where two things fit nearly as well, a function may be asked, a model usually.
 *
 * What is meant is shown to a model beside the user's own words, and not as an instruction: names of things come from
 * anybody who took part.
 */
import type { ActivityScope } from "../../core/activity.ts";
import { type Message, textOf } from "../thread/message.ts";
import {
  type Mention,
  noteMentions,
  type Resolved,
  type ResolveOptions,
  resolveReferencesWith,
  type Salience,
  type TextReading,
} from "../thread/salience.ts";
import { newestFirst } from "../thread/thread.ts";
import type { AgentContext, Changing, Referred } from "./context.ts";
import { charge, counting, type Spending } from "./spending.ts";

/** How references are resolved. */
export interface References extends Omit<ResolveOptions, "resolver"> {
  /** Says which candidate is meant, or undefined if it cannot tell: a model, usually, which says what it spent in the scope. */
  readonly resolver?: (
    question: Parameters<NonNullable<ResolveOptions["resolver"]>>[0],
    scope: ActivityScope,
  ) => Promise<string | undefined>;
  /** Reads a language: `readEnglish` of `holdfast/agent/english`, for instance. */
  readonly read: (text: string) => TextReading;
}

/** What the activity that understands gives back: what is meant, and what was mentioned since it was asked last, in its order. */
export interface Understood extends Spending {
  readonly meant: readonly Referred[];
  readonly mentioned: readonly { readonly by: "user" | "assistant"; readonly mentions: readonly Mention[] }[];
}

/** A mention that nobody can mean any more need not be read: so many messages back and no more. */
const messagesMax = 6;

export const understandWith =
  ({ read, resolver, ...options }: References) =>
  async (_: unknown, given: ActivityScope): Promise<Understood> => {
    const { context } = await given.state<AgentContext>();
    const { scope, spent } = counting(given);
    const [said, ...before] = newSince(context);
    if (said === undefined) return { meant: [], mentioned: [] };
    const salience = structuredClone(context.salience) as Salience;
    const mentioned: Understood["mentioned"][number][] = [];
    for (const { role, text } of before.reverse()) {
      const { mentions } = read(text);
      noteMentions(salience, { mentions }, role);
      mentioned.push({ by: role, mentions });
    }
    const reading = read(said.text);
    const found = await resolveReferencesWith(
      salience,
      { text: said.text, reading },
      { ...options, ...(resolver && { resolver: (question) => resolver(question, scope) }) },
    );
    mentioned.push({ by: "user", mentions: reading.mentions });
    return { meant: found.flatMap(referred), mentioned, ...spent() };
  };

/** What was said since the last turn was understood, newest first: that of the user, and before it answers. */
function newSince({ thread, turn, salienceTo }: AgentContext) {
  const said: { role: "user" | "assistant"; text: string }[] = [];
  let isFound = false;
  for (const message of newestFirst(thread)) {
    const { id, role } = message;
    isFound ||= id === turn.message;
    if (!isFound) continue;
    if (id === salienceTo || said.length >= messagesMax) break;
    if (role === "user" || role === "assistant") said.push({ role, text: textOf(message) });
  }
  return said;
}

const referred = ({ phrase, entity, margin, asked }: Resolved): Referred[] =>
  entity === undefined ? [] : [{ phrase, entity, margin, asked }];

/** What was understood is kept. */
export function keepUnderstood(draft: Changing, understood: Understood): void {
  const { meant, mentioned } = understood;
  charge(draft, understood);
  for (const { by, mentions } of mentioned) noteMentions(draft.salience as Salience, { mentions }, by);
  draft.salienceTo = draft.turn.message;
  draft.turn.meant = [...meant];
}

/**
 * The note that a model is shown beside what the user said; empty if nothing is to be said. What is said often is told once,
 * and no more than fits: what the user said is worth more than what "it" means in it.
 */
export function noteOf(
  { meant }: Pick<AgentContext["turn"], "meant">,
  fits: (note: string) => boolean,
): string {
  const told = meant.map(
    ({ phrase, entity }) => `${JSON.stringify(phrase)} here means ${JSON.stringify(entity)}`,
  );
  let note = "";
  let shown = "";
  for (const one of new Set(told)) {
    shown += `${shown === "" ? "" : "; "}${one}`;
    if (!fits(`[${shown}]`)) break;
    note = `[${shown}]`;
  }
  return note;
}

/** A window in which the message of the turn has the note beside it. */
export const withNote = (messages: readonly Message[], of: string, note: string): readonly Message[] =>
  note === ""
    ? messages
    : messages.map((message) =>
        message.id === of && message.role === "user"
          ? { ...message, parts: [...message.parts, { type: "text", text: `\n\n${note}` }] }
          : message,
      );
