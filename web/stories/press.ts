/** In ms; what a story presses is there sooner on any machine. */
const limit = 10_000

const controls = 'button, a[href], summary, input, [role^="menuitem"], [role="option"], [role="tab"], [role="switch"]'

/**
 * Presses the first control that is seen and has this accessible name, as soon as there is one.
 * @throws {Error} when there is none within `limit`
 */
export async function press(name: string): Promise<void> {
  const control = await whenThere(() => find(name), name)
  control.focus()
  control.click()
}

const find = (name: string) =>
  [...document.querySelectorAll<HTMLElement>(controls)].find(
    (control) => control.checkVisibility() && nameOf(control) === name,
  )

/** As much of WAI-ARIA's computation of names as our own markup needs. */
function nameOf(control: HTMLElement): string {
  const labels = (control.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id))
  const label = control instanceof HTMLInputElement ? control.labels?.[0] : undefined
  const text = labels[0] ? labels.map((each) => each?.textContent).join(' ') : (label ?? control).textContent
  return (control.getAttribute('aria-label') ?? text ?? '').replace(/\s+/g, ' ').trim()
}

async function whenThere<T>(look: () => T | undefined, name: string): Promise<T> {
  const end = performance.now() + limit
  for (;;) {
    const found = look()
    if (found !== undefined) return found
    if (performance.now() > end) throw new Error(`The story presses "${name}", and there is nothing of that name.`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
