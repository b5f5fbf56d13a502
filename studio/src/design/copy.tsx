/** Copying, with a word that it is done. */
import { useState } from "react";
import { Icon } from "./icon.tsx";

/** Puts a text where the user can paste it from. */
export const copyText = (text: string): Promise<void> => navigator.clipboard.writeText(text);

export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    window.setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button
      type="button"
      className="button"
      data-look="plain"
      data-size="small"
      onClick={copy}
      aria-label={`Copy ${what}`}
    >
      <Icon name={copied ? "check" : "copy"} size={14} />
    </button>
  );
}
