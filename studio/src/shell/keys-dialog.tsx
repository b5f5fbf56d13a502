/** The keys that do something on this page. */
import { Dialog } from "../design/dialog.tsx";
import { keyName } from "./key-name.ts";
import { useBoundKeys } from "./keys.ts";

export function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  const bindings = useBoundKeys();
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys-list">
        {bindings.map(({ key, does }) => (
          <div key={key}>
            <dt>
              <kbd>{keyName(key)}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
