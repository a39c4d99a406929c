import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startPolling, type Focusable, type Visible } from './poll.ts'

const pause = 10_000

/** A page with a hand on its visibility, and a list of the looks that were taken from it. */
function watchedPage(context: TestContext) {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' as DocumentVisibilityState })
  const view = new EventTarget()
  const looks: { signal: AbortSignal; end: () => void }[] = []
  const look = (signal: AbortSignal) => new Promise<void>((end) => looks.push({ signal, end }))
  const poll = startPolling(look, pause, page as Visible, view as Focusable)
  return {
    looks,
    poll,
    show(state: DocumentVisibilityState) {
      page.visibilityState = state
      page.dispatchEvent(new Event('visibilitychange'))
      if (state === 'visible') view.dispatchEvent(new Event('focus'))
    },
    async endLook() {
      looks.at(-1)?.end()
      await new Promise((settled) => setImmediate(settled))
    },
    pass: (ms: number) => context.mock.timers.tick(ms),
  }
}

test('a visible page looks at once, and again ten seconds after a look has ended', async (context) => {
  const page = watchedPage(context)
  page.pass(60_000)
  assert.equal(page.looks.length, 1, 'a slow answer does not pile up looks')
  await page.endLook()
  page.pass(pause - 1)
  assert.equal(page.looks.length, 1)
  page.pass(1)
  assert.equal(page.looks.length, 2)
})

test('a hidden page asks nothing, and gives up what it was asking', (context) => {
  const page = watchedPage(context)
  page.show('hidden')
  page.pass(10 * pause)
  page.poll.refresh()
  assert.equal(page.looks.length, 1)
  assert.equal(page.looks[0]?.signal.aborted, true)
})

test('coming back to the tab takes one fresh look', async (context) => {
  const page = watchedPage(context)
  await page.endLook()
  page.show('hidden')
  page.show('visible')
  assert.equal(page.looks.length, 2)
  assert.equal(page.looks[1]?.signal.aborted, false)
})

test('a look that began before a change is given up for a newer one', (context) => {
  const page = watchedPage(context)
  page.poll.refresh()
  assert.deepEqual(
    page.looks.map((look) => look.signal.aborted),
    [true, false],
  )
})

test('a page that was left asks nothing any more', async (context) => {
  const page = watchedPage(context)
  page.poll.stop()
  await page.endLook()
  page.pass(10 * pause)
  page.show('visible')
  assert.equal(page.looks.length, 1)
  assert.equal(page.looks[0]?.signal.aborted, true)
})
