/**
 * Puts text into the clipboard. @param shown the element that shows it
 * @returns whether the browser did; on plain http away from this machine it has no clipboard for scripts, but copies what
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

/** `execCommand` is deprecated, and the only way where a page is no secure context. */
function copySelected(shown: Element): boolean {
  getSelection()?.selectAllChildren(shown)
  return document.execCommand('copy')
}
