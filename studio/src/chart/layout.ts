/**
 * Where the parts of a picture go. The layout is found in a worker, since large charts take seconds; each chart once, by
 * its hash, so that pictures keep their place.
 */
import { useQuery } from "@tanstack/react-query";
import ELK, { type ElkNode } from "elkjs/lib/elk-api";
import workerUrl from "elkjs/lib/elk-worker.min.js?url";
import type { Chart } from "../data/contract.ts";
import { type Arrangement, arrange } from "./arrange.ts";

export interface Picture extends Arrangement {
  /** With places. */
  readonly placed: ElkNode;
  /** Of every box, in the whole picture. */
  readonly places: ReadonlyMap<string, Place>;
}

export interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function placesOf(root: ElkNode): Map<string, Place> {
  const places = new Map<string, Place>();
  const add = (
    { id, x = 0, y = 0, width = 0, height = 0, children = [] }: ElkNode,
    left: number,
    top: number,
  ) => {
    places.set(id, { x: left + x, y: top + y, width, height });
    for (const child of children) add(child, left + x, top + y);
  };
  add(root, 0, 0);
  return places;
}

interface Layouts {
  readonly elk: InstanceType<typeof ELK>;
  /** Rejects if the worker cannot be loaded; it would never answer. */
  readonly failed: Promise<never>;
}

let layouts: Layouts | undefined;

function beginLayouts(): Layouts {
  const worker = new Worker(workerUrl);
  const failed = new Promise<never>((_, reject) =>
    worker.addEventListener("error", () => {
      layouts = undefined;
      reject(Object.assign(new Error("The layout could not be loaded"), { retry: "later" }));
    }),
  );
  // Who waits for a picture is told; nobody else has to be.
  failed.catch(() => undefined);
  return { elk: new ELK({ workerFactory: () => worker }), failed };
}

/** Panes are wide or tall, and then of about this size. */
const panes = { wide: [760, 400], tall: [720, 660] } as const;
export type Pane = keyof typeof panes;

/** How large a picture would be shown in a pane. */
function scaleOf({ width = 1, height = 1 }: ElkNode, pane: Pane): number {
  const [wide, high] = panes[pane];
  return Math.min(wide / width, high / height);
}

/** From above or from the left: whichever is the easier to read. */
async function place(chart: Chart, pane: Pane): Promise<Picture> {
  layouts ??= beginLayouts();
  const { elk, failed } = layouts;
  const [down, right] = [arrange(chart, "DOWN"), arrange(chart, "RIGHT")];
  const placedDown = await Promise.race([elk.layout(down.graph), failed]);
  const placedRight = await Promise.race([elk.layout(right.graph), failed]);
  const isRight = scaleOf(placedRight, pane) > scaleOf(placedDown, pane);
  const placed = isRight ? placedRight : placedDown;
  return { ...(isRight ? right : down), placed, places: placesOf(placed) };
}

interface Drawable {
  readonly chart: Chart | undefined;
  readonly hash: string | undefined;
}

/** The picture of a chart for a pane; none until it is found. */
export function usePicture({ chart, hash }: Drawable, pane: Pane | undefined): Picture | undefined {
  return useQuery({
    queryKey: ["picture", hash, pane],
    queryFn: () => place(chart as Chart, pane as Pane),
    enabled: chart !== undefined && hash !== undefined && pane !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  }).data;
}
