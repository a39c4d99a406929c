// Part of npm run test:more: a browser; specification/administration has the rules that the pages show.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import type { Page } from 'playwright-core'
import { assertOk, tokenBy } from '#test/support/api-calls.ts'
import { startBerth, testTemplates, type Berth } from '#test/support/berth.ts'
import { arrival, openTab } from '#test/support/browser.ts'
import { inGerman, t as said } from '#test/support/front-end-text.ts'
import { waitLimit } from '#test/support/extent.ts'
import { containerAddress } from '#test/support/routing.ts'

/** A day of an administrator, and what the person whom it is about sees of it, each in a browser of their own. */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const [ada, bob, cat] = ['ada@example.org', 'bob@example.org', 'cat@example.org'] as const

test('an administrator invites, sees, blocks and unblocks one and many, acts for a user, and finds all of it in the log', async (t) => {
  // Ends at once on SIGTERM, so that a block need not wait for it.
  const app = 'trap "exit 0" TERM; httpd -p 8080 -h /home/berth; while :; do sleep 0.1; done'
  const templates = await testTemplates({ command: ['/bin/sh', '-c', app] })
  const berth = await startBerth(t, { webDir, env: { CONTAINER_TEMPLATES: templates, MAGIC_LINK_RATE_LIMIT: '20' } })
  const adas = await berth.signUp(ada)
  const { page, problems } = await openTab(t)
  const bobs = await (await page.context().browser()!.newContext()).newPage()
  for (const each of [page, bobs]) each.setDefaultTimeout(waitLimit(40_000))
  const at = (place: string) => `${berth.app.spawnerUrl}${place}`
  // Messages in the corner have the same role.
  const dialog = page.locator('dialog[open]')
  const pressIn = (name: string) => dialog.getByRole('button', { name, exact: true }).click()
  const row = (email: string) => page.getByRole('row').filter({ hasText: email })
  const blocked = (email: string) => row(email).getByText(said('admin.users.badges.blocked'), { exact: true })
  const search = page.getByLabel(said('admin.users.search'))
  const bobsCard = bobs.getByRole('article', { name: 'Development' })

  async function choose(email: string, action: string): Promise<void> {
    await page.getByRole('button', { name: said('admin.table.actionsOf', { name: email }) }).click()
    await page.getByRole('menuitem', { name: action, exact: true }).click()
    await dialog.waitFor()
  }

  /** Presses what leads back in the message that says this. */
  async function goBack(message: string, word: 'undo' | 'blockAgain'): Promise<void> {
    const told = page.getByRole('dialog').or(page.getByRole('alertdialog')).filter({ hasText: message })
    await told.getByRole('button', { name: said(`admin.table.${word}`) }).click()
  }

  await t.test('she signs in and invites two people', async () => {
    await page.goto(at(`/verify-login?token=${await tokenBy(berth, 'login', ada)}`))
    await page.getByRole('button', { name: said('signIn.verify.loginButton') }).click()
    await page.getByRole('heading', { name: said('dashboard.title') }).waitFor()
    await page.goto(at('/admin/users'))
    await page.getByRole('button', { name: said('admin.users.invite.open') }).click()
    const rows = `name;email;class\nBob;${bob};7b\nDora Doe;;7b\n"Cat, C.";${cat};7b\n`
    const file = { name: 'class.csv', mimeType: 'text/csv', buffer: Buffer.from(rows) }
    await dialog.getByLabel(said('admin.users.invite.file')).setInputFiles(file)
    await dialog.getByRole('listitem').filter({ hasText: 'Dora Doe;;7b' }).waitFor()
    await pressIn(said('admin.users.invite.confirm', { count: 2 }))
    await dialog.getByText(said('admin.users.invite.done', { count: 2 })).waitFor()
    await pressIn(said('frame.close'))
    await row(cat).waitFor()
  })

  await t.test('one of them follows the link of his mail and launches a container, which opens', async () => {
    await bobs.goto(/http\S+/.exec(berth.mail.newestTo(bob).text ?? '')?.[0] ?? '')
    await bobs.getByRole('button', { name: said('signIn.verify.signupButton') }).click()
    await bobs.getByRole('button', { name: `${said('dashboard.action.launch')} Production` }).click()
    await arrival(bobs, containerAddress(berth.app, 'bob-prod'))
    await bobs.goto(berth.app.frontendUrl)
    await bobsCard.getByText(said('dashboard.status.running'), { exact: true }).waitFor()
  })

  await t.test('on the overview she sees the containers that run', async () => {
    await page.getByRole('link', { name: said('admin.shell.overview') }).click()
    const running = page.locator('dl div').filter({ hasText: said('admin.overview.figure.runningAll') })
    await running.getByText('3', { exact: true }).waitFor()
  })

  await t.test('she finds him, reads what a block would do, blocks him, and his open page says so', async () => {
    await page.getByRole('link', { name: said('admin.shell.users'), exact: true }).click()
    await search.fill('bob')
    await row(cat).waitFor({ state: 'detached' })
    await choose(bob, said('admin.users.actions.block'))
    await dialog.getByText(said('admin.users.block.running', { count: 2 })).waitFor()
    await pressIn(said('admin.users.block.confirm'))
    await blocked(bob).waitFor()
    await bobsCard.getByText(said('dashboard.status.blocked'), { exact: true }).waitFor()
  })

  await t.test('she takes it back', async () => {
    await goBack(said('admin.users.notice.blocked', { email: bob }), 'undo')
    await blocked(bob).waitFor({ state: 'detached' })
  })

  await t.test('in the sheet about him she changes how much his files may have beyond the limits', async () => {
    const readBob = async () => (await adas.call('GET', `/api/admin/users?q=${encodeURIComponent(bob)}`)).body.users[0]
    const { id } = await readBob()
    assertOk(await adas.call('POST', `/api/admin/users/${id}/extra-disk`, { body: { bytes: 2 ** 30 } }))
    await page.reload()
    await choose(bob, said('admin.users.actions.details'))
    await dialog.getByRole('button', { name: said('admin.users.details.changeExtraDisk') }).click()
    const field = dialog.getByLabel(said('admin.users.extraDisk.field'))
    assert.equal(await field.inputValue(), '1')
    await field.fill('2.5')
    await pressIn(said('admin.users.extraDisk.confirm'))
    await dialog.waitFor({ state: 'detached' })
    assert.equal((await readBob()).extra_disk_bytes, 2.5 * 2 ** 30)
  })

  await t.test('by keys, a menu opens at its first entry, goes round, and leads back to its row', async () => {
    // By its attribute: a role is none any more as soon as the menu is hidden, and it is there until the page has heard of that.
    const menu = page.locator('[role="menu"]')
    const hasFocus = async (entry: string) =>
      page
        .locator('[role="menuitem"]:focus')
        .and(page.getByRole('menuitem', { name: entry, exact: true }))
        .waitFor()
    // Only the window in front has a focus in Firefox.
    await page.bringToFront()
    await row(bob).focus()
    await page.keyboard.press('Enter')
    await hasFocus(said('admin.users.actions.details'))
    await page.keyboard.press('ArrowUp')
    await hasFocus(said('admin.users.actions.delete'))
    await page.keyboard.press(said('admin.users.actions.block').charAt(0))
    await hasFocus(said('admin.users.actions.block'))
    await page.keyboard.press('Escape')
    await menu.waitFor({ state: 'detached' })
    await page.locator('tr:focus').and(row(bob)).waitFor()
    await page.keyboard.press('Enter')
    await hasFocus(said('admin.users.actions.details'))
    await page.keyboard.press('Tab')
    await menu.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: said('admin.table.actionsOf', { name: bob }) }).click()
    await search.click()
    await menu.waitFor({ state: 'detached' })
    await page.locator('input[type="search"]:focus').waitFor()
  })

  await t.test('what she asked for is shown when it is done, although she closed the dialog before', async () => {
    const isAllowed = Promise.withResolvers<void>()
    await page.route('**/api/admin/users/*/block', (route) => isAllowed.promise.then(() => route.continue()))
    await choose(bob, said('admin.users.actions.block'))
    await pressIn(said('admin.users.block.confirm'))
    await dialog.getByText(said('admin.users.block.busy')).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    isAllowed.resolve()
    await blocked(bob).waitFor()
    await page.unroute('**/api/admin/users/*/block')
  })

  await t.test('she unblocks him, which cannot be undone, but he can be blocked again', async () => {
    await choose(bob, said('admin.users.actions.unblock'))
    await pressIn(said('admin.users.unblock.confirm'))
    await blocked(bob).waitFor({ state: 'detached' })
    await goBack(said('admin.users.notice.unblocked', { email: bob }), 'blockAgain')
    await blocked(bob).waitFor()
    await choose(bob, said('admin.users.actions.unblock'))
    await pressIn(said('admin.users.unblock.confirm'))
    await blocked(bob).waitFor({ state: 'detached' })
  })

  await t.test(
    'she selects all that match, more than one page, blocks them but herself, and takes that back',
    async () => {
      for (const part of ['a', 'b']) {
        const emails = Array.from({ length: 60 }, (_, at) => `${part}${at}@example.org`)
        assertOk(await berth.operate('POST', '/api/admin/invitations', { body: { emails, send: false } }))
      }
      await search.fill('')
      await row(cat).waitFor()
      await page.getByRole('button', { name: said('admin.table.refresh') }).click()
      // Who was there before is shown until then, and what is selected of it is no page.
      await page.getByText(said('admin.table.count', { loaded: 100, total: 123 })).waitFor()
      await page.getByRole('checkbox', { name: said('admin.table.selectLoaded') }).check()
      await page.getByRole('button', { name: said('admin.table.selectAll', { count: 123 }) }).click()
      const selection = page.getByRole('region', { name: said('admin.table.selection') })
      await selection.getByText(said('admin.users.bulk.selected', { count: 123 })).waitFor()
      await selection.getByRole('button', { name: said('admin.table.block'), exact: true }).click()
      await pressIn(said('admin.table.block'))
      await page.getByText(said('admin.users.bulk.blocked', { count: 122 })).waitFor()
      assert.deepEqual(await blockedOf(berth), { blocked: 122, others: [ada] })
      await goBack(said('admin.users.bulk.blocked', { count: 122 }), 'undo')
      await page.getByText(said('admin.users.bulk.unblocked', { count: 122 })).waitFor()
      assert.equal((await blockedOf(berth)).blocked, 0)
    },
  )

  await t.test('by keys she goes to the end of the list and back, and rows follow one after the other', async () => {
    await page.bringToFront()
    await page.locator('tr[data-index="0"]').focus()
    await page.keyboard.press('End')
    await page.getByText(said('admin.table.count', { loaded: 123, total: 123 })).waitFor()
    await page.keyboard.press('End')
    await focusIsInViewOn(page, 122)
    assert.deepEqual(await gaps(page), [])
    await page.keyboard.press('Home')
    await focusIsInViewOn(page, 0)
    assert.deepEqual(await gaps(page), [])
  })

  await t.test(
    'she acts for him: a banner says so on every page, and his open page says who, why and until when',
    async () => {
      // The block has ended his session: its token opens no events, also after the unblock.
      await bobs.goto(at(`/verify-login?token=${await tokenBy(berth, 'login', bob)}`))
      await bobs.getByRole('button', { name: said('signIn.verify.loginButton') }).click()
      await bobsCard.waitFor()
      await search.fill('bob')
      // A menu that is opened before the rows have changed goes away with them.
      await page.getByText(said('admin.users.found', { count: 1 })).waitFor()
      await choose(bob, said('admin.users.actions.takeOver'))
      await dialog.getByLabel(said('admin.users.takeOver.reason')).fill('His editor hangs')
      await pressIn(said('admin.users.takeOver.confirm'))
      const banner = page.getByRole('region', { name: said('takeover.label') })
      await banner.getByText(bob).waitFor()
      await page.getByRole('button', { name: `${said('dashboard.action.launch')} Production` }).waitFor()
      await bobs.getByRole('status').getByText('His editor hangs').waitFor()
      await page.goto(at('/sessions'))
      await banner.getByText(bob).waitFor()
      await banner.getByRole('button', { name: said('takeover.end'), exact: true }).click()
      await page.waitForURL('**/admin/users')
      await page
        .getByRole('button', { name: new RegExp(ada) })
        .first()
        .waitFor()
      assert.equal(await banner.count(), 0)
    },
  )

  await t.test('he sees afterwards who acted for him, when and why', async () => {
    await bobs.goto(at('/sessions'))
    const acted = bobs.getByRole('listitem').filter({ hasText: said('sessions.acted', { by: ada }) })
    await acted.getByText(said('sessions.reason', { reason: 'His editor hangs' })).waitFor()
    assert.equal(await acted.locator('time').count(), 2)
  })

  await t.test('the log has all that was done to him, and its file has what the page shows', async () => {
    await page.getByRole('link', { name: said('admin.shell.audit') }).click()
    const log = page.getByRole('region', { name: said('admin.audit.list.label') })
    await page.getByLabel(said('admin.audit.filter.target')).fill(bob)
    await page.getByRole('button', { name: said('admin.audit.filter.show'), exact: true }).click()
    await page.waitForURL(/target/)
    const b = (words: string) => words
    for (const sentence of [
      said.markup('admin.audit.sentence.user.invite', { actor: ada, person: bob, b }),
      said.markup('admin.audit.sentence.user.block', { actor: ada, person: bob, containers: 2, b }),
      said.markup('admin.audit.sentence.user.unblock', { actor: ada, person: bob, containers: 2, b }),
      said.markup('admin.audit.sentence.user.takeover', { actor: ada, person: bob, b }),
    ])
      await log.getByRole('listitem').filter({ hasText: sentence }).first().waitFor()
    const rows = await exported(page)
    const count = (action: string) => rows.filter((each) => each.action === action).length
    assert.deepEqual(['user.invite', 'user.block', 'user.unblock', 'user.takeover'].map(count), [1, 4, 4, 1])
  })

  await t.test('she reads it in German, also after a reload, and in English again', async () => {
    await page.getByRole('button', { name: said('frame.language.de') }).click()
    await page.getByRole('heading', { level: 1, name: inGerman('admin.shell.audit') }).waitFor()
    await page.reload()
    await page.getByRole('heading', { level: 1, name: inGerman('admin.shell.audit') }).waitFor()
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'de')
    await page.getByRole('button', { name: said('frame.language.en') }).click()
    await page.getByRole('heading', { level: 1, name: said('admin.shell.audit') }).waitFor()
  })

  assert.deepEqual(problems, [])
})

/** How many users are blocked, and who is not. */
async function blockedOf(berth: Berth): Promise<{ blocked: number; others: string[] }> {
  const answer = await berth.operate('GET', '/api/admin/users?limit=200')
  assertOk(answer)
  const users = answer.body.users as { email: string; is_blocked: boolean }[]
  const others = users.filter(({ is_blocked }) => !is_blocked).map(({ email }) => email)
  return { blocked: users.length - others.length, others }
}

/** The rows of the file that the page of the log saves. */
async function exported(page: Page): Promise<Record<string, string>[]> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: said('admin.audit.export.start') }).click(),
  ])
  assert.match(download.suggestedFilename(), /\.csv$/)
  return parse(await readFile(await download.path(), 'utf8'), { columns: true, bom: true })
}

/** Waits until a row of the table has the focus, all of it in the window. */
async function focusIsInViewOn(page: Page, index: number): Promise<void> {
  await page.waitForFunction((wanted) => {
    const row = document.querySelector(`tr[data-index="${wanted}"]:focus`)?.getBoundingClientRect()
    return row && row.top >= 0 && row.bottom <= innerHeight
  }, index)
}

/** Rows in view that do not begin where the one before them ends. Only those in view are in the document. */
function gaps(page: Page): Promise<string[]> {
  return page.locator('tr[data-index]').evaluateAll((rows) =>
    rows.flatMap((row, at) => {
      const before = rows[at - 1]
      const isNext = before && Number(row.getAttribute('data-index')) === Number(before.getAttribute('data-index')) + 1
      const gap = isNext ? row.getBoundingClientRect().top - before.getBoundingClientRect().bottom : 0
      return Math.abs(gap) > 1 ? [`${row.textContent} is ${gap} px away`] : []
    }),
  )
}
