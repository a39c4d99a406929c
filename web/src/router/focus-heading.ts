/**
 * Moves the focus to the heading of the page.
 * @param unlessInMain keeps a focus that the page has set inside `main`, such as on its only field
 */
export function focusHeading({ unlessInMain = false } = {}): void {
  const hasFocus = unlessInMain && document.querySelector('main')?.contains(document.activeElement)
  if (!hasFocus) document.querySelector('h1')?.focus()
}
