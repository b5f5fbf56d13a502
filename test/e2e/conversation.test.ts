/**
 * A conversation with an agent: what was said and done, its plan, what its model saw, and saying more. Also what boards and
 * planners have to show.
 */
import { describe, expect, test } from "vitest";
import { client, hasBrowser, open, queryOf, usePages } from "./page.ts";
import { reached } from "./stage.ts";

describe.skipIf(!hasBrowser)("a conversation in Studio", () => {
  usePages();

  test("shows messages, calls with their results, the plan and the model's window", async () => {
    const page = await open("/runs/researcher-1?view=conversation");
    const talk = page.getByRole("region", { name: "Messages" });
    await talk.getByText("How does kelp hold on to rocks?").waitFor();
    expect(await talk.getByRole("region", { name: "Call of search" }).count()).toBe(2);
    await talk.getByText("Holdfasts grip rock with haptera that grow into its pores.").waitFor();
    await talk.getByText("Kelp holds by growing into the rock").waitFor();
    const plan = page.getByRole("region", { name: "Plan" });
    await plan.getByText("find papers").waitFor();
    const window = page.getByRole("region", { name: "What the model saw" });
    await window.getByText(/of 32,000 tokens/).waitFor();
    await window.getByText("Instructions").click();
    await window.getByText("Answer from papers").waitFor();
  });

  test("is shown as it was at any step", async () => {
    const page = await open("/runs/support-1?view=conversation");
    await page.getByText("The boots leak").waitFor();
    await page.keyboard.press("Home");
    await page.getByText("Nothing has been said yet.").waitFor();
    await page.keyboard.press("ArrowRight");
    await page.getByText("Good morning!").waitFor();
  });

  test("reads earlier messages when they are asked for, and stays where one reads", async () => {
    const run = "talk-long";
    await client.runs.start({ run, machine: "echo" });
    for (let number = 0; number < 110; number++) await client.runs.say({ run, text: `word ${number}` });
    await expect
      .poll(async () => (await client.runs.conversation({ run, limit: 1 })).thread.messages[0]?.position)
      .toBe(219);
    const page = await open(`/runs/${run}?view=conversation`);
    const talk = page.getByRole("region", { name: "Messages" });
    const said = talk.locator(".message");
    await talk.getByText("You said word 109.").waitFor();
    expect(await said.count()).toBe(100);
    const more = talk.getByRole("button", { name: "Show earlier messages" });
    await more.scrollIntoViewIfNeeded();
    const top = talk.getByText("word 60", { exact: true });
    const before = (await top.boundingBox())?.y ?? 0;
    await more.click();
    await expect.poll(() => said.count()).toBe(200);
    // Only the button moves away, by its own height and no more.
    expect(Math.abs(((await top.boundingBox())?.y ?? 0) - before)).toBeLessThan(60);
    await client.runs.say({ run, text: "word 110" });
    await talk.getByText("You said word 110.").waitFor();
    await talk.getByText("word 20", { exact: true }).waitFor();
    await more.click();
    await talk.getByText("word 0", { exact: true }).waitFor();
    await more.waitFor({ state: "detached" });
    expect(await said.count()).toBe(222);
  });

  test("says something, and the answer comes word by word", async () => {
    const run = "talk-1";
    await client.runs.start({ run, machine: "support" });
    const page = await open(`/runs/${run}?view=conversation`);
    await page.getByRole("textbox", { name: "Say something" }).fill("Good morning!");
    await page.keyboard.press("Enter");
    const speaking = page.locator('.message[data-speaking="true"]');
    await speaking.getByText(/Good/).waitFor();
    // The message that it becomes takes a while to be read; what was said stays meanwhile.
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route(/\/conversation\?/, async (route) => {
      const { configuration } = await client.runs.show({ run });
      if (configuration.includes("done")) asked.resolve();
      await answered.promise;
      await route.continue();
    });
    await reached(client, run, "done");
    await asked.promise;
    await speaking.getByText("Good day. How can I help you with your order?").waitFor();
    answered.resolve();
    await speaking.waitFor({ state: "detached" });
    expect(await page.locator('.message[data-role="assistant"]').count()).toBe(1);
  });

  test("a board shows what stands on it, by whom, who holds what, and open votes, at any step", async () => {
    const page = await open("/runs/desk-1");
    await page.getByRole("link", { name: "Board", exact: true }).click();
    const headline = page.getByRole("region", { name: "Entries" }).getByRole("row", { name: /headline/ });
    await headline.getByText("Kelp holds on").waitFor();
    await headline.getByRole("cell", { name: "ben" }).waitFor();
    await page.getByRole("region", { name: "Leases" }).getByText("printer").waitFor();
    const vote = page.getByRole("article", { name: "Print it?" });
    await vote.getByText(/1 of 3 voted/).waitFor();
    await vote.getByText("open").waitFor();
    expect(queryOf(page).get("view")).toBe("board");
    await page.keyboard.press("Home");
    await page.getByText("Nothing yet.").waitFor();
    await page.keyboard.press("ArrowRight");
    await headline.getByRole("cell", { name: "ada" }).waitFor();
  });

  test("a planner's run shows its tasks, how far it is, and the critical path", async () => {
    await reached(client, "voyage-1", "done");
    const page = await open("/runs/voyage-1?view=plan");
    const tasks = page.getByRole("region", { name: "Tasks" });
    const sail = tasks.getByRole("row", { name: /set sail/ });
    await sail.getByText("done").waitFor();
    await sail.getByText("chart, stores").waitFor();
    await page.getByRole("region", { name: "Progress" }).getByText("3 of 3 done").waitFor();
    const path = page.getByRole("region", { name: "Critical path" });
    await path.getByText("set sail").waitFor();
    await page.keyboard.press("Home");
    await tasks.getByText("The goal has not been decomposed yet.").waitFor();
  });
});
