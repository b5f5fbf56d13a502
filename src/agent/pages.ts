/**
 * Long lists in a context, as pages: whoever adds to one copies the last page and the list of pages, and not all that was
 * ever added. It is plain JSON, and functions that change it take a draft.
 */
import { peek } from "../core/draft.ts";

export type Pages<Item> = Item[][];
export type ReadPages<Item> = readonly (readonly Item[])[];

/** How many items are on every page but the last. Stored lists are read by it, so it stays as it is. */
const pageLength = 128;

/** Whether something is a list in pages, whatever is on them. */
export const isPages = (given: unknown): boolean =>
  Array.isArray(given) &&
  given.every(
    (page, index) =>
      Array.isArray(page) && (page.length === pageLength || (index === given.length - 1 && page.length > 0)),
  );

export function addItem<Item>(pages: Pages<Item>, item: Item): void {
  const { length } = peek(pages);
  const last = length === 0 ? undefined : (pages[length - 1] as Item[]);
  if (last === undefined || peek(last).length >= pageLength) pages.push([item]);
  else last.push(item);
}

export function countOf(pages: ReadPages<unknown>): number {
  const all = peek(pages);
  return all.length === 0 ? 0 : (all.length - 1) * pageLength + peek(all.at(-1) as readonly unknown[]).length;
}

/** The item at a position, as it stands in the list, and never a draft; undefined past its end. */
export function itemAt<Item>(pages: ReadPages<Item>, position: number): Item | undefined {
  const page = peek(pages)[Math.floor(position / pageLength)];
  const item = page === undefined ? undefined : peek(page)[position % pageLength];
  return item === undefined ? undefined : peek(item);
}

/** All items in their order. */
export const itemsOf = <Item>(pages: ReadPages<Item>): Item[] =>
  peek(pages).flatMap((page) => peek(page).map((item) => peek(item)));
