/** Deleting the rows of what was removed, by a clock that is set meanwhile. */
import { expect, test } from "vitest";
import type { Store } from "../../store/store.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { sweep } from "./sweep.ts";

const tenYears = 10 * 365 * 24 * 3_600_000;

test.each([tenYears, -tenYears])(
  "B10: a clock that is set by %i ms while rows go makes nobody wait for long",
  async (ms) => {
    const clock = new VirtualClock(Date.UTC(2026, 10, 18));
    let left = 3;
    const store = {
      sweep: async () => {
        clock.jump(ms);
        return left-- > 0 ? 1 : 0;
      },
    } as unknown as Store;
    const swept = sweep({ store, clock });
    await clock.advance("1 min");
    expect(await Promise.race([swept, "it still pauses"])).toBe(3);
  },
);
