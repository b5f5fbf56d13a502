/** The inbox: decisions by keyboard, each with its link. */
import { describe, expect, onTestFinished, test } from "vitest";
import { client, hasBrowser, open, queryOf, url, usePages } from "./page.ts";
import { freePort, ServerProcess } from "./process.ts";
import { reached } from "./stage.ts";

const ask = async (run: string) => {
  await client.runs.start({ run, machine: "support" });
  await client.runs.say({ run, text: "The boots leak. I want my 25 euros back." });
  await reached(client, run, "working.waiting");
};

describe.skipIf(!hasBrowser)("the inbox in Studio", () => {
  usePages();

  test("approves with a key, and the agent goes on", async () => {
    await ask("inbox-approve");
    const page = await open("/inbox?run=inbox-approve");
    await page.locator(".decision").getByText("refund", { exact: true }).waitFor();
    await page.keyboard.press("a");
    await reached(client, "inbox-approve", "done");
    const { thread } = await client.runs.conversation({ run: "inbox-approve" });
    expect(JSON.stringify(thread.messages)).toContain("25 euros paid back");
  });

  test("B8: tells who decided, among the steps of the run and at the step itself", async () => {
    await ask("inbox-who");
    const page = await open("/inbox?run=inbox-who");
    await page.locator(".decision").waitFor();
    await page.keyboard.press("a");
    await reached(client, "inbox-who", "done");
    const { entries } = await client.runs.journal({ run: "inbox-who" });
    const { seq } = entries.find(({ event }) => event.type === "decide") as { readonly seq: number };
    await page.goto(`${url}/runs/inbox-who?at=${seq}`);
    const row = page.locator(`.step[data-seq="${seq}"]`);
    await row.getByText("by dev", { exact: true }).waitFor();
    await page.getByRole("tab", { name: "Step" }).click();
    expect(await page.locator(".facts").innerText()).toMatch(/By\s+dev/);
    // What an activity says was sent by nobody.
    expect(await page.locator(`.step[data-seq="${seq + 1}"] .step-by`).count()).toBe(0);
  });

  test("edits what the tool is called with, by its schema or as JSON", async () => {
    await ask("inbox-edit");
    const page = await open("/inbox?run=inbox-edit");
    await page.locator(".decision").waitFor();
    await page.keyboard.press("e");
    const json = page.getByRole("textbox", { name: "Call it with as JSON" });
    const euros = page.getByRole("spinbutton", { name: "euros" });
    await json.or(euros).waitFor();
    if (await euros.isVisible()) await euros.fill("5");
    else await json.fill('{ "euros": 5, "reason": "leaking boots" }');
    await page.getByRole("button", { name: "Approve with this" }).click();
    await reached(client, "inbox-edit", "done");
    const { thread } = await client.runs.conversation({ run: "inbox-edit" });
    expect(JSON.stringify(thread.messages)).toContain("5 euros paid back");
  });

  test("rejects with a word, and responds with others", async () => {
    await ask("inbox-reject");
    const page = await open("/inbox?run=inbox-reject");
    await page.locator(".decision").waitFor();
    await page.keyboard.press("r");
    await page.getByLabel(/Why not/).fill("Not covered.");
    await page.keyboard.press("Control+Enter");
    await reached(client, "inbox-reject", "done");
    await ask("inbox-respond");
    const other = await open("/inbox?run=inbox-respond");
    await other.locator(".decision").waitFor();
    await other.keyboard.press("w");
    await other.getByLabel("What is to be done instead").fill("Offer a repair.");
    await other.getByRole("button", { name: "Respond" }).click();
    await reached(client, "inbox-respond", "done");
    expect(JSON.stringify(await client.runs.conversation({ run: "inbox-respond" }))).toContain(
      "Offer a repair.",
    );
  });

  test("moves by keys, and each decision has its link", async () => {
    const page = await open("/inbox");
    await page.locator(".inbox-row").nth(1).waitFor();
    await page.keyboard.press("j");
    await page.locator('.inbox-row[aria-current="true"]').waitFor();
    expect(queryOf(page).get("decision")).not.toBeNull();
    const link = page.url();
    await page.keyboard.press("k");
    await page.waitForURL((now) => now.href !== link);
    await page.goto(link);
    expect(await page.locator(".inbox-row").nth(1).getAttribute("aria-current")).toBe("true");
  });

  test("what is shown stays when another decision comes, so that a key decides what is read", async () => {
    await ask("inbox-first");
    const page = await open("/inbox");
    const shown = page.locator(".decision .decision-about");
    await shown.getByText("inbox-first").waitFor();
    await expect.poll(() => queryOf(page).get("run")).toBe("inbox-first");
    await ask("inbox-second");
    await page.locator(".inbox-row").nth(1).waitFor();
    await expect.poll(() => page.locator('.inbox-row[aria-current="true"]').count()).toBe(1);
    await expect
      .poll(async () => page.locator(".inbox-row").first().getAttribute("aria-current"))
      .toBe("false");
    await shown.getByText("inbox-first").waitFor();
    await page.keyboard.press("a");
    await reached(client, "inbox-first", "done");
    expect((await client.runs.show({ run: "inbox-second" })).configuration).toEqual(["working.waiting"]);
    await client.runs.cancel({ run: "inbox-second" });
  });

  test("a link to what is no longer open shows no other decision, and its keys decide nothing", async () => {
    await ask("inbox-gone");
    const link = await open("/inbox?run=inbox-gone");
    await link.locator(".decision").waitFor();
    await client.runs.cancel({ run: "inbox-gone" });
    await ask("inbox-bystander");
    const text = /The decision of inbox-gone is no longer open/;
    await link.getByText(text).waitFor();
    for (const page of [
      link,
      await open("/inbox?run=inbox-gone"),
      await open("/inbox?run=nobody", { allow: /404/ }),
    ]) {
      await page.getByText(/is no longer open/).waitFor();
      await page.locator(".inbox-row").first().waitFor();
      expect(await page.locator(".decision").count()).toBe(0);
      expect(await page.locator('.inbox-row[aria-current="true"]').count()).toBe(0);
      await page.keyboard.press("a");
      await page.keyboard.press("j");
      await page.locator(".decision").waitFor();
    }
    expect((await client.runs.show({ run: "inbox-bystander" })).configuration).toEqual(["working.waiting"]);
    await client.runs.cancel({ run: "inbox-bystander" });
  });

  test("reads on past the first page, and a link leads to a decision far down", async () => {
    // On a server of its own: others would have to look past so many runs.
    const server = new ServerProcess(await freePort());
    onTestFinished(() => server.close());
    await server.start();
    const many = Array.from({ length: 260 }, (_, number) => `deep-${number}`);
    for (const run of many) await server.client.runs.start({ run, machine: "leave" });
    const page = await open("/inbox?run=deep-3", { at: server.url });
    await page.locator(".decision .decision-about").getByText("deep-3", { exact: true }).waitFor();
    expect(await page.getByText(/no longer open/).count()).toBe(0);
    const other = await open("/inbox", { at: server.url });
    await other.locator(".page-head").getByText("200 and more waiting").waitFor();
    await other.getByRole("button", { name: "Read on" }).click();
    await other.locator(".page-head").getByText("260 waiting").waitFor();
    // A page that is left without its server says so in the console.
    for (const one of [page, other]) await one.close();
  });

  test("shows up what is asked while it is open", async () => {
    const page = await open("/inbox");
    await ask("inbox-live");
    await page.goto(`${new URL(page.url()).origin}/inbox?run=inbox-live`);
    await page.locator(".decision").getByText("inbox-live").first().waitFor();
    await page.keyboard.press("a");
    await reached(client, "inbox-live", "done");
  });
});
