/** Timeout in ms. */
const limit = 10_000
/** How long a page that has settled does not change, in ms. */
const quiet = 400

const controls =
  'button, a[href], summary, input, textarea, [role^="menuitem"], [role="option"], [role="tab"], [role="switch"]'

/**
 * Presses the first visible control with this accessible name, as soon as there is one that is on; `Name = text` fills a field
 * instead.
 * @throws {Error} when there is none within the timeout
 */
export async function press(name: string): Promise<void> {
  const [label = '', text] = name.split(' = ')
  const control = await whenThere(() => find(label), name)
  control.focus()
  if (text === undefined) control.click()
  else write(control, text)
}

/**
 * Waits until the page has not changed for longer than React holds back what comes after a fallback (300 ms): a dialog whose scripts
 * come with the press would else open while the page is looked at.
 */
export async function settled(): Promise<void> {
  const end = performance.now() + limit
  await new Promise<void>((resolve) => {
    let timer = setTimeout(resolve, quiet)
    const observer = new MutationObserver(() => {
      clearTimeout(timer)
      timer = setTimeout(resolve, performance.now() > end ? 0 : quiet)
    })
    observer.observe(document, { subtree: true, childList: true, attributes: true })
  })
}

/** As typing does: React reads the value through the element's own setter. */
function write(control: HTMLElement, text: string): void {
  const { value } = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(control) as object) as PropertyDescriptorMap
  value?.set?.call(control, text)
  control.dispatchEvent(new Event('input', { bubbles: true }))
}

const find = (name: string) =>
  // A modal dialog makes the rest of the page inert.
  [...(document.querySelector('dialog:modal') ?? document).querySelectorAll<HTMLElement>(controls)].find(
    (control) => control.checkVisibility() && isOn(control) && nameOf(control) === name,
  )

/** A button that waits for what it needs ignores presses until then. */
const isOn = (control: HTMLElement) => control.getAttribute('aria-disabled') !== 'true'

/** The part of WAI-ARIA's computation of names that our markup needs. */
function nameOf(control: HTMLElement): string {
  const labels = (control.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id))
  const label =
    control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement ? control.labels?.[0] : undefined
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
