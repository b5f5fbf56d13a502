/**
 * How clients reach cells: through a process that owns the runtime, or in a runtime of their own. Either way an operation is
 * answered, or nobody knows what became of it.
 */
import { connect, type Socket } from "node:net";
import { createRuntime, isHoldfastError, type Json, type Runtime } from "holdfast";
import { byLine } from "../kill/ledger.ts";
import { type Answer, type Kind, machines, type Operation } from "./cell.ts";
import { type Lane, storeOf } from "./lane.ts";

export interface Request {
  readonly run: string;
  readonly kind: Kind;
  readonly operation: Operation;
  /** A repeat under the same key is the same operation. */
  readonly key?: string;
}

export interface Access {
  /** Throws LostError if nobody knows what became of it. */
  perform(request: Request): Promise<Answer>;
  close(): Promise<void>;
}

/** Says that an operation may have happened, may happen yet, or never will. */
export class LostError extends Error {}

/** Does an operation with a runtime; the cell begins with it if there is none. */
export async function performOn(runtime: Runtime, { run, kind, operation, key }: Request): Promise<Answer> {
  const cell = await runtime.start(machines[kind], { id: run });
  if (operation.kind === "look") return (await cell.state()).context.value;
  const { kind: type, ...given } = operation;
  const data = "value" in given ? given.value : given;
  return (await cell.ask(type, data as Json, key === undefined ? {} : { key })) as Answer;
}

/** Whether an error means that the operation may have happened all the same: the store cannot tell, or the runtime is over. */
export function leavesDoubt(error: unknown): boolean {
  return (
    isHoldfastError(error) && ["STORE_UNAVAILABLE", "STORE_OWNED", "RUNTIME_CLOSED"].includes(error.code)
  );
}

/** What goes over the wire to an owner, a line each. */
export interface Asked extends Request {
  readonly number: number;
}
export type Told =
  | { readonly number: number; readonly answer: Answer }
  | { readonly number: number; readonly lost: true };

/** How long to wait until an owner that is not there is looked for again. */
const absenceMs = 15;

interface Waiting {
  answered(answer: Answer): void;
  lost(): void;
}

/** Cells of a process that owns them; when it dies, whatever was asked of it is lost, and the next one is asked. */
export class RemoteCells implements Access {
  readonly #path: string;
  readonly #waiting = new Map<number, Waiting>();
  #socket: Promise<Socket> | undefined;
  #count = 0;
  #isClosed = false;

  constructor(path: string) {
    this.#path = path;
  }

  async perform(request: Request): Promise<Answer> {
    this.#socket ??= this.#connect();
    const socket = await this.#socket;
    const number = ++this.#count;
    return new Promise((answered, reject) => {
      this.#waiting.set(number, { answered, lost: () => reject(new LostError()) });
      socket.write(`${JSON.stringify({ ...request, number } satisfies Asked)}\n`, (error) => {
        if (error) this.#lose();
      });
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    (await this.#socket)?.destroy();
  }

  async #connect(): Promise<Socket> {
    for (;;) {
      const socket = connect(this.#path);
      const isThere = await new Promise<boolean>((resolve) => {
        socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
      });
      if (isThere) return this.#listen(socket);
      if (this.#isClosed) throw new LostError();
      await new Promise((resolve) => setTimeout(resolve, absenceMs));
    }
  }

  #listen(socket: Socket): Socket {
    const hear = byLine((line) => {
      const told = JSON.parse(line) as Told;
      const waiting = this.#waiting.get(told.number);
      this.#waiting.delete(told.number);
      if ("answer" in told) waiting?.answered(told.answer);
      else waiting?.lost();
    });
    socket.setEncoding("utf8").on("data", hear);
    socket.on("error", () => {}).on("close", () => this.#lose());
    return socket;
  }

  #lose(): void {
    this.#socket = undefined;
    for (const { lost } of this.#waiting.values()) lost();
    this.#waiting.clear();
  }
}

/** Cells of a runtime in this process, on a store that it shares with others. One that was put out is replaced. */
export class OwnCells implements Access {
  readonly #lane: Lane;
  #runtime: Promise<Runtime>;

  constructor(lane: Lane) {
    this.#lane = lane;
    this.#runtime = this.#open();
  }

  async #open(): Promise<Runtime> {
    const opening = createRuntime({ store: storeOf(this.#lane), machines: Object.values(machines) });
    const runtime = await opening;
    void runtime.stopped.then(async (error) => {
      if (error === undefined) return;
      this.#runtime = this.#open();
      await runtime.close();
    });
    return runtime;
  }

  async perform(request: Request): Promise<Answer> {
    try {
      return await performOn(await this.#runtime, request);
    } catch (error) {
      if (leavesDoubt(error)) throw new LostError();
      throw error;
    }
  }

  async close(): Promise<void> {
    await (await this.#runtime).close();
  }
}
