import { describe, expect, test } from "vitest";
import { conformance } from "../conformance/index.ts";
import { memory } from "./store.ts";

conformance({
  name: "the memory store",
  test: { describe, test, expect },
  shared: true,
  open: async () => {
    const store = memory({ shared: true });
    await store.open();
    return { store, reopen: async () => store, dispose: () => store.close() };
  },
});
