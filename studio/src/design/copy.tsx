/** Copying, with a word that it is done. */
import { type ReactNode, useState } from "react";
import { Icon } from "./icon.tsx";

/** Puts a text where the user can paste it from. */
export const copyText = (text: string): Promise<void> => navigator.clipboard.writeText(text);

interface CopyButtonProps {
  readonly text: string;
  readonly what: string;
  /** Words beside the icon. */
  readonly children?: ReactNode;
}

export function CopyButton({ text, what, children }: CopyButtonProps) {
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
      <Icon name={copied ? "check" : "copy"} size={14} /> {children}
    </button>
  );
}
