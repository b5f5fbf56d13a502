/**
 * Those who look after a world that has more than users: they keep house, bring in new versions and make backups. What
 * they do is drawn from a stream of its own.
 */
import { Housekeeper } from "../../src/runtime/housekeeping/index.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { noSeal } from "../../src/runtime/seal.ts";
import type { Random } from "../../test/generate/random.ts";
import { Backups } from "./backups.ts";
import type { Crowd } from "./crowd.ts";
import { Deployers } from "./deployers.ts";
import type { Disk } from "./disk.ts";
import type { Tidy } from "./invariants/keeping.ts";
import { compareJournal, compareRows } from "./invariants/stored.ts";
import { checkUpgraded } from "./invariants/travel.ts";
import type { Judge } from "./judge.ts";
import { Keepers } from "./keepers.ts";
import type { Ledger } from "./ledger.ts";
import type { Life } from "./life.ts";
import { guests, kinds } from "./machines/kinds.ts";
import { clockOf, type Time } from "./time.ts";
import { drawTraits, type Traits } from "./traits.ts";
import type { Users } from "./users.ts";

export interface StaffWorld {
  readonly time: Time;
  readonly disk: Disk;
  readonly random: Random;
  readonly ledger: Ledger;
  readonly judge: Judge;
  readonly users: Users;
  readonly crowd: Crowd;
  /** Whether several processes share the store. */
  readonly isShared: boolean;
  current(): Life | undefined;
  /** Lets time pass until everything is at rest. */
  rest(): Promise<void>;
  say(life: Life | undefined, text: string): void;
}

/** What goes with one tidying may keep others from going with the same. */
const tidiesMin = 4;
/** Only ends what goes on for ever. */
const tidiesMax = 40;

export class Staff {
  /** What this world has, once that was drawn. */
  traits!: Traits;
  readonly #world: StaffWorld;
  readonly #keepers: Keepers;
  readonly #deployers: Deployers;
  readonly #backups: Backups;

  constructor(world: StaffWorld) {
    this.#world = world;
    const insist: Users["insist"] = (call) => world.users.insist(call);
    this.#keepers = new Keepers({ ...world, insist });
    this.#deployers = new Deployers({ ...world, insist });
    this.#backups = new Backups(world);
  }

  /** How much of what they do is not over. */
  get open(): number {
    return this.#keepers.open + this.#deployers.open + this.#backups.open;
  }

  /** Draws what this world has and others have not. */
  endow(): void {
    const { random, crowd, judge, isShared } = this.#world;
    const ending = crowd.kinds.filter(({ cancellable }) => cancellable);
    this.traits = drawTraits(
      random,
      [...ending, guests.archive].map(({ machine }) => machine.id),
      isShared,
    );
    const { floods, slots, house, deploying } = this.traits;
    judge.slots = slots;
    judge.keeping.house = house;
    if (floods > 0) crowd.invite("mill", guests.mill);
    if (house !== undefined) crowd.invite("archive", guests.archive);
    if (deploying === undefined || crowd.kinds.some(({ later }) => later !== undefined)) return;
    const [name, kind] = random.pick(Object.entries(kinds).filter(([, { later }]) => later !== undefined));
    crowd.invite(name, kind);
  }

  /** Somebody who keeps house in a process, in a world where somebody does. */
  hire(life: Life, runtime: Runtime): void {
    const { time, judge } = this.#world;
    const { house } = this.traits;
    if (house === undefined) return;
    life.keeper = new Housekeeper(
      {
        ...{
          store: this.#keepers.lateHolds(life.wire),
          clock: clockOf(time, life),
          seal: noSeal,
          epoch: () => life.epoch,
        },
        ...{ runtime, problem: (error) => judge.report(8, `keeping house gave ${error}`) },
      },
      { expire: house.expire, retain: house.retain, prune: house.prune },
    );
  }

  /** Draws when they do what in a storm of this length. */
  plan(storm: number): void {
    const { time, random, disk, crowd, ledger } = this.#world;
    const times = (count: number, run: () => void) => {
      for (let left = count; left > 0; left--) time.after(random.next() * storm, run);
    };
    const { floods, house, backups } = this.traits;
    if (disk.folder !== undefined) times(backups, () => void this.#backups.make());
    times(floods, () => crowd.flood(guests.mill, 3, 6));
    if (house === undefined) return;
    times(random.between(2, 4), () => crowd.flood(guests.archive, 2, 5));
    times(house.tidies, () => void this.#keepers.tidy());
    times(house.holds, () => void this.#keepers.mind([...ledger.begun]));
  }

  /** Has the house tidied, where somebody keeps it. */
  tidy(): void {
    if (this.traits.house !== undefined) void this.#keepers.tidy();
  }

  /** Calls back when the moment has come for later versions: something is under way then. */
  prepare(bringIn: () => void): void {
    const { time, random, crowd } = this.#world;
    for (const kind of crowd.kinds) if (kind.later !== undefined) crowd.flood(kind, 2, 5);
    time.after(random.between(50, 1_500), bringIn);
  }

  /** Deploys later versions with the policy of this world; false if it has none. */
  deploy(): boolean {
    const { crowd, ledger } = this.#world;
    const { deploying } = this.traits;
    if (deploying === undefined) return false;
    if (deploying.policy === "upgrade") ledger.upgrades = { drop: deploying.options.drop === true };
    for (const { machine, later } of crowd.kinds)
      if (later !== undefined) void this.#deployers.deploy(machine.id, deploying.options);
    return true;
  }

  /** In the end the house is tidied until nothing is left that may go. */
  async tidyUp(): Promise<void> {
    const { judge, rest } = this.#world;
    if (this.traits.house === undefined) return;
    let tidied: Tidy | undefined;
    /** What there is to tidy: one tidying may make room for the next. */
    const stand = () =>
      [...judge.model.runs.values()].map(({ head, pruned }) => `${head.run} ${head.seq} ${pruned}`).join();
    let before = "";
    const isOver = (times: number) => times >= tidiesMin && before === stand();
    for (let times = 0; times < tidiesMax && !isOver(times) && judge.violation === undefined; times++) {
      before = stand();
      void this.#keepers.tidy().then((tidy) => {
        tidied = tidy;
      });
      await rest();
    }
    if (judge.violation !== undefined) return;
    if (tidied === undefined) return judge.report(8, "nobody tidies in fine weather");
    judge.keeping.tidied(tidied);
  }

  /** In the end whatever can go to a later version goes, where runs are upgraded. */
  async upgrade(): Promise<void> {
    const { judge, ledger, crowd, rest } = this.#world;
    if (ledger.upgrades === undefined || judge.violation !== undefined) return;
    for (const { machine, later } of crowd.kinds)
      if (later !== undefined) void this.#deployers.deploy(machine.id, { leave: true });
    await rest();
    for (const run of judge.model.runs.values()) checkUpgraded(run, judge.report);
  }

  /** What the store holds is what it should, row by row, where somebody keeps house. */
  async compare(): Promise<void> {
    const { judge, disk } = this.#world;
    if (this.traits.house === undefined || judge.violation !== undefined) return;
    for (const run of judge.model.runs.values()) await compareJournal(disk.reader, run, judge.report);
    await compareRows(disk.reader, judge.model, judge.report);
  }
}
