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
