/** What a form or a dialog is about to do, by other means: the command as one would write it, and both ways to copy. */
import { asCommand, asCurl, asPasted, type Call, useAccess } from "../data/commands.ts";
import { CopyButton } from "../design/copy.tsx";

interface CommandProps {
  /** None where no command does the same. */
  readonly parts: readonly string[] | undefined;
  readonly call: Call;
}

export function Command({ parts, call }: CommandProps) {
  const access = useAccess();
  return (
    <>
      {parts === undefined ? null : (
        <>
          <code>{asCommand(parts)}</code> <CopyButton text={asPasted(access, parts)} what="command" />
        </>
      )}
      <CopyButton text={asCurl(access, call)} what="curl">
        curl
      </CopyButton>
    </>
  );
}
