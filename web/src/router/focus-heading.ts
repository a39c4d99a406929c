/**
 * Moves the focus to the heading of the page.
 * @param unlessInMain keeps a focus that the page has set inside `main`, such as on its only field
 * @param preventScroll the page stays where it is, for users without a keyboard
 */
export function focusHeading({ unlessInMain = false, preventScroll = false } = {}): void {
  const hasFocus = unlessInMain && document.querySelector('main')?.contains(document.activeElement)
  if (!hasFocus) document.querySelector('h1')?.focus({ preventScroll })
}
