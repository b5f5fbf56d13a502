/** Runs of every status, for pages that are to show some: started, decided and spoken to through the server, as anybody would. */
import type { Client } from "holdfast/client";

/** Sets the stage; it takes a few seconds, since the runs really run. */
export async function setStage(client: Client): Promise<void> {
  const start = (run: string, machine: string, input?: object, rest: object = {}) =>
    client.runs.start({ run, machine, ...(input === undefined ? {} : { input: input as never }), ...rest });
  await start("counter-1", "counter");
  for (let round = 0; round < 4; round++)
    await client.runs.send({
      run: "counter-1",
      events: Array.from({ length: 50 }, () => ({ type: "tick" })),
      wait: "handled",
    });
  await start("fragile-1", "fragile");
  await start("counter-2", "counter");
  await client.runs.pause({ run: "counter-2" });
  await start("order-1", "order", { item: "boots", euros: 40 }, { subject: "ada" });
  await start("order-2", "order", { item: "anchor", euros: 240 }, { subject: "ben" });
  await start("order-3", "order", { item: "rope", euros: 12 }, { subject: "ada" });
  await start("order-4", "order", { item: "lamp", euros: 30 }, { subject: "cleo" });
  await start("support-1", "support", undefined, { subject: "bob" });
  await start("researcher-1", "researcher", undefined, { subject: "ada" });
  await start("desk-1", "desk");
  await start("voyage-1", "voyage", { goal: "to the Azores" });
  await setDesk(client);
  await client.runs.say({ run: "support-1", text: "Good morning!" });
  await client.runs.say({ run: "researcher-1", text: "How does kelp hold on to rocks?" });
  await reached(client, "order-3", "delivering");
  await client.runs.send({ run: "order-3", events: [{ type: "delivered", data: {} }], wait: "handled" });
  await reached(client, "order-4", "delivering");
  await client.runs.cancel({ run: "order-4" });
  await reached(client, "order-2", "approving");
  await reached(client, "support-1", "done");
  await client.runs.say({ run: "support-1", text: "The boots leak. I want my 30 euros back." });
  await reached(client, "support-1", "working.waiting");
  await reached(client, "researcher-1", "done");
}

/** Two agents at a board: values, a lease and an open vote. */
async function setDesk(client: Client): Promise<void> {
  const ask = (type: string, data: object) => client.runs.ask({ run: "desk-1", type, data: data as never });
  await ask("write", { by: "ada", key: "headline", value: "Kelp holds" });
  await ask("write", { by: "ben", key: "headline", value: "Kelp holds on" });
  await ask("write", { by: "ada", key: "sources", value: ["kelp-2019"] });
  await ask("lease", { by: "ben", names: ["printer"], ms: 3_600_000, waitMs: 0 });
  const voters = ["ada", "ben", "cleo"].map((name) => ({ name, weight: 1 }));
  const proposal = { question: "Print it?", options: ["yes", "no"], voters, rule: "majority" };
  const rest = { quorum: null, tie: "reject", chair: null, isChangeable: false, openMs: null };
  const answer = await ask("propose", { by: "ada", ...proposal, ...rest });
  const { id } = answer.reply as { readonly id: string };
  await ask("vote", { by: "ada", id, choice: ["yes"] });
}

/** Waits until a state of a run is active. */
export async function reached(client: Client, run: string, state: string): Promise<void> {
  for (let round = 0; round < 1_200; round++) {
    const { configuration } = await client.runs.show({ run });
    if (configuration.includes(state)) return;
    await new Promise((over) => setTimeout(over, 50));
  }
  throw new Error(`${run} never came to ${state}`);
}
