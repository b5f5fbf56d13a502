import { describe, expect, test } from "vitest";
import { conformance } from "../conformance/index.ts";
import { memory } from "./store.ts";

conformance({
  name: "the memory store",
  test: { describe, test, expect },
  open: async () => {
    const store = memory();
    await store.open();
    return { store, reopen: async () => store, dispose: () => store.close() };
  },
});
