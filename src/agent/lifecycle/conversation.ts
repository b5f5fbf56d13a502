/**
 * A conversation with an agent, as its users hold it: say something, listen to what comes of it, decide what it asks, stop it.
 *
 * Whoever listens can leave and come back with the cursor of the last part it had, to this process or another: what was
 * said meanwhile is there.
 */
import type { JsonObject } from "../../core/json.ts";
import { HoldfastError, isHoldfastError } from "../../errors.ts";
import { childName } from "../../runtime/child-name.ts";
import { systemIds } from "../../runtime/ids.ts";
import type { Run, Runtime, StartOptions } from "../../runtime/run.ts";
import { checkMessage } from "../thread/check-message.ts";
import { type Message, type Part, textOf } from "../thread/message.ts";
import { findMessage, messageAt, messagesOf } from "../thread/thread.ts";
import { successorIn } from "./away.ts";
import type { CallDecision } from "./calls.ts";
import type { AgentContext, PendingCall, Said } from "./context.ts";
import { listen } from "./listening.ts";
import type { AgentMachine } from "./machine.ts";
import { messageOf } from "./turn.ts";
import type { Cursor, TurnPart } from "./turn-part.ts";

export interface ConversationOptions extends Pick<StartOptions, "id" | "tenant" | "attributes"> {
  /** Whose conversation it is: the subject of its run, to whom the data belongs. */
  readonly user?: string;
}

/** Something that was said, and what comes of it. */
export interface Saying extends AsyncIterable<TurnPart> {
  /** Resolves when the agent has taken it; rejects with AGENT_BUSY if it does not. */
  readonly heard: Promise<void>;
  /** Resolves with the answer once the turn has ended. */
  answer(): Promise<string>;
}

export interface SayOptions {
  /** Of the message; a repeated one is the same message. */
  readonly id?: string;
  readonly metadata?: JsonObject;
  /** The id of a message of the user that this is said instead of; what followed that one stays as a branch. */
  readonly instead?: string;
}

/** An agent, as far as a conversation can be handed to it. */
export interface Receiver {
  readonly machine: AgentMachine;
}

export class Conversation {
  readonly run: Run<AgentContext>;

  readonly #runtime: Runtime;

  /** Whether its model may hand it over; where it may not, nobody need look. */
  readonly #mayMove: boolean;

  /** Whether what is said while it is busy waits. */
  readonly #mayWait: boolean;

  private constructor(run: Run<AgentContext>, runtime: Runtime, { definition }: AgentMachine) {
    this.run = run;
    this.#runtime = runtime;
    this.#mayMove = definition.states?.away !== undefined;
    this.#mayWait = definition.states?.working?.defer !== undefined;
  }

  /** A new conversation, or the one of this id. */
  static async open(
    runtime: Runtime,
    machine: AgentMachine,
    { user, ...options }: ConversationOptions = {},
  ): Promise<Conversation> {
    const run = await runtime.start(machine, {
      ...options,
      ...(user === undefined ? {} : { subject: user }),
    });
    return new Conversation(run as Run<AgentContext>, runtime, machine);
  }

  get id(): string {
    return this.run.id;
  }

  /** Says something; it is sent at once, whether or not anybody listens. */
  say(said: string | readonly Part[], { id = systemIds.next(), ...more }: SayOptions = {}): Saying {
    const parts: readonly Part[] = typeof said === "string" ? [{ type: "text", text: said }] : said;
    const sent = this.#say({ id, parts, ...more });
    const turn = () => this.#turn(id, sent);
    const heard = sent.then(() => {});
    // Whoever asks for one of the two is told; nobody need ask for both.
    heard.catch(() => {});
    return {
      heard,
      [Symbol.asyncIterator]: turn,
      answer: async () => {
        for await (const part of turn()) {
          if (part.type !== "end") continue;
          if (part.outcome !== "answered") throw unansweredError(this.id, part);
          const { thread } = (await (await this.#after(part.cursor.run)).at(part.cursor.seq)).context;
          const answer = part.head === null ? undefined : messageAt(thread, part.head);
          return answer?.role === "assistant" ? textOf(answer) : "";
        }
        throw unansweredError(this.id, { outcome: "stopped" });
      },
    };
  }

  /** Sends what is said; throws MESSAGE_INVALID for what is no message. */
  async #say(said: Said): Promise<Cursor> {
    checkMessage(messageOf(said, 0));
    try {
      return await this.#send("say", said as unknown as JsonObject, { key: said.id, message: said.id });
    } catch (error) {
      // One that lets others wait is never busy: what it does not take cannot be said.
      const refusals = ["CONTRACT_VIOLATED", ...(this.#mayWait ? ["AGENT_BUSY"] : [])];
      if (!isHoldfastError(error) || !refusals.includes(error.code)) throw error;
      const { id, instead } = said;
      const why =
        instead === undefined
          ? "its id is that of another one"
          : `its id must be new, and ${JSON.stringify(instead)} a message of the user`;
      const message = `The message ${JSON.stringify(id)} cannot be said to ${JSON.stringify(this.id)}: ${why}`;
      throw new HoldfastError("MESSAGE_INVALID", message, { cause: error });
    }
  }

  /** What comes of one message, from the step that took it to the end of its turn. */
  async *#turn(id: string, sent: Promise<Cursor>): AsyncGenerator<TurnPart> {
    let isOurs = false;
    for await (const part of this.listen(await sent)) {
      // What waited in line is taken when the turn before it is over.
      isOurs ||= (part.type === "said" || part.type === "end") && part.message === id;
      if (!isOurs) continue;
      if (part.type !== "said") yield part;
      if (part.type === "end" && part.message === id) return;
    }
  }

  /** Everything from a cursor on, turn after turn, until the conversation is closed; from now on, unless one is given. */
  async *listen(cursor?: Cursor): AsyncGenerator<TurnPart> {
    yield* listen((after) => this.#after(after), cursor ?? (await this.#now()));
  }

  /** Calls that people are asked about. */
  async asked(): Promise<readonly PendingCall[]> {
    const { context } = await (await this.current()).state();
    return context.calls.filter(({ decision }) => decision === "asked");
  }

  approve(call: string, who: Omit<CallDecision, "call" | "isApproved"> = {}): Promise<void> {
    return this.#decide({ ...who, call, isApproved: true });
  }

  reject(call: string, who: Omit<CallDecision, "call" | "isApproved"> = {}): Promise<void> {
    return this.#decide({ ...who, call, isApproved: false });
  }

  async #decide(decision: CallDecision): Promise<void> {
    const receipt = await (await this.current()).send("decide", decision as unknown as JsonObject);
    const { outcome } = await receipt.handled();
    if (outcome === "taken") return;
    throw new HoldfastError(
      "CALL_UNKNOWN",
      `Nobody is asked about the call ${JSON.stringify(decision.call)} of ${JSON.stringify(this.id)}, or not ${JSON.stringify(decision.by ?? "whoever this is")}; \`asked\` lists the calls that wait`,
    );
  }

  /** Stops what the agent is doing; what it said so far is kept, and it can be spoken to again. */
  async stop(): Promise<void> {
    const run = await this.current();
    const { outcome, seq } = await (await run.send("stop")).handled();
    if (outcome !== "taken") return;
    // The step that stops it may have left it to find out what it had said.
    for await (const { seq: reached } of run.follow(seq))
      if ((await run.at(reached)).configuration[0] !== "stopping") return;
  }

  async close(): Promise<void> {
    await this.#send("close");
  }

  /**
   * Hands the conversation to another agent, which goes on with all that was said and planned; this one is over then. Called
   * again, it gives the same successor.
   */
  async handOver(
    to: Receiver,
    { id = `${this.id}/${to.machine.id}` }: { readonly id?: string } = {},
  ): Promise<Conversation> {
    let run = await this.current();
    const { successor } = (await run.state()).context;
    if (successor === "") {
      const { run: rest } = await this.#send("handOver", { to: id }, { key: `handOver ${id}` });
      run = await this.#after(rest);
    } else if (successor !== id) throw handedOverError(this.id, successor);
    // Read once nothing more can be said here: until then others may have.
    const { thread, working } = (await run.state()).context;
    const { subject } = await run.head();
    const input = { thread, working };
    const options = { id, tenant: run.tenant, subject, input };
    const next = await this.#runtime.start(to.machine as never, options as never);
    return new Conversation(next as unknown as Run<AgentContext>, this.#runtime, to.machine);
  }

  /** The messages of the branch that is going on. */
  async messages(): Promise<readonly Message[]> {
    return messagesOf((await (await this.current()).state()).context.thread);
  }

  /** The run that has the conversation: the one it began with, until its model hands it over. */
  async current(): Promise<Run<AgentContext>> {
    return this.#after((await this.#now()).run);
  }

  /** Where the conversation is now; or was when a message was heard, if it was. */
  async #now(message?: string): Promise<Cursor> {
    if (!this.#mayMove) return { seq: (await this.run.head()).seq };
    for (let run = ""; ; ) {
      const state = await (await this.#after(run)).state();
      const key = successorIn(state);
      const isHeard = message !== undefined && findMessage(state.context.thread, message) !== undefined;
      if (key === undefined || isHeard) return { seq: state.seq, ...(run === "" ? {} : { run }) };
      run += `/${key}`;
    }
  }

  /** The run whose id is that of the first one and this. */
  async #after(rest = ""): Promise<Run<AgentContext>> {
    if (rest === "") return this.run;
    const { id, tenant } = this.run;
    const [, ...keys] = rest.split("/");
    const run = await this.#runtime.run(keys.reduce(childName, id), { tenant });
    return run as unknown as Run<AgentContext>;
  }

  /** Sends an event that the agent must take; gives the checkpoint at which it did, or put it off. */
  async #send(
    type: string,
    data?: JsonObject,
    { key, message }: { readonly key?: string; readonly message?: string } = {},
  ): Promise<Cursor> {
    const { run: rest } = await this.#now(message);
    const run = await this.#after(rest);
    const receipt = await run.send(type, data, key === undefined ? {} : { key });
    const { outcome, seq, error } = await receipt.handled();
    if (outcome === "taken" || outcome === "deferred")
      return { seq, ...(rest === undefined ? {} : { run: rest }) };
    if (error !== undefined && error.code !== "EVENT_UNHANDLED") throw error;
    throw new HoldfastError(
      "AGENT_BUSY",
      `The agent ${JSON.stringify(this.id)} takes no ${JSON.stringify(type)} now; wait until it is idle or done, stop it, or define it with another \`whenBusy\``,
    );
  }
}

const handedOverError = (id: string, successor: string): HoldfastError =>
  new HoldfastError(
    "AGENT_BUSY",
    `The conversation ${JSON.stringify(id)} was handed to ${JSON.stringify(successor)} already; go on there`,
  );

function unansweredError(
  id: string,
  { outcome, reason }: Pick<Extract<TurnPart, { readonly type: "end" }>, "outcome" | "reason">,
): HoldfastError {
  const why = typeof reason?.message === "string" ? `: ${reason.message}` : "";
  return new HoldfastError(
    "TURN_UNANSWERED",
    `The turn of ${JSON.stringify(id)} ${outcome === "stopped" ? "was stopped" : "failed"}${why}`,
  );
}
