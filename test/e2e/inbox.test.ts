/** The inbox: decisions by keyboard, each with its link. */
import { describe, expect, test } from "vitest";
import { client, hasBrowser, open, queryOf, usePages } from "./page.ts";
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

  test("shows up what is asked while it is open", async () => {
    const page = await open("/inbox");
    await ask("inbox-live");
    await page.goto(`${new URL(page.url()).origin}/inbox?run=inbox-live`);
    await page.locator(".decision").getByText("inbox-live").first().waitFor();
    await page.keyboard.press("a");
    await reached(client, "inbox-live", "done");
  });
});
