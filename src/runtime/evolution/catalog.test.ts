/** The catalog of machines and what is deployed with it: what a version brings along, and what becomes of those before it. */
import { describe, expect, test } from "vitest";
import { listOf, onEveryStore } from "../../../test/runtime/world.ts";
import { defineMachine, defineMigration, type MachineDefinition } from "../../index.ts";

interface Seen {
  readonly seen: readonly unknown[];
}

const jobWith = (version: number, states: NonNullable<MachineDefinition<Seen>["states"]>) =>
  defineMachine<Seen>({
    id: "job",
    version,
    start: { seen: [] },
    initial: Object.keys(states)[0] as string,
    on: { poke: {} },
    states,
  });

const one = jobWith(1, { open: { on: { shut: "shut" } }, shut: {} });
/** Has no state of its own for a job that is open. */
const two = jobWith(2, { begun: {}, shut: {} });
const toTwo = defineMigration(one, two, { states: { open: "begun" } });
const three = jobWith(3, { ready: { on: { shut: "shut" } }, shut: {} });
const upgrade = { evolution: "upgrade" as const };

onEveryStore((world) => {
  describe("a version that is deployed", () => {
    test("and would break runs comes in when it is deployed once more with a migration", async () => {
      const here = await world();
      const runtime = await here.boot([one]);
      const run = await runtime.start(one, { id: "a" });
      const refused = { code: "DEPLOY_REFUSED", message: expect.stringContaining("give a migration") };
      await expect(runtime.machines.deploy({ machine: two, ...upgrade })).rejects.toMatchObject(refused);
      const again = { machine: two, ...upgrade, migrations: [toTwo] };
      expect(await runtime.machines.deploy(again)).toMatchObject({ moved: [{ run: "a" }], left: [] });
      expect(await run.state()).toMatchObject({ version: 2, configuration: ["begun"] });
      expect(runtime.machines.list("job")).toMatchObject([{ status: "active" }, { status: "active" }]);
      // The migration that came last is the one that counts.
      const elsewhere = defineMigration(one, two, { states: { open: "shut" } });
      await runtime.machines.deploy({ ...again, migrations: [elsewhere] });
      const other = await runtime.start(one, { id: "b" });
      await other.migrate();
      expect((await other.state()).configuration).toEqual(["shut"]);
    });

    test("has the activities that its entry makes for the runtime", async () => {
      const here = await world();
      const runtime = await here.boot([one]);
      const asking = jobWith(2, { asking: { invoke: { activity: "ask", onDone: "shut" } }, shut: {} });
      const entry = { machine: asking, activitiesOf: (own: unknown) => ({ ask: () => own === runtime }) };
      await runtime.machines.deploy(entry);
      const run = await runtime.start(asking, { id: "a" });
      expect(await run.waitFor("shut")).toMatchObject({ version: 2 });
      await expect(runtime.machines.deploy({ id: "nothing" } as never)).rejects.toMatchObject({
        code: "MACHINE_INVALID",
      });
    });

    test("leaves runs of later versions where they are", async () => {
      const here = await world();
      const runtime = await here.boot([one, three]);
      const early = await runtime.start(one, { id: "a" });
      // One that could go to the version between, and one that could not.
      const [could, late] = [
        await runtime.start(three, { id: "b" }),
        await runtime.start(three, { id: "c" }),
      ];
      await could.send("shut");
      const entry = { machine: two, ...upgrade, migrations: [toTwo] };
      const deployed = await runtime.machines.deploy(entry);
      expect(deployed).toMatchObject({ moved: [{ run: "a", from: 1, to: 2 }], left: [] });
      const versions = [early, could, late].map(async (run) => (await run.head()).version);
      expect(await Promise.all(versions)).toEqual([2, 3, 3]);
    });
  });
});
