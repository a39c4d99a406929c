/** Step of an arrow key, in pixels. */
const step = 24

/**
 * A separator between two panes that can be dragged, or moved by arrow keys (WAI-ARIA "window splitter"). The size is a
 * custom property of the panes, so that the style sheet can limit it; it is remembered per browser.
 * @param {HTMLElement} border
 * @param {{ panes: HTMLElement, property: string, min: number, max: () => number, from: (event: PointerEvent) => number
 * }} options in pixels; `from` is the size at a pointer position
 */
export function makeSplit(border, { panes, property, min, max, from }) {
  const isUpright = border.getAttribute('aria-orientation') === 'vertical'
  const current = () => Number.parseFloat(getComputedStyle(panes).getPropertyValue(property))

  /** @param {number} wanted */
  const set = (wanted) => {
    const value = Math.round(Math.max(min, Math.min(max(), wanted)))
    panes.style.setProperty(property, `${value}px`)
    border.setAttribute('aria-valuenow', String(value))
    border.setAttribute('aria-valuemin', String(min))
    border.setAttribute('aria-valuemax', String(Math.round(max())))
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

/** The storage is shared with every page of this host, and a browser may refuse it: only for what may be lost. */
const remember = (/** @type {string} */ property, /** @type {number} */ value) => {
  try {
    localStorage.setItem(`workspace${property}`, String(value))
  } catch {
    // Not allowed, or full: the next visit starts with the default size.
  }
}

const remembered = (/** @type {string} */ property) => {
  try {
    return Number(localStorage.getItem(`workspace${property}`)) || 0
  } catch {
    return 0
  }
}
