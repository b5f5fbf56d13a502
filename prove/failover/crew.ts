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

export class Crew {
  readonly ledger = new Ledger();
  /** Every event there was, by run, event and number. */
  readonly told = new Map<string, Told>();
  /** When something was last acknowledged, by what the runs do. */
  readonly kinds = new Map<string, number>();
  readonly #url: string;
  readonly #processes: { readonly child: ChildProcess; readonly ended: Promise<void> }[] = [];
  #isEnding = false;

  constructor(url: string) {
    this.#url = url;
  }

  /** Starts a worker. One that ends before it is told to is a problem of the ledger. */
  start(name: string): void {
    const child = spawn(process.execPath, ["--conditions=source", script, this.#url, name], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let errors = "";
    child.stdout.setEncoding("utf8").on(
      "data",
      byLine((line) => this.#hear(line)),
    );
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors += text;
    });
    const ended = new Promise<void>((resolve) => {
      child.on("close", (code, signal) => {
        if (!this.#isEnding || code !== 0)
          this.ledger.problems.push(`a worker ended with ${code ?? signal}: ${errors.trim()}`);
        resolve();
      });
    });
    this.#processes.push({ child, ended });
  }

  #hear(line: string): void {
    const word = this.ledger.read(line, Date.now());
    if (word !== "sent" && word !== "acked") return;
    const [, run = "", event = "", n = "", time = ""] = line.split(" ");
    const key = `${run} ${event} ${n}`;
    if (word === "sent")
      this.told.set(key, { run, event, n: Number(n), sentAt: Number(time), ackedAt: undefined });
    else {
      (this.told.get(key) as Told).ackedAt = Number(time);
      this.kinds.set(run.split("-")[0] as string, Number(time));
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
    this.#isEnding = true;
    const late = setTimeout(() => {
      this.ledger.problems.push("a worker did not end when it was told to");
      for (const { child } of this.#processes) child.kill("SIGKILL");
    }, patienceMs);
    for (const { child } of this.#processes) child.kill("SIGTERM");
    await Promise.all(this.#processes.map(({ ended }) => ended));
    clearTimeout(late);
  }
}
