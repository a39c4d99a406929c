import { useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'

/**
 * A text that a button copies. Its element gets the ref `shown`; `said` is for a live region, and tells what came of the
 * last press, until another text is there and `forget` is called.
 */
export function useCopy<E extends HTMLElement = HTMLElement>(text: string) {
  const t = useTranslations('frame.copy')
  const shown = useRef<E>(null)
  const [outcome, setOutcome] = useState<'copied' | 'selected'>()
  return {
    shown,
    label: t('button'),
    said: outcome && t(outcome),
    copy: () =>
      void copyToClipboard(text, shown.current).then((isCopied) => setOutcome(isCopied ? 'copied' : 'selected')),
    forget: () => setOutcome(undefined),
  }
}

/**
 * Copies text to the clipboard. @param shown the element that shows it
 * @returns whether it succeeded; on plain http outside localhost scripts have no clipboard, but the browser copies what
 * is selected
 */
export async function copyToClipboard(text: string, shown: Element | null): Promise<boolean> {
  if ('clipboard' in navigator) {
    const isCopied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
    if (isCopied) return true
  }
  return shown !== null && copySelected(shown)
}

/** `execCommand` is deprecated, and the only way outside a secure context. */
function copySelected(shown: Element): boolean {
  getSelection()?.selectAllChildren(shown)
  return document.execCommand('copy')
}
