/** A document under proof: simulated in virtual time, its HTTP sends made for real, one effect at a time. */
import type { Event } from "../../src/core/event.ts";
import type { Machine } from "../../src/core/machine.ts";
import { type Simulation, simulate } from "../../src/core/simulate.ts";
import type { Scxml } from "../../src/ecmascript/index.ts";
import type { Fixture } from "./corpus.ts";
import type { HttpProcessor } from "./http.ts";

export interface Tools {
  readonly scxml: Scxml;
  readonly http: HttpProcessor;
}

export class ProofSession {
  readonly simulation: Simulation;
  readonly #ids: ReadonlyMap<string, string>;
  readonly #http: HttpProcessor;

  constructor(fixture: Fixture, { scxml, http }: Tools, restore: boolean) {
    const { load } = fixture;
    const machine = scxml(fixture.text, { load });
    this.#ids = stateIds(machine);
    this.#http = http;
    this.simulation = simulate(machine, {
      run: fixture.name,
      machines: (name) => scxml.machine(name, { load }),
      environment: (run) => http.environment(run),
      restore,
      settle: false,
      trace: true,
    });
    http.listen(fixture.name, (event) => this.simulation.deliver(event));
  }

  /** The ids of the active basic states, sorted. */
  get configuration(): string[] {
    return this.simulation.state.configuration.map((path) => this.#ids.get(path) ?? path).sort();
  }

  /** Runs until nothing is left to do at this time. */
  async settle(): Promise<void> {
    for (let turn = this.simulation.turn(); turn !== undefined; turn = this.simulation.turn()) {
      if (turn.outside === undefined) continue;
      const failure = await this.#http.post(turn.outside);
      if (failure !== undefined) this.simulation.deliver(failure, turn.run);
    }
  }

  /** Lets time pass. */
  async wait(ms: number): Promise<void> {
    await this.settle();
    this.simulation.advance(ms);
    await this.settle();
  }

  /** Sends an event and stops right after the step that takes it, before anything that step sent is delivered. */
  async send(event: Event): Promise<void> {
    await this.settle();
    // A session that has ended takes no more events; they are lost on it, as SCXML has it.
    if (this.simulation.state.status !== "active") return;
    this.simulation.deliver(event);
    for (let turn = this.simulation.turn(); turn !== undefined; turn = this.simulation.turn())
      if (turn.event === event) return;
  }
}

/** The ids of a machine's states by their paths. */
function stateIds({ chart }: Machine): Map<string, string> {
  return new Map([...chart.byId].map(([id, node]) => [node.path, id]));
}
