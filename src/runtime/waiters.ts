/** Promises by name: whoever waits for something that will be told under that name, once. */
export class Waiters<Value> {
  readonly #byName = new Map<string, Waiter<Value>[]>();

  /** Resolves with what is told; `cancel` takes it back. */
  wait(name: string): { readonly told: Promise<Value>; cancel(): void } {
    let waiter!: Waiter<Value>;
    const told = new Promise<Value>((resolve, reject) => {
      waiter = { resolve, reject };
    });
    // Whoever asked may have gone before there is an error to tell.
    told.catch(() => {});
    this.#byName.set(name, [...(this.#byName.get(name) ?? []), waiter]);
    const cancel = () => {
      const left = (this.#byName.get(name) ?? []).filter((one) => one !== waiter);
      if (left.length > 0) this.#byName.set(name, left);
      else this.#byName.delete(name);
    };
    return { told, cancel };
  }

  get isEmpty(): boolean {
    return this.#byName.size === 0;
  }

  tell(name: string, value: Value): void {
    for (const { resolve } of this.#take(name)) resolve(value);
  }

  /** There will never be anything to tell under this name. */
  refuse(name: string, error: unknown): void {
    for (const { reject } of this.#take(name)) reject(error);
  }

  /** Nothing will ever be told again. */
  close(error: unknown): void {
    for (const name of [...this.#byName.keys()]) this.refuse(name, error);
  }

  #take(name: string): readonly Waiter<Value>[] {
    if (this.#byName.size === 0) return [];
    const waiters = this.#byName.get(name) ?? [];
    this.#byName.delete(name);
    return waiters;
  }
}

interface Waiter<Value> {
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}
