/** What a format could not say, or says differently: told with its place, so that nothing is lost in silence. */

export interface Note {
  /** Where it stands in what was given, as problems of a definition name it. */
  readonly path: string;
  /** The name under which the documents explain it. */
  readonly topic: string;
  readonly note: string;
}

/** Collects notes, each said once per place. */
export class Notes<Topic extends string = string> {
  readonly list: Note[] = [];
  readonly #texts: Readonly<Record<Topic, string>>;

  constructor(texts: Readonly<Record<Topic, string>>) {
    this.#texts = texts;
  }

  /** Notes something of this topic; `detail` says what is particular about this place. */
  add(path: string, topic: Topic, detail?: string): void {
    const place = path === "" ? "definition" : path;
    if (this.list.some((one) => one.path === place && one.topic === topic)) return;
    const text = this.#texts[topic];
    this.list.push({ path: place, topic, note: detail === undefined ? text : `${text} (${detail})` });
  }
}
