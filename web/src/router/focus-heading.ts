/**
 * Puts the focus where a page begins.
 * @param unlessInMain leaves it where the page has put it already, such as in its only field
 */
export function focusHeading({ unlessInMain = false } = {}): void {
  const hasFocus = unlessInMain && document.querySelector('main')?.contains(document.activeElement)
  if (!hasFocus) document.querySelector('h1')?.focus()
}
