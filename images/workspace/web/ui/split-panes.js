/** How far an arrow key moves the border, in pixels. */
const step = 24

/**
 * A border between two panes that can be dragged, or moved by arrow keys (WAI-ARIA "window splitter").
 * The measure is a custom property of the panes, so the style sheet keeps the last word; it is remembered per browser.
 * @param {HTMLElement} border
 * @param {{ panes: HTMLElement, property: string, least: number, most: () => number, from: (event: PointerEvent) => number }} options
 *   in pixels; `from` is the measure that a pointer position means
 */
export function makeSplit(border, { panes, property, least, most, from }) {
  const isUpright = border.getAttribute('aria-orientation') === 'vertical'
  const current = () => Number.parseFloat(getComputedStyle(panes).getPropertyValue(property))

  /** @param {number} wanted */
  const set = (wanted) => {
    const value = Math.round(Math.max(least, Math.min(most(), wanted)))
    panes.style.setProperty(property, `${value}px`)
    border.setAttribute('aria-valuenow', String(value))
    border.setAttribute('aria-valuemin', String(least))
    border.setAttribute('aria-valuemax', String(Math.round(most())))
    remember(property, value)
  }

  set(remembered(property) || current())

  border.addEventListener('pointerdown', (event) => {
    border.setPointerCapture(event.pointerId)
    event.preventDefault()
  })
  border.addEventListener('pointermove', (event) => border.hasPointerCapture(event.pointerId) && set(from(event)))
  border.addEventListener('keydown', (event) => {
    const more = isUpright ? 'ArrowRight' : 'ArrowUp'
    const less = isUpright ? 'ArrowLeft' : 'ArrowDown'
    if (event.key !== more && event.key !== less) return
    event.preventDefault()
    set(current() + (event.key === more ? step : -step))
  })
}

/** The storage is shared with every page of this host, and a browser may refuse it: only fit for what nobody would miss. */
const remember = (/** @type {string} */ property, /** @type {number} */ value) => {
  try {
    localStorage.setItem(`workspace${property}`, String(value))
  } catch {
    // Not allowed, or full: the next visit starts with the usual measures.
  }
}

const remembered = (/** @type {string} */ property) => {
  try {
    return Number(localStorage.getItem(`workspace${property}`)) || 0
  } catch {
    return 0
  }
}
