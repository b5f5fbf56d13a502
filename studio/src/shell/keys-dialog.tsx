/** The keys that do something on this page. */
import { Dialog } from "../design/dialog.tsx";
import { useBoundKeys } from "./keys.ts";

const names: Readonly<Record<string, string>> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
  Enter: "⏎",
  "mod+k": "⌘ K",
  "mod+Enter": "⌘ ⏎",
};

export function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  const bindings = useBoundKeys();
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys-list">
        {bindings.map(({ key, does }) => (
          <div key={key}>
            <dt>
              <kbd>{names[key] ?? key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
