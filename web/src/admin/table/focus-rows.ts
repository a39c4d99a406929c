import { focusHeading } from '#/components/page/page.tsx'

/** Gives the focus to the row that keys work on, when what had it is gone; to the beginning of the page where there are no rows. */
export function focusRows(): void {
  // After React has taken out what was pressed.
  setTimeout(() => {
    if (document.activeElement !== document.body) return
    const row = document.querySelector<HTMLElement>('[role="grid"] tbody [tabindex="0"]')
    if (row) row.focus({ preventScroll: true })
    else focusHeading()
  })
}
