import type { BrowserContext } from 'playwright-core'

declare global {
  /** Of pages of a context with `waitsForWindows`: whether a window or frame shows another document than the one it began with. */
  var hasNavigated: (other: Window | null | undefined) => Promise<boolean>
}

/**
 * Gives all pages of a context `hasNavigated`, with which a page waits for a window or frame of its own before it reads it: the
 * document that it begins with is the page's own and is empty, so that one who looks too early finds nothing, or is not refused.
 * It resolves with true when another document is loaded, when the browser refuses to look, or when the window was taken away from
 * its opener, and with false after 15 s.
 */
export async function waitsForWindows(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    globalThis.hasNavigated = async (other) => {
      for (const end = performance.now() + 15_000; performance.now() < end;) {
        try {
          if (!other || other.closed) return true
          if (other.location.href !== 'about:blank' && other.document.readyState === 'complete') return true
        } catch {
          return true
        }
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      return false
    }
  })
}
