/** A page to take along: its link, and what it shows by other means. */
import { asCurl, asPasted, type Call, useAccess } from "../data/commands.ts";
import { copyText } from "../design/copy.tsx";
import { Icon } from "../design/icon.tsx";
import { Menu } from "../design/menu.tsx";

interface CopyMenuProps {
  readonly call: Call;
  /** Commands that tell the same; of several, each with a word that tells it from the others. */
  readonly commands?: readonly { readonly word?: string; readonly parts: readonly string[] }[];
  readonly id?: string;
}

export function CopyMenu({ call, commands = [], id }: CopyMenuProps) {
  const access = useAccess();
  return (
    <Menu
      label="Copy"
      button={<Icon name="copy" />}
      choices={[
        { name: "Copy link", does: () => void copyText(location.href) },
        ...(id === undefined ? [] : [{ name: "Copy id", does: () => void copyText(id) }]),
        { name: "Copy as curl", does: () => void copyText(asCurl(access, call)) },
        ...commands.map(({ word, parts }) => ({
          name: word === undefined ? "Copy as CLI" : `Copy as CLI: ${word}`,
          does: () => void copyText(asPasted(access, parts)),
        })),
      ]}
    />
  );
}
