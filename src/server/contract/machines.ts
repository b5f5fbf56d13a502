/** Machines: what there is to run, each version with its definition and its chart. */
import { z } from "@hono/zod-openapi";
import { limits } from "../../limits.ts";
import { route } from "./route.ts";
import { JsonObject, Name, Time, wholeNumber } from "./value.ts";

export const MachineStatus = z.enum(["draft", "active", "deprecated", "retired"]).openapi("MachineStatus");
export type MachineStatus = z.output<typeof MachineStatus>;

export const MachineVersion = z
  .object({
    machine: z.string(),
    version: z.int(),
    hash: z.string().openapi({ description: "Of its definition; entries of journals carry it." }),
    status: MachineStatus,
    since: Time.openapi({ description: "When it was first registered." }),
    changedAt: Time.openapi({ description: "When its status last changed." }),
    loaded: z.boolean().openapi({ description: "Whether this process has its code." }),
  })
  .openapi("MachineVersion");
export type MachineVersion = z.output<typeof MachineVersion>;

export const MachineSummary = z
  .object({
    machine: z.string(),
    newest: z.int().openapi({ description: "The highest version." }),
    kind: z.enum(["machine", "agent", "planner", "board"]).openapi({
      description:
        "What its runs can be shown as, besides a chart. `machine` where this process has no code of it.",
    }),
    description: z.string().optional(),
    versions: z.array(MachineVersion).openapi({ description: "The oldest first." }),
  })
  .openapi("MachineSummary");
export type MachineSummary = z.output<typeof MachineSummary>;

export const MachineList = z.object({ machines: z.array(MachineSummary) }).openapi("MachineList");

export const ChartInvoke = z
  .object({
    id: z.string().optional().openapi({ description: "Where it is not computed." }),
    kind: z.enum(["activity", "machine"]),
    source: z.string().openapi({ description: "The activity's or the child machine's name." }),
  })
  .openapi("ChartInvoke");

export const ChartState = z
  .object({
    path: z.string().openapi({ description: "Empty for the root; configurations are made of these." }),
    key: z.string().openapi({ description: "The last part of the path; the machine's id for the root." }),
    parent: z
      .string()
      .nullable()
      .openapi({ description: "The path of the state it lies in; null for the root." }),
    type: z.enum(["atomic", "compound", "parallel", "final", "history"]),
    history: z.enum(["shallow", "deep"]).optional(),
    initial: z
      .array(z.string())
      .openapi({ description: "Paths of where it begins; of a history, its default." }),
    tags: z.array(z.string()),
    description: z.string().optional(),
    invokes: z.array(ChartInvoke),
    entry: z.array(z.string()).openapi({ description: "Labels of what is done on entering." }),
    exit: z.array(z.string()),
    defers: z.array(z.string()),
  })
  .openapi("ChartState");
export type ChartState = z.output<typeof ChartState>;

export const ChartTransition = z
  .object({
    id: z.string().openapi({ description: "Unique in the chart." }),
    source: z.string(),
    targets: z.array(z.string()).openapi({ description: "Empty for one that stays." }),
    trigger: z.enum(["event", "after", "always", "done", "error", "unknown"]).openapi({
      description:
        "`done`, `error` and `unknown` are ends: of the state's children, of an activity or of a child machine.",
    }),
    events: z
      .array(z.string())
      .openapi({ description: "The event descriptors, as a run's entries have them." }),
    label: z
      .string()
      .openapi({ description: "What to write on the arrow: `approve`, `after 2 days`, `done charge`." }),
    delay: z.string().optional().openapi({ description: "Of `after`." }),
    of: z.string().optional().openapi({ description: "Whose end it is: the id of an invocation." }),
    guard: z.string().optional().openapi({ description: "In few words." }),
    reenter: z.boolean(),
    description: z.string().optional(),
    actions: z.array(z.string()),
  })
  .openapi("ChartTransition");
export type ChartTransition = z.output<typeof ChartTransition>;

export const Chart = z
  .object({
    states: z.array(ChartState).openapi({ description: "In document order: parents before children." }),
    transitions: z.array(ChartTransition),
  })
  .openapi("Chart");
export type Chart = z.output<typeof Chart>;

export const EventType = z
  .object({
    type: z.string(),
    schema: JsonObject.optional().openapi({ description: "The JSON Schema of its data, where it is known." }),
  })
  .openapi("EventType");
export type EventType = z.output<typeof EventType>;

export const MachineDetail = z
  .object({
    ...MachineVersion.shape,
    kind: MachineSummary.shape.kind,
    description: z.string().optional(),
    definition: JsonObject.openapi({ description: "As JSON; functions stand there by their names." }),
    chart: Chart,
    events: z.array(EventType).openapi({ description: "What runs can be sent." }),
    input: JsonObject.optional().openapi({
      description: "The JSON Schema of what runs are given, where it is known.",
    }),
    context: JsonObject.optional().openapi({
      description: "The JSON Schema of the context, where it is known.",
    }),
    activities: z.array(z.object({ activity: z.string(), bound: z.boolean() })),
    mermaid: z.string(),
    source: z.enum(["code", "uploaded"]),
  })
  .openapi("MachineDetail");
export type MachineDetail = z.output<typeof MachineDetail>;

const MachineParams = z.object({ machine: Name });
const VersionParams = z.object({ machine: Name, version: wholeNumber(0) });

export const UploadBody = z
  .strictObject({
    source: z
      .union([z.string().max(limits.definitionLengthMax), JsonObject])
      .openapi({ description: "A data machine: JSON or YAML text, or the object itself." }),
    dryRun: z.boolean().optional().openapi({ description: "Only tell what is wrong with it." }),
    status: z.enum(["draft", "active"]).optional().openapi({ description: "`active` unless given." }),
  })
  .openapi("UploadBody");

export const Uploaded = z
  .object({
    isValid: z.boolean(),
    problems: z.array(z.object({ path: z.string(), message: z.string() })),
    machine: z.string().optional(),
    version: z.int().optional(),
    hash: z.string().optional(),
    isNew: z
      .boolean()
      .openapi({ description: "Whether it was added; not in a dry run, and not if it was there." }),
  })
  .openapi("Uploaded");
export type Uploaded = z.output<typeof Uploaded>;

export const machineRoutes = {
  "machines.list": route("machines.list", {
    permission: "read",
    summary: "All machines and their versions.",
    answer: MachineList,
  }),
  "machines.show": route("machines.show", {
    permission: "read",
    summary: "The newest version of a machine.",
    params: MachineParams,
    answer: MachineDetail,
  }),
  "machines.version": route("machines.version", {
    permission: "read",
    summary: "One version of a machine: its definition, its chart and its schemas.",
    params: VersionParams,
    answer: MachineDetail,
  }),
  "machines.upload": route("machines.upload", {
    permission: "develop",
    summary: "Add a machine that is data.",
    description:
      "Everything that is wrong with it is listed, each with its place. Its activities must be among those that the server has. Only principals of the server's own tenant may, since machines are everybody's.",
    body: UploadBody,
    answer: Uploaded,
    status: 201,
  }),
  "machines.mark": route("machines.mark", {
    permission: "develop",
    summary: "Say where a version stands in its life.",
    params: VersionParams,
    body: z.strictObject({ status: MachineStatus }),
    answer: MachineVersion,
  }),
};
