/** Those who bring new versions of machines into the simulated world, with a policy for the runs that are alive. */
import { isHoldfastError } from "../../src/errors.ts";
import type { DeployOptions } from "../../src/runtime/evolution/deploy.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import type { Judge } from "./judge.ts";
import type { Life } from "./life.ts";

export interface DeployerWorld {
  readonly judge: Judge;
  /** One call to whichever process is there, again and again until there is an answer. */
  insist<Value>(
    call: (runtime: Runtime, life: Life) => Promise<Value>,
  ): Promise<{ readonly life: Life; readonly value: Value }>;
  say(life: Life | undefined, text: string): void;
}

export class Deployers {
  readonly #world: DeployerWorld;
  /** What is under way, for the judge to see that it ends. */
  open = 0;

  constructor(world: DeployerWorld) {
    this.#world = world;
  }

  /** Deploys the later version of a machine, and tries until it is there, or was refused. */
  async deploy(machine: string, options: DeployOptions): Promise<void> {
    const { judge, insist, say } = this.#world;
    this.open++;
    const { life, value } = await insist(async (runtime, life) => {
      const entry = life.later().find((one) => one.machine.id === machine);
      if (entry === undefined) throw new Error(`nobody has a later ${machine}`);
      const isNew = !runtime.machines.list(machine).some(({ version }) => version === entry.machine.version);
      const before = judge.movesOf(machine);
      try {
        return await runtime.machines.deploy(entry, options);
      } catch (error) {
        if (!isHoldfastError(error) || error.code !== "DEPLOY_REFUSED") throw error;
        if (life.status !== "dead" && isNew) judge.deployRefused(life, machine, before);
        return undefined;
      }
    });
    if (value !== undefined) judge.deployed(value.moved);
    const outcome =
      value === undefined ? "refused" : `${value.moved.length} moved, ${value.left.length} left`;
    say(life, `deploys ${machine}: ${outcome}`);
    this.open--;
  }
}
