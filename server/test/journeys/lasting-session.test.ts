// Part of npm run test:long: minutes of work in a browser; accounts/session-model and gateway/sessions state its rules.
import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { unixFetch } from '@berth/cli/find-service.ts'
import { readPidFile } from '@berth/gateway/supervisor/run-folder.ts'
import { arrival, connectionOf, openTab, steadily, type Connection } from '#test/support/browser.ts'
import { extent, timeLimit, waitLimit } from '#test/support/extent.ts'
import { t as said } from '#test/support/front-end-text.ts'
import { lives, runProgram, signIn, waitFor, type Program } from '#test/support/program.ts'

/**
 * A session that outlives many tokens, in a real browser with the demo workspace, whose terminal is a WebSocket. Tokens
 * last ten seconds; `npm run test:long` works for two minutes. `BERTH_SCREENSHOTS=folder` keeps pictures.
 */
const tokenLifetime = 10
const seconds = extent(14, 120)
const pictures = process.env.BERTH_SCREENSHOTS

test(
  'a user works on while tokens expire, Berth restarts and keys change, and is cut when the session is ended',
  { timeout: waitLimit(480_000) },
  async (t) => {
    const program = runProgram(t, { JWT_ACCESS_TOKEN_EXPIRES: String(tokenLifetime), MAGIC_LINK_RATE_LIMIT: '50' })
    const [frontendUrl = ''] = await program.said(/http:\/\/spawner\.berth\.localhost:\d+/)
    const { page: dashboard } = await openTab(t)
    await dashboard.goto(frontendUrl)
    await askForLink(dashboard)
    await openLink(program, dashboard)
    await dashboard.getByRole('link', { name: 'Open Development' }).waitFor()
    const links = () => linksOf(program).length
    const before = links()
    const workspace = await dashboard.context().newPage()
    const address = `${frontendUrl}/ann-dev/`
    let socket = await openTerminal(workspace, address)
    const read = () => workspace.evaluate(async () => (await fetch('./')).status)
    // On a busy machine the token may expire while the page loads; the second navigation finds everything warm.
    if ((await read()) === 401) socket = await openTerminal(workspace, address)
    const work = async (milliseconds: number) => {
      for (const end = Date.now() + milliseconds; Date.now() < end; await sleep(1_000)) {
        await workspace.keyboard.type('x')
        assert.equal(await read(), 200)
        assert.ok(!(await socket.isClosed()), 'the terminal was cut')
      }
    }

    await t.test(
      'the terminal stays open and files are read while tokens expire, Berth restarts and keys change',
      { timeout: waitLimit(300_000) },
      async () => {
        await work(seconds * 333)
        await restart(program)
        await work(seconds * 333)
        await rotateKeys(program)
        await work(seconds * 333)
      },
    )

    await t.test('after a pause longer than a token the open page goes on with the first click', async () => {
      await sleep((tokenLifetime + 2) * 1_000)
      await dashboard.bringToFront()
      await dashboard.getByRole('button', { name: said('frame.nav.account') }).click()
      await dashboard.getByRole('link', { name: said('sessions.title') }).click()
      await dashboard.getByRole('heading', { name: /This browser$/ }).waitFor()
      assert.ok(!(await socket.isClosed()), 'the terminal was cut')
    })

    await t.test('after a pause the workspace goes on with the first click, and its page stays as it was', async () => {
      // Another tab of ours would renew the token for this one.
      const other = dashboard.url()
      await dashboard.goto('about:blank')
      await workspace.bringToFront()
      await sleep((tokenLifetime + 2) * 1_000)
      assert.equal(await read(), 401, 'the token has not expired')
      const answered = workspace.waitForResponse((each) => each.url().includes('api/file') && each.status() === 200)
      await workspace.getByRole('treeitem').first().click()
      await workspace.evaluate(() => dispatchEvent(new Event('focus')))
      await answered
      assert.equal(await workspace.getByText('Your sign-in has ended.').isVisible(), false)
      assert.equal(await read(), 200)
      await dashboard.goto(other)
      await dashboard.getByRole('heading', { name: /This browser$/ }).waitFor()
    })

    await t.test('after a pause a navigation into the container, and to a page, needs no sign-in', async () => {
      await sleep((tokenLifetime + 2) * 1_000)
      const again = await dashboard.context().newPage()
      await steadily(() => again.goto(`${frontendUrl}/ann-dev/`))
      await again.getByRole('tree', { name: 'Files' }).waitFor()
      await sleep((tokenLifetime + 2) * 1_000)
      await steadily(() => again.goto(`${frontendUrl}/sessions`))
      await again.getByRole('heading', { name: /This browser$/ }).waitFor()
      await again.close()
      assert.equal(links(), before, 'a mail was needed')
    })

    await t.test(
      '"End" elsewhere cuts the terminal within a second, and the page has words and the address',
      async () => {
        assert.ok(!(await socket.isClosed()), 'the terminal was cut before')
        await workspace.locator('.cm-content').click()
        await workspace.keyboard.type('draft of Ann')
        const token = await signIn(program, 'ann@example.org', 'login')
        const { sessions } = (await (await program.fetch('/api/user/sessions', token)).json()) as {
          sessions: { id: number; is_current: boolean }[]
        }
        const browser = sessions.find((each) => !each.is_current)
        const headers = { authorization: `Bearer ${token}` }
        const closed = socket.closed()
        const ended = await program.fetch(`/api/user/sessions/${browser?.id}`, undefined, { method: 'DELETE', headers })
        const endedAt = Date.now()
        assert.equal(ended.status, 200)
        await closed
        assert.ok(Date.now() - endedAt < timeLimit(1_000), `${Date.now() - endedAt} ms`)
        await dashboard.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })))
        await arrival(dashboard, '/login?next=%2Fsessions')
        await dashboard.getByText(said('signIn.ask.ended')).waitFor()
        assert.equal(await dashboard.getByLabel(said('signIn.email.label')).inputValue(), 'ann@example.org')
      },
    )

    await t.test(
      'the workspace says so, keeps what is not saved, and goes on after a sign-in in another tab',
      async () => {
        const notice = workspace.getByRole('status').getByText('Your sign-in has ended. The container keeps running.')
        await notice.waitFor()
        await pictureOnPhone(workspace, 'workspace-ended')
        const opened = dashboard.context().waitForEvent('page')
        await workspace.getByRole('link', { name: 'Sign in' }).click()
        const other = await opened
        await arrival(other, '/login?next=%2Fann-dev%2F&ended=sessionEnded')
        await askForLink(other)
        await openLink(program, other)
        await other.getByRole('tree', { name: 'Files' }).waitFor()
        assert.equal(new URL(other.url()).pathname, '/ann-dev/')
        await workspace.evaluate(() => dispatchEvent(new Event('focus')))
        await notice.waitFor({ state: 'hidden' })
        await workspace.getByText('The connection was lost; this is a new shell.').waitFor()
        await workspace.getByRole('button', { name: 'Save' }).click()
        await workspace.getByText('Saved', { exact: true }).waitFor()
        assert.match(await workspace.locator('.cm-content').innerText(), /draft of Ann/)
      },
    )
  },
)

async function askForLink(page: Page): Promise<void> {
  await page.getByLabel(said('signIn.email.label')).fill('ann@example.org')
  await page.getByRole('button', { name: said('signIn.ask.button') }).click()
  await page.getByRole('heading', { name: said('checkMail.title') }).waitFor()
}

const linksOf = (program: Program) => program.output().match(/http\S+\?token=[\w-]+/g) ?? []

/** Opens the link that was printed last. */
async function openLink(program: Program, page: Page): Promise<void> {
  await page.goto(linksOf(program).at(-1) ?? assert.fail('no link was printed'))
}

/** Changes the API process for a new one; the gateway and its connections stay. */
async function restart(program: Program): Promise<void> {
  const before = program.api()
  program.process.kill('SIGHUP')
  await waitFor('another API process', () => !lives(before) && program.api() !== before)
}

async function rotateKeys({ dataDir }: Program): Promise<void> {
  const operate = unixFetch(readPidFile(dataDir)?.socket ?? '', { headers: {}, timeout: 20_000 })
  assert.equal((await operate('/api/operator/keys/rotate', { method: 'POST' })).status, 200)
}

async function pictureOnPhone(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return
  const size = page.viewportSize()
  for (const [width, height] of [
    [1280, 800],
    [360, 740],
  ] as const) {
    await page.setViewportSize({ width, height })
    await page.screenshot({ path: path.join(pictures, `${name}-${width}.png`) })
  }
  if (size) await page.setViewportSize(size)
}

/** Opens the workspace and waits for its terminal. @returns the terminal's connection */
async function openTerminal(page: Page, url: string): Promise<Connection> {
  const socket = await connectionOf(page, () => steadily(() => page.goto(url)))
  await page.locator('.xterm-helper-textarea').focus()
  return socket
}
