import axe, { type AxeResults, type RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

/** WCAG 2.2 AA, and axe's best practices. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/**
 * What axe cannot decide: colours and sizes where one element covers another, as an open menu covers rows, or where a
 * text has one letter; and whether the cross of a button is a word. Each such element was inspected: its colours and
 * sizes are those of others that axe checks.
 */
const undecided = ['color-contrast', 'target-size', 'label-content-name-mismatch']

/**
 * The findings of axe, and what it leaves undecided, one line per element.
 * @param rules only these
 */
export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  // The policy allows no script in the page; the browser's own console may run one.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source)
  const options: RunOptions = {
    runOnly: rules ? { type: 'rule', values: [...rules] } : { type: 'tag', values: tags },
    resultTypes: ['violations', 'incomplete'],
  }
  const { violations, incomplete } = await page.evaluate((options) => {
    const { axe } = globalThis as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } }
    return axe.run(options)
  }, options)
  return [...violations, ...incomplete.filter(({ id }) => !undecided.includes(id))].flatMap(({ id, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${html} ${any[0]?.message ?? ''}`),
  )
}
