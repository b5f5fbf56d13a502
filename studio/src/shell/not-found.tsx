/** A link that leads nowhere. */
import { Empty } from "../design/empty.tsx";
import { keyName } from "./key-name.ts";

export const NotFound = () => (
  <Empty title="There is no such page" command="holdfast runs list">
    The link may be from another version. Everything there is can be found with <kbd>{keyName("mod+k")}</kbd>.
  </Empty>
);
