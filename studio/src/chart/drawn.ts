/**
 * Boxes and arrows as the drawing has them. One that looks as it did is the same one, so that moving through time draws
 * only what changes.
 */
import type { Edge, Node } from "@xyflow/react";
import type { ElkExtendedEdge, ElkNode } from "elkjs/lib/elk-api";
import type { Arrow, Box } from "./arrange.ts";
import type { Picture } from "./layout.ts";
import type { Lit } from "./lit.ts";

export type BoxNode = Node<{ readonly box: Box; readonly isLit: boolean; readonly isChosen: boolean }, "box">;
export type ArrowEdge = Edge<
  {
    readonly arrow: Arrow | undefined;
    readonly points: readonly { readonly x: number; readonly y: number }[];
    readonly label: { readonly x: number; readonly y: number; readonly width: number } | undefined;
    readonly isLit: boolean;
    /** Of one that is lit; changes with every step, so that it moves again. */
    readonly pulse: number;
  },
  "arrow"
>;

export interface Drawn {
  boxes(lit: Lit, chosen: string | undefined): BoxNode[];
  arrows(lit: Lit, pulse: number): ArrowEdge[];
}

export function draw(picture: Picture): Drawn {
  const boxes = placedBoxes(picture);
  const arrows = (picture.placed.edges ?? []).map((edge) => placedArrow(edge, picture));
  return {
    boxes: (lit, chosen) =>
      boxes.map((look) => {
        const { box } = look(false, false).data;
        const path = box.kind === "state" ? box.state.path : undefined;
        return look(path !== undefined && lit.active.has(path), path !== undefined && path === chosen);
      }),
    arrows: (lit, pulse) =>
      arrows.map((unlit) => {
        const isLit =
          unlit.data?.arrow?.transitions.some((transition) => lit.taken.has(transition.id)) ?? false;
        return isLit ? ({ ...unlit, zIndex: 20, data: { ...unlit.data, isLit, pulse } } as ArrowEdge) : unlit;
      }),
  };
}

/** Of every box, how it looks when it is lit or chosen, made when it first does. */
function placedBoxes({ boxes, placed: root }: Picture) {
  const all: ((isLit: boolean, isChosen: boolean) => BoxNode)[] = [];
  const add = (placed: ElkNode, parentId: string | undefined): void => {
    const box = boxes.get(placed.id) as Box;
    const looks = new Map<string, BoxNode>();
    all.push((isLit, isChosen) => {
      const name = `${isLit} ${isChosen}`;
      const look = looks.get(name) ?? {
        ...{ id: placed.id, type: "box", position: { x: placed.x ?? 0, y: placed.y ?? 0 } },
        ...(parentId === undefined ? {} : { parentId }),
        ...{ width: placed.width ?? 0, height: placed.height ?? 0, draggable: false, connectable: false },
        data: { box, isLit, isChosen },
      };
      looks.set(name, look);
      return look;
    });
    for (const child of placed.children ?? []) add(child, placed.id);
  };
  add(root, undefined);
  return all;
}

function placedArrow(
  { id, sources, targets, sections, labels }: ElkExtendedEdge,
  { arrows }: Picture,
): ArrowEdge {
  const points = (sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) => [
    startPoint,
    ...bendPoints,
    endPoint,
  ]);
  const [label] = labels ?? [];
  return {
    ...{ id, type: "arrow", source: sources[0] as string, target: targets[0] as string, zIndex: 10 },
    data: {
      ...{ arrow: arrows.get(id), points, isLit: false, pulse: 0 },
      label: label && { x: label.x ?? 0, y: label.y ?? 0, width: label.width ?? 0 },
    },
  };
}
