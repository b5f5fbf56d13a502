/** All routes with what answers them. One that has no handler, or two, does not compile. */
import { conversationHandlers } from "./routes/conversation.ts";
import { inboxHandlers } from "./routes/inbox.ts";
import { journalHandlers } from "./routes/journal.ts";
import { machineHandlers } from "./routes/machines.ts";
import { operationHandlers } from "./routes/operations.ts";
import { runHandlers } from "./routes/runs.ts";
import { travelHandlers } from "./routes/travel.ts";
import type { Handlers, World } from "./world.ts";

export function handlersOf(world: World): Handlers {
  return {
    ...machineHandlers(world),
    ...runHandlers(world),
    ...journalHandlers(world),
    ...travelHandlers(world),
    ...conversationHandlers(world),
    ...inboxHandlers(world),
    ...operationHandlers(world),
  };
}
