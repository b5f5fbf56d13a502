/**
 * The way between a process and the disk, on which things get lost: a call may fail, be slow, or be the last thing the
 * process does; its reply may never come. What is on its way when its sender dies arrives all the same.
 */
import { HoldfastError } from "../../src/errors.ts";
import type { Fleet } from "../../src/store/fleet.ts";
import type { Commit, Store } from "../../src/store/store.ts";
import type { Random } from "../../test/generate/random.ts";
import type { Airwaves } from "./airwaves.ts";
import { type Call, type Disk, type FleetVerb, isRepeated, isWrite, perform, type Verb } from "./disk.ts";
import type { Life } from "./life.ts";
import { happenTo, type Time } from "./time.ts";
import type { Weather } from "./weather.ts";

/** What the wire needs of the world around it. */
export interface WireWorld {
  readonly time: Time;
  readonly disk: Disk;
  readonly random: Random;
  readonly airwaves: Airwaves;
  weather(): Weather;
  /** How often the power has failed; what was on its way then is gone. */
  powerCuts(): number;
  crash(life: Life, why: string): void;
  /** A process asks something of the store, which may take long to get there. */
  asked(life: Life, call: Call): void;
  /** A call was carried out. */
  performed(life: Life, call: Call, result: unknown): void;
  /** A process was told what came of a call. */
  answered(life: Life, call: Call, result: unknown): void;
  say(life: Life, text: string): void;
}

/** What members of a fleet ask all the time: if each were as dangerous as a commit, nobody would come to make one. */
const polled: ReadonlySet<string> = new Set<Verb>(["fleet.beat", "fleet.due", "fleet.nextDue"]);
const rareFactor = 10;

type Fault = "none" | "crash before" | "crash after" | "refuse" | "lose";

/** The store as one process sees it. */
export function wireOf(world: WireWorld, life: Life): Store {
  const calling =
    (verb: Verb) =>
    (...args: unknown[]) =>
      call(world, life, { verb, args });
  const signals = world.airwaves.of(life);
  const fleet = new Proxy({} as Fleet, {
    get: (_, verb) => (verb === "signals" ? signals : calling(`fleet.${String(verb)}` as FleetVerb)),
  });
  return new Proxy({} as Store, {
    has: (_, name) => name in life.store,
    get: (_, verb) => (verb === "fleet" ? fleet : calling(verb as Verb)),
  });
}

function call(world: WireWorld, life: Life, given: Call): Promise<unknown> {
  if (life.status === "dead") return never();
  world.asked(life, given);
  const fault = drawFault(world, given);
  const [before, after] = [drawDelayMs(world), drawDelayMs(world)];
  if (fault === "crash before") {
    world.crash(life, `before ${given.verb}`);
    return never();
  }
  const twice = isRepeated(given.verb) && world.random.chance(world.weather().twice);
  // What travels is what it was when it was sent.
  const asked =
    (before > 0 || twice) && isWrite(given.verb) ? { ...given, args: structuredClone(given.args) } : given;
  const cuts = world.powerCuts();
  life.unanswered.add(asked);
  return new Promise((resolve, reject) => {
    const answer = (tell: () => void) => {
      const told = () => {
        life.unanswered.delete(asked);
        tell();
      };
      if (after > 0) world.time.after(after, told, life);
      else happenTo(life, told);
    };
    const fail = (why: string) => {
      world.say(life, `${asked.verb} ${why}`);
      answer(() => {
        if (asked.verb === "commit") for (const commit of asked.args[0] as Commit[]) life.doubt(commit);
        reject(unavailable(why));
      });
    };
    const carryOut = async () => {
      if (world.powerCuts() !== cuts) return;
      if (fault === "refuse") return fail("is refused");
      const result = await carry(world, life, asked);
      if (twice) world.time.after(after, () => void carryAgain(world, life, asked, cuts));
      if (result.error !== undefined) return answer(() => reject(result.error));
      if (fault === "crash after") return world.crash(life, `after ${asked.verb}`);
      if (fault === "lose") return fail("happens and its reply is lost");
      answer(() => {
        world.disk.sync();
        world.answered(life, asked, result.value);
        resolve(result.value);
      });
    };
    if (before > 0) world.time.after(before, () => void carryOut());
    else void carryOut();
  });
}

/** What was sent once may arrive twice; whoever sent it has his answer already. */
async function carryAgain(world: WireWorld, life: Life, asked: Call, cuts: number): Promise<void> {
  if (world.powerCuts() !== cuts || life.status === "dead") return;
  world.say(life, `${asked.verb} arrives a second time`);
  await carry(world, life, asked);
}

async function carry(
  world: WireWorld,
  life: Life,
  asked: Call,
): Promise<{ readonly value?: unknown; readonly error?: unknown }> {
  world.disk.underway++;
  try {
    const work = perform(life.store, asked);
    const result = await (asked.verb === "backup" ? world.disk.occupy(work) : work);
    if (isWrite(asked.verb)) world.disk.wrote({ ...asked, result });
    world.performed(life, asked, result);
    return { value: result };
  } catch (error) {
    return { error };
  } finally {
    world.disk.underway--;
  }
}

function drawFault({ random, weather }: WireWorld, { verb }: Call): Fault {
  const { crashBefore, crashAfter, refuse, lose: loseAny } = weather();
  // The reply to a commit is the one that matters most.
  const lose = verb === "commit" ? 3 * loseAny : loseAny;
  const drawn = random.next() * (polled.has(verb) ? rareFactor : 1);
  if (drawn < crashBefore) return "crash before";
  if (drawn < crashBefore + crashAfter) return "crash after";
  if (drawn < crashBefore + crashAfter + refuse) return "refuse";
  return drawn < crashBefore + crashAfter + refuse + lose ? "lose" : "none";
}

/** Long enough for a lease to lapse. */
const stuckMs = 12_000;

function drawDelayMs({ random, weather }: WireWorld): number {
  const { slow, slowMsMax, stuck } = weather();
  const drawn = random.next();
  if (drawn < stuck) return stuckMs;
  return drawn < stuck + slow ? random.next() * slowMsMax : 0;
}

/** A new one each time: whoever waits for it is forgotten with it. */
const never = (): Promise<never> => new Promise(() => {});

function unavailable(why: string): HoldfastError {
  return new HoldfastError("STORE_UNAVAILABLE", `The store of the simulated world ${why}`);
}
