/** As much of the saver's types as the bench uses, so that the project compiles where it is not installed. */

export class PostgresSaver {
  static fromConnString(url: string): PostgresSaver;
  setup(): Promise<void>;
  end(): Promise<void>;
}
