/** The catalog of machines where several processes write it: what one has said of a version is never lost to another. */
import { afterEach, expect, test } from "vitest";
import { counterWith } from "../../../test/runtime/machines.ts";
import { memory } from "../../store/memory/store.ts";
import type { Store } from "../../store/store.ts";
import { createRuntime, type Runtime } from "../runtime.ts";

const runtimes: Runtime[] = [];
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.close()));
});

const machines = [1, 2, 3].map((version) => counterWith({ version }));

async function join(store: Store, known = machines): Promise<Runtime> {
  const runtime = await createRuntime({ store, machines: known });
  runtimes.push(runtime);
  return runtime;
}

const statusesOf = ({ machines: catalog }: Runtime) =>
  catalog.list("counter").map(({ version, status }) => `${version} ${status}`);

test("what members of a fleet say of versions is kept, whoever says it, one after the other or at once", async () => {
  const store = memory({ shared: true });
  const [one, two] = [await join(store), await join(store)];
  await one.machines.mark("counter", 1, "deprecated");
  await two.machines.mark("counter", 2, "retired");
  const marked = ["1 deprecated", "2 retired", "3 active"];
  expect(statusesOf(two)).toEqual(marked);
  expect(statusesOf(await join(store))).toEqual(marked);
  await Promise.all([one.machines.mark("counter", 1, "retired"), two.machines.mark("counter", 2, "active")]);
  expect(statusesOf(await join(store))).toEqual(["1 retired", "2 active", "3 active"]);
});

test("a member that has read what another said of a version keeps to it", async () => {
  const store = memory({ shared: true });
  const [one, two] = [await join(store), await join(store)];
  await one.machines.mark("counter", 2, "retired");
  await two.machines.mark("counter", 1, "deprecated");
  await expect(two.start(machines[1] as never, { id: "a" })).rejects.toMatchObject({
    code: "MACHINE_INACTIVE",
  });
});

test("a member says of a version that another one has brought along where it stands", async () => {
  const store = memory({ shared: true });
  const one = await join(store, machines.slice(0, 1));
  const two = await join(store);
  await one.machines.mark("counter", 3, "deprecated");
  await two.machines.mark("counter", 1, "deprecated");
  expect(statusesOf(two)).toEqual(["1 deprecated", "2 active", "3 deprecated"]);
  await expect(one.machines.mark("counter", 4, "retired")).rejects.toMatchObject({ code: "MACHINE_UNKNOWN" });
});
