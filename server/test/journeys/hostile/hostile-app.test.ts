// Part of npm run test:more: a browser; session-attacks.test.ts has what a request without the proof gets, and secrets-in-addresses.test.ts opens a hostile app.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { tokenBy } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { openTab } from '#test/support/browser.ts'
import { waitsForWindows } from './opened-windows.ts'

/**
 * Whatever runs in a container runs its pages on the origin of the front end, with its owner's cookie sent along.
 * Here a page of Ann's own container, Ann an administrator, tries what a hostile app would.
 */
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')
const berth = await startBerth({ after }, { webDir })
const ann = await berth.signUp('ann@x.org')
const { page } = await openTab({ after })
await waitsForWindows(page.context())
const cookie = { name: 'spawner_token', value: ann.token, domain: '.berth.localhost', path: '/', httpOnly: true }
await page.context().addCookies([cookie])

const openContainer = () => page.goto(`${berth.app.spawnerUrl}/ann-dev/`)

/** Value of `csrf` in the boot data of the front end's document, as far as a script could read it. */
const proofIn = (html: string) => /"csrf":("[^"]*"|null)/.exec(html)?.[1]

test("the person's own navigation to the front end carries the proof", async () => {
  const response = await page.goto(berth.app.frontendUrl)
  assert.match(proofIn((await response?.text()) ?? '') ?? '', /^"[\w-]{40,}"$/)
})

test('a script that fetches the front end reads a document without the proof', async () => {
  await openContainer()
  const html = await page.evaluate(async () => (await fetch('/', { credentials: 'include' })).text())
  assert.equal(proofIn(html), 'null')
})

test('a script cannot pretend to navigate', async () => {
  await openContainer()
  const refused = await page.evaluate(() => {
    try {
      return new Request('/', { mode: 'navigate' as RequestMode }).mode
    } catch (error) {
      return (error as Error).name
    }
  })
  assert.equal(refused, 'TypeError')
})

test('by XMLHttpRequest it reads a document without the proof, too', async () => {
  await openContainer()
  const html = await page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        const request = new XMLHttpRequest()
        request.onloadend = () => resolve(request.responseText)
        request.open('GET', '/')
        request.send()
      }),
  )
  assert.equal(proofIn(html), 'null')
})

test('as an object or embedded the front end stays empty', async () => {
  await openContainer()
  const texts = await page.evaluate(async () => {
    const attempts = [
      ['object', 'data', 'text/html'],
      ['embed', 'src', 'text/html'],
    ].map(async ([tag = '', source = '', type = '']) => {
      const element = document.createElement(tag) as HTMLObjectElement
      const ended = new Promise((resolve) => {
        for (const type of ['load', 'error']) element.addEventListener(type, resolve)
        // An embedded document that is refused tells nothing.
        setTimeout(resolve, 2_000)
      })
      element.setAttribute('type', type)
      element.setAttribute(source, '/')
      document.body.append(element)
      await ended
      try {
        return (element.contentDocument ?? element.getSVGDocument?.())?.documentElement.outerHTML ?? ''
      } catch {
        return ''
      }
    })
    return Promise.all(attempts)
  })
  assert.deepEqual(texts.map(proofIn), [undefined, undefined])
})

test('a frame of the front end stays empty', async () => {
  await openContainer()
  const [hasNavigated, text] = await page.evaluate(async () => {
    const frame = document.createElement('iframe')
    frame.src = '/'
    document.body.append(frame)
    const hasNavigated = await globalThis.hasNavigated(frame.contentWindow)
    try {
      return [hasNavigated, frame.contentDocument?.documentElement.outerHTML ?? ''] as const
    } catch {
      return [hasNavigated, ''] as const
    }
  })
  assert.deepEqual([hasNavigated, text], [true, ''])
})

test("a window of the front end that a container's page opens cannot be read by it", async () => {
  await openContainer()
  const [hasNavigated, text] = await page.evaluate(async () => {
    const opened = window.open('/')
    const hasNavigated = await globalThis.hasNavigated(opened)
    try {
      return [hasNavigated, opened?.document.documentElement.outerHTML ?? ''] as const
    } catch {
      return [hasNavigated, ''] as const
    }
  })
  assert.deepEqual([hasNavigated, text], [true, ''])
  for (const other of page.context().pages()) if (other !== page) await other.close()
})

test('a window of the front end that it opens is none of its own: closed to it, without an opener, and told nothing', async () => {
  await openContainer()
  const [opened] = await Promise.all([
    page.waitForEvent('popup'),
    page.evaluate(() => void Object.assign(globalThis, { opened: window.open('/') })),
  ])
  await opened.getByRole('heading', { name: 'Your containers' }).waitFor()
  await opened.evaluate(() => addEventListener('message', () => document.body.setAttribute('data-told', '')))
  const isClosed = await page.evaluate(() => {
    const { opened } = globalThis as unknown as { opened: Window }
    opened.postMessage('press the button', '*')
    opened.location.href = 'javascript:document.body.dataset.driven = 1'
    return opened.closed
  })
  assert.deepEqual([isClosed, await opened.evaluate(() => window.opener)], [true, null])
  assert.deepEqual(await opened.evaluate(() => ({ ...document.body.dataset })), {})
  assert.equal(new URL(opened.url()).pathname, '/')
  await opened.close()
})

test('a window of its own that the front end opens cannot reach back', async () => {
  await page.goto(berth.app.frontendUrl)
  const [opened] = await Promise.all([
    page.waitForEvent('popup'),
    page.evaluate(() => void window.open('/ann-dev/', '_blank', 'opener')),
  ])
  await opened.waitForLoadState()
  assert.equal(await opened.evaluate(() => window.opener), null)
  await opened.close()
})

test('with the cookie alone it can change nothing, and read no logs, events, sessions, and nothing of administrators', async () => {
  await openContainer()
  const statuses = await page.evaluate(async () => {
    const send = async (method: string, target: string) =>
      (await fetch(target, { method, credentials: 'include', headers: { 'x-csrf-token': 'guess' } })).status
    return [
      await send('POST', '/api/container/launch/dev'),
      await send('POST', '/api/container/restart'),
      await send('POST', '/api/auth/logout'),
      await send('GET', '/api/container/logs/prod'),
      await send('GET', '/api/container/events'),
      await send('GET', '/api/user/sessions'),
      await send('GET', '/api/admin/users'),
      await send('POST', '/api/admin/users/1/block'),
    ]
  })
  assert.deepEqual(statuses, Array(8).fill(403))
})

test('it cannot see the token that the browser sends', async () => {
  await openContainer()
  assert.ok(!(await page.evaluate(() => document.cookie)).includes('spawner_token'))
})

test('it cannot sign its visitor in as another user: a link that it makes the browser use changes no cookie', async () => {
  await berth.signUp('eve@x.org')
  const link = await tokenBy(berth, 'login', 'eve@x.org')
  await openContainer()
  const [status, opened] = await page.evaluate(async (token) => {
    const address = `/api/auth/verify-login?token=${token}`
    const html = await (await fetch('/verify-login', { credentials: 'include' })).text()
    const proof = /"visit":"([^"]*)"/.exec(html)?.[1]
    const answer = await fetch(address, { headers: { 'x-csrf-token': proof ?? 'guess' } })
    return [answer.status, proof ?? null]
  }, link)
  assert.deepEqual([status, opened], [200, null])
  const me = await page.evaluate(async () => (await fetch('/api/user/me')).json())
  assert.equal(me.user.email, 'ann@x.org')
})

test("a sign-in from Berth's own page takes effect all the same", async () => {
  const link = await tokenBy(berth, 'login', 'eve@x.org')
  await page.goto(`${berth.app.frontendUrl}/verify-login?token=${link}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Your containers' }).waitFor()
  const me = await page.evaluate(async () => (await fetch('/api/user/me')).json())
  assert.equal(me.user.email, 'eve@x.org')
})
