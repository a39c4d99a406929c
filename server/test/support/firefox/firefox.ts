import path from 'node:path'
import { firefox, type Browser } from 'playwright-core'

/**
 * Debian's Firefox, driven by WebDriver BiDi, so that the journeys of Chromium run unchanged in it. Playwright, which drives
 * Chromium here, speaks BiDi to a Firefox that is not its own build (channel `moz-firefox`): no other library is needed.
 */

const relay = path.join(import.meta.dirname, 'relay.sh')

/**
 * Firefox without a window.
 * @param hosts names that lead to this machine, beside those below `localhost`
 * @param colorScheme what pages see, unless a page is told otherwise
 */
export async function launchFirefox(hosts: readonly string[], colorScheme: 'light' | 'dark'): Promise<Browser> {
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    executablePath: relay,
    env: { ...process.env, BERTH_NODE: process.execPath } as Record<string, string>,
    args: ['--remote-allow-system-access'],
    firefoxUserPrefs: {
      'ui.prefersReducedMotion': 1,
      'layout.css.prefers-color-scheme.content-override': colorScheme === 'dark' ? 0 : 1,
      'network.dns.localDomains': hosts.join(','),
      // The containers of other tests change the networks of this machine.
      'network.notify.changed': false,
      // The list of downloads opens by itself otherwise, and has the focus, which the page then has not.
      'browser.download.alwaysOpenPanel': false,
    },
  })
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async (options) => {
    const context = await newContext(options)
    await context.addInitScript({ content: insertAsTyped })
    return context
  }
  return browser
}

/**
 * Playwright's `fill` sets `value` of a field from within the page, which React does not take for input: it compares with what
 * was last set by the page. This inserts the text as a person's editing does.
 */
const insertAsTyped = `{
  const insert = (text) => void document.execCommand('insertText', false, text)
  Object.defineProperty(window, '__pw_bidiInsertText', { get: () => insert, set: () => undefined })
}`
