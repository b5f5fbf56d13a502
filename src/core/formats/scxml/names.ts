/**
 * The names of a document's states. SCXML ids may contain dots and may be absent; keys of a definition may do
 * neither. So every state gets an id, its own or one made up, and a key made from it that is unique in the document.
 */
import { attribute, isScxml } from "./element.ts";
import { isElement, refuse, type XmlElement } from "./xml.ts";

export interface StateName {
  readonly element: XmlElement;
  readonly id: string;
  readonly key: string;
  readonly parent: StateName | undefined;
}

export class StateNames {
  readonly #byElement = new Map<XmlElement, StateName>();
  readonly #byId = new Map<string, StateName>();
  readonly #keys = new Set<string>();
  /** The last number given to a state without an id, by its tag. */
  readonly #counts = new Map<string, number>();

  constructor(root: XmlElement) {
    const elements = statesBelow(root, undefined);
    // Ids of the author's own come first, so that none made up can take their place.
    for (const { element } of elements) {
      const id = attribute(element, "id");
      if (id === undefined) continue;
      if (id.trim() === "" || /\s/.test(id)) refuse(`${JSON.stringify(id)} is not an id`, element);
      if (this.#byId.has(id)) refuse(`The id ${JSON.stringify(id)} is used twice`, element);
      this.#byId.set(id, { element, id, key: "", parent: undefined });
    }
    for (const { element, parent } of elements) this.#add(element, parent);
  }

  of(element: XmlElement): StateName {
    return this.#byElement.get(element)!;
  }

  withId(id: string): StateName | undefined {
    return this.#byId.get(id);
  }

  /** Whether a state lies strictly below another. */
  isBelow(name: StateName, above: StateName): boolean {
    for (let parent = name.parent; parent !== undefined; parent = parent.parent)
      if (parent === above) return true;
    return false;
  }

  #add(element: XmlElement, parent: XmlElement | undefined): void {
    const id = attribute(element, "id") ?? this.#unused(element.name);
    const name = { element, id, key: this.#key(id), parent: parent && this.of(parent) };
    this.#byElement.set(element, name);
    this.#byId.set(id, name);
  }

  #unused(tag: string): string {
    let count = this.#counts.get(tag) ?? 0;
    do count++;
    while (this.#byId.has(`${tag}-${count}`));
    this.#counts.set(tag, count);
    return `${tag}-${count}`;
  }

  #key(id: string): string {
    // Objects put keys that look like numbers first, and document order matters.
    const base = /^(\d+|__proto__)$/.test(id) ? `_${id}` : id.replace(/[.#]/g, "_");
    let key = base;
    for (let count = 2; this.#keys.has(key); count++) key = `${base}_${count}`;
    this.#keys.add(key);
    return key;
  }
}

/** The elements that are states. */
export const stateTags: readonly string[] = ["state", "parallel", "final", "history"];

/** The states directly inside an element, in document order. */
export function statesIn(element: XmlElement): XmlElement[] {
  return element.children
    .filter(isElement)
    .filter(isScxml)
    .filter((child) => stateTags.includes(child.name));
}

interface Placed {
  readonly element: XmlElement;
  readonly parent: XmlElement | undefined;
}

function statesBelow(element: XmlElement, parent: XmlElement | undefined): Placed[] {
  return statesIn(element).flatMap((child) => [{ element: child, parent }, ...statesBelow(child, child)]);
}
