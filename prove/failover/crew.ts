/** The worker processes of a proof, and the ledger of what they said: kept outside, where no store can reach it. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { byLine, Ledger } from "../kill/ledger.ts";

const script = fileURLToPath(new URL("./worker.ts", import.meta.url));

/** When an event was first sent, and when it was acknowledged, on this machine's clock. */
export interface Told {
  readonly run: string;
  readonly event: string;
  readonly n: number;
  readonly sentAt: number;
  ackedAt: number | undefined;
}

/** A worker process. */
export interface Hand {
  readonly name: string;
  readonly child: ChildProcess;
  /** Resolves when it has said something: from then on it heeds signals. */
  readonly spoke: Promise<void>;
  readonly ended: Promise<void>;
  /** Whether it is to end. */
  isLeaving: boolean;
}

export class Crew {
  readonly ledger = new Ledger();
  /** Every event there was, by run, event and number. */
  readonly told = new Map<string, Told>();
  /** When something was last acknowledged, by what the runs do, and by the lane of a worker. */
  readonly kinds = new Map<string, number>();
  readonly lanes = new Map<string, number>();
  /** How often a worker came up with a runtime. */
  ups = 0;
  readonly #url: string;
  #hands: Hand[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  /** Starts a worker, which goes to the store by its own way if it has one. One that ends before it is told to is a problem of the ledger. */
  start(name: string, url = this.#url): Hand {
    const child = spawn(process.execPath, ["--conditions=holdfast-source", script, url, name], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let errors = "";
    child.stdout.setEncoding("utf8").on(
      "data",
      byLine((line) => this.#hear(line)),
    );
    const spoke = new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors += text;
    });
    const ended = new Promise<void>((resolve) => {
      child.on("close", (code, signal) => {
        this.#hands = this.#hands.filter((one) => one !== hand);
        if (!hand.isLeaving || (code !== 0 && signal === null))
          this.ledger.problems.push(`a worker ended with ${code ?? signal}: ${errors.trim()}`);
        resolve();
      });
    });
    const hand: Hand = { name, child, spoke, ended, isLeaving: false };
    this.#hands.push(hand);
    return hand;
  }

  /** Ends a worker, with SIGKILL or SIGTERM. */
  async dismiss(hand: Hand, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    hand.isLeaving = true;
    hand.child.kill(signal);
    await hand.ended;
  }

  #hear(line: string): void {
    const word = this.ledger.read(line, Date.now());
    if (word === "up") this.ups++;
    if (word !== "sent" && word !== "acked") return;
    const [, run = "", event = "", n = "", time = ""] = line.split(" ");
    const key = `${run} ${event} ${n}`;
    if (word === "sent")
      this.told.set(key, { run, event, n: Number(n), sentAt: Number(time), ackedAt: undefined });
    else {
      (this.told.get(key) as Told).ackedAt = Number(time);
      this.kinds.set(run.split("-")[0] as string, Number(time));
      this.lanes.set(run.slice(0, run.lastIndexOf("-")), Number(time));
    }
  }

  /** Waits until so much was acknowledged in all; false if a worker has ended or it takes too long. */
  async hasAcked(count: number, patienceMs: number): Promise<boolean> {
    return this.#until(() => this.ledger.ackedCount >= count, patienceMs);
  }

  /** Waits until something of every kind was acknowledged after this time, whichever worker has the store now. */
  async isBack(after: number, patienceMs: number): Promise<boolean> {
    return this.#until(() => [...this.kinds.values()].every((at) => at > after), patienceMs);
  }

  /** Waits until each of these lanes was acknowledged something after this time. */
  async areServed(lanes: readonly string[], after: number, patienceMs: number): Promise<boolean> {
    return this.#until(() => lanes.every((lane) => (this.lanes.get(lane) ?? 0) > after), patienceMs);
  }

  async #until(isSo: () => boolean, patienceMs: number): Promise<boolean> {
    const until = Date.now() + patienceMs;
    while (!isSo()) {
      if (this.ledger.problems.length > 0 || Date.now() > until) return false;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return true;
  }

  /** Tells the workers to end, and waits until they have; what still lives after a while is killed. */
  async end(patienceMs: number): Promise<void> {
    const hands = [...this.#hands];
    const late = setTimeout(() => {
      this.ledger.problems.push("a worker did not end when it was told to");
      for (const { child } of hands) child.kill("SIGKILL");
    }, patienceMs);
    await Promise.all(hands.map((hand) => this.dismiss(hand, "SIGTERM")));
    clearTimeout(late);
  }
}
