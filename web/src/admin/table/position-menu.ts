/** Distance in pixels between a menu and its anchor, and its min distance from the edges of the window. */
const gaps = { anchor: 4, edge: 8 }

/**
 * Positions a menu below its anchor, ends aligned; above it where there is no space below. In coordinates of the
 * document: it scrolls with its row.
 */
export function positionMenu(menu: HTMLElement, anchor: HTMLElement): void {
  // Its earlier position may be outside a window that has become smaller, and would widen the page.
  menu.style.left = '0'
  const from = anchor.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = menu
  const below = from.bottom + gaps.anchor
  const above = from.top - gaps.anchor - height
  const lowest = document.documentElement.clientHeight - gaps.edge - height
  const top = below <= lowest ? below : above >= gaps.edge ? above : Math.max(gaps.edge, lowest)
  const isLeftToRight = getComputedStyle(anchor).direction === 'ltr'
  const rightmost = document.documentElement.clientWidth - gaps.edge - width
  const left = Math.max(gaps.edge, Math.min(isLeftToRight ? from.right - width : from.left, rightmost))
  menu.style.top = `${Math.round(top + scrollY)}px`
  menu.style.left = `${Math.round(left + scrollX)}px`
}
