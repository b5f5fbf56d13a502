/** Shared texts: documents of Yjs on a board become equal, whatever is edited at the same time and whoever dies. */
import fc from "fast-check";
import { expect, test } from "vitest";
import * as Y from "yjs";
import { onEveryStore, type World } from "../../../test/runtime/world.ts";
import { limits } from "../../limits.ts";
import { createRuntime } from "../../runtime/runtime.ts";
import { memory } from "../../store/memory/store.ts";
import { defineBoard } from "./board.ts";
import { openBoard } from "./open.ts";
import { mergeText, openText, type SharedText, textKey } from "./yjs.ts";

const desk = defineBoard({
  id: "desk",
  keys: { notes: textKey },
  merges: { text: mergeText },
});

const open = async (here: World) => {
  const runtime = await here.boot([desk]);
  const as = async (agent: string, doc?: Y.Doc) =>
    openText(await openBoard(runtime, desk, { id: "b", agent }), "notes", doc === undefined ? {} : { doc });
  return { runtime, as };
};

const textOf = ({ doc }: SharedText): string => doc.getText("body").toString();

/** Resolves when a text reads as it should. */
const reads = (shared: SharedText, wanted: string): Promise<void> =>
  new Promise((resolve) => {
    const look = () => {
      if (textOf(shared) !== wanted) return;
      shared.doc.off("update", look);
      resolve();
    };
    shared.doc.on("update", look);
    look();
  });

onEveryStore((world) => {
  test("C8: what two edit at the same time becomes one text for both, and for whoever comes later", async () => {
    const { as } = await open(await world());
    const [ada, bob] = [await as("ada"), await as("bob")];
    ada.doc.getText("body").insert(0, "Hello");
    await reads(bob, "Hello");
    ada.doc.getText("body").insert(5, ", Ada");
    bob.doc.getText("body").insert(0, "> ");
    await Promise.all([ada.flushed(), bob.flushed()]);
    await Promise.all([reads(ada, "> Hello, Ada"), reads(bob, "> Hello, Ada")]);
    const late = await as("cleo");
    expect(textOf(late)).toBe("> Hello, Ada");
    for (const one of [ada, bob, late]) await one.close();
    ada.doc.getText("body").insert(0, "unheard ");
    expect(textOf(bob)).toBe("> Hello, Ada");
  });

  test("C8: what was flushed survives a crash, and a document that was edited alone brings its edits along", async () => {
    const here = await world();
    const { runtime, as } = await open(here);
    const ada = await as("ada");
    ada.doc.getText("body").insert(0, "kept");
    await ada.flushed();
    await here.crash(runtime);
    // The process is gone; its document is not, and goes on.
    ada.doc.getText("body").insert(4, " and carried over");
    const { as: again } = await open(here);
    const bob = await again("bob");
    expect(textOf(bob)).toBe("kept");
    const copy = new Y.Doc();
    Y.applyUpdate(copy, Y.encodeStateAsUpdate(ada.doc));
    const back = await again("ada", copy);
    await back.flushed();
    await reads(bob, "kept and carried over");
  });

  test("C8: updates become one when there are many, and nothing of the text is lost", async () => {
    const { runtime, as } = await open(await world());
    const [ada, bob] = [await as("ada"), await as("bob")];
    let wanted = "";
    for (let count = 0; count <= limits.textUpdatesMax; count++) {
      ada.doc.getText("body").insert(count, String(count % 10));
      wanted += String(count % 10);
      await ada.flushed();
    }
    await reads(bob, wanted);
    const { value } = await (await openBoard(runtime, desk, { id: "b", agent: "x" })).read("notes");
    expect(value).toHaveLength(1);
    ada.doc.getText("body").insert(0, "! ");
    await reads(bob, `! ${wanted}`);
  });
});

test("F5: what is no update is refused before anybody reads it", async () => {
  const runtime = await createRuntime({ store: memory(), machines: [desk] });
  const board = await openBoard(runtime, desk, { id: "b", agent: "eve" });
  for (const value of ["text", [], ["no update"], [7], ["AAA=", "////"]])
    await expect(board.write("notes", value), JSON.stringify(value)).rejects.toMatchObject({
      code: "VALUE_INVALID",
    });
  expect((await board.read("notes")).version).toBe(0);
  await runtime.close();
});

test("F5: a key that is not made for a document says so, and the edits stay where they are", async () => {
  const plain = defineBoard({ id: "plain", keys: { notes: { policy: "reject" } } });
  const runtime = await createRuntime({ store: memory(), machines: [plain] });
  const text = await openText(await openBoard(runtime, plain, { id: "b", agent: "ada" }), "notes");
  text.doc.getText("body").insert(0, "one");
  await text.flushed();
  text.doc.getText("body").insert(3, " two");
  await expect(text.flushed()).rejects.toMatchObject({ code: "BOARD_INVALID" });
  expect(textOf(text)).toBe("one two");
  await runtime.close();
});

test("C8: edits of several, merged in any order and any number of times, make one document", () => {
  const edit = fc.record({ who: fc.nat(2), at: fc.nat(20), text: fc.string({ minLength: 1, maxLength: 4 }) });
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 80 }), fc.infiniteStream(fc.nat()), (edits, keys) => {
      const docs = [new Y.Doc(), new Y.Doc(), new Y.Doc()];
      const updates: string[] = [];
      for (const doc of docs)
        doc.on("update", (update) => updates.push(Buffer.from(update).toString("base64")));
      for (const { who, at, text } of edits) {
        const body = (docs[who] as Y.Doc).getText("body");
        body.insert(Math.min(at, body.length), text);
      }
      const read = (list: readonly string[]) => {
        const merged = list.reduce((value, update) => mergeText(value, [update]) as string[], [] as string[]);
        const doc = new Y.Doc();
        for (const update of merged) Y.applyUpdate(doc, new Uint8Array(Buffer.from(update, "base64")));
        return doc.getText("body").toString();
      };
      const shuffled = [...updates, ...updates.slice(0, 3)]
        .map((update) => ({ update, key: keys.next().value as number }))
        .sort((one, other) => one.key - other.key)
        .map(({ update }) => update);
      expect(read(shuffled)).toBe(read(updates));
    }),
    { numRuns: 30 },
  );
});

test("C8: an update that is damaged is refused, and whatever comes through takes no text along", async () => {
  const runtime = await createRuntime({ store: memory(), machines: [desk] });
  const board = await openBoard(runtime, desk, { id: "b", agent: "ada" });
  const doc = new Y.Doc();
  doc.getText("body").insert(0, "Findings");
  doc.getText("body").delete(2, 3);
  const sound = Y.encodeStateAsUpdate(doc);
  const damaged = fc
    .tuple(fc.nat(sound.length - 1), fc.nat(255), fc.nat(sound.length))
    .map(([at, byte, end]) => sound.with(at, byte).slice(0, end % 4 === 0 ? at : sound.length));
  await fc.assert(
    fc.asyncProperty(damaged, async (bytes) => {
      const written = board.write("notes", [Buffer.from(bytes).toString("base64")]);
      await written.catch((error) => expect(error).toMatchObject({ code: "VALUE_INVALID" }));
    }),
    { numRuns: 300 },
  );
  const first = await openText(board, "notes");
  first.doc.getMap("more").set("said", "here");
  await first.close();
  const later = await openText(board, "notes");
  expect(later.doc.getMap("more").get("said")).toBe("here");
  await later.close();
  await runtime.close();
});
