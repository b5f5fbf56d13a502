/**
 * Every view is a link: which page, and in its query all that was chosen on it. Pages are loaded when they are first
 * gone to, so that the list of runs is there before the code that draws charts is.
 */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { readInboxSearch, readListSearch, readMachineSearch, readRunSearch } from "./search.ts";
import { NotFound } from "./shell/not-found.tsx";
import { Problem } from "./shell/problem.tsx";
import { Shell } from "./shell/shell.tsx";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: Problem });

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/runs", search: {} });
  },
});
const runs = createRoute({
  getParentRoute: () => root,
  path: "/runs",
  validateSearch: readListSearch,
  component: lazyRouteComponent(() => import("./runs/runs-page.tsx"), "RunsPage"),
});
const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$run",
  validateSearch: readRunSearch,
  component: lazyRouteComponent(() => import("./run/run-page.tsx"), "RunPage"),
});
const inbox = createRoute({
  getParentRoute: () => root,
  path: "/inbox",
  validateSearch: readInboxSearch,
  component: lazyRouteComponent(() => import("./inbox/inbox-page.tsx"), "InboxPage"),
});
const machines = createRoute({
  getParentRoute: () => root,
  path: "/machines",
  component: lazyRouteComponent(() => import("./machines/machines-page.tsx"), "MachinesPage"),
});
const machine = createRoute({
  getParentRoute: () => root,
  path: "/machines/$machine",
  validateSearch: readMachineSearch,
  component: lazyRouteComponent(() => import("./machines/machine-page.tsx"), "MachinePage"),
});
const dashboard = createRoute({
  getParentRoute: () => root,
  path: "/dashboard",
  component: lazyRouteComponent(() => import("./dashboard/dashboard-page.tsx"), "DashboardPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([home, runs, run, inbox, machines, machine, dashboard]),
  defaultPreload: "intent",
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
