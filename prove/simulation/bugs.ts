/** Every bug that can be planted: what the simulation must be able to catch, or it proves nothing. */
import { activityBugs } from "./bugs/activities.ts";
import { backupBugs } from "./bugs/backups.ts";
import type { Bug } from "./bugs/bug.ts";
import { deployingBugs } from "./bugs/deploying.ts";
import { endBugs } from "./bugs/ends.ts";
import { fleetBugs } from "./bugs/fleet.ts";
import { flowBugs } from "./bugs/flow.ts";
import { keepingBugs } from "./bugs/keeping.ts";
import { outageBugs } from "./bugs/outages.ts";
import { stepBugs } from "./bugs/steps.ts";
import { storeBugs } from "./bugs/stores.ts";
import { travelBugs } from "./bugs/travel.ts";
import { waitBugs } from "./bugs/waits.ts";
import { bugCalled } from "./plant.ts";

export const bugs: readonly Bug[] = [
  ...stepBugs,
  ...storeBugs,
  ...waitBugs,
  ...endBugs,
  ...outageBugs,
  ...activityBugs,
  ...travelBugs,
  ...deployingBugs,
  ...flowBugs,
  ...keepingBugs,
  ...backupBugs,
  ...fleetBugs,
];

export const findBug = (name: string): Bug => bugCalled(bugs, name);
