import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { pino } from 'pino'
import { createOutbox } from '#/accounts/mail/outbox-mailer.ts'
import { noteWritten, openDatabase } from '#/store/database.ts'
import { StoreFailure } from '#/store/store-failure.ts'
import { ask, assertOk, assertRefused, verify } from '../support/api-calls.ts'
import { startBerth, type Berth } from '../support/berth.ts'
import { noCreateRuntime } from '../support/engine/faulty-runtimes.ts'
import { smallDisk } from '../support/engine/small-disk.ts'
import { waitFor } from '../support/program.ts'

/** How long a slow machine may take until things are well again, in ms. */
const timeout = 60_000

/** Tokens in the links that the outbox prints, in the order of the mails. */
async function startOn(t: TestContext, dataDir: string): Promise<{ berth: Berth; links: string[] }> {
  const links: string[] = []
  const write = (line: string) => {
    const { link } = JSON.parse(line) as { link: string }
    links.push(new URL(link).searchParams.get('token') ?? '')
  }
  const mailer = createOutbox(path.join(dataDir, 'outbox'), 'berth@x.org', pino({}, { write }))
  return { berth: await startBerth(t, { dataDir, mailer, wrapRuntime: noCreateRuntime }), links }
}

/** By another program, in the file itself. */
function look(dataDir: string): { emails: unknown[]; links: unknown; integrity: unknown } {
  const database = new DatabaseSync(path.join(dataDir, 'berth.sqlite'), { timeout: 5_000 })
  try {
    return {
      emails: database
        .prepare('select email from users order by id')
        .all()
        .map(({ email }) => email),
      links: database.prepare('select count(*) as links from magic_links').get()?.['links'],
      integrity: database.prepare('pragma integrity_check').get()?.['integrity_check'],
    }
  } finally {
    database.close()
  }
}

test('on a full disk nothing is promised and nothing is lost, and with room again everything works without a restart', async (t) => {
  const disk = await smallDisk('24m')
  if (!disk) return t.skip('this process may not mount a file system')
  const { berth, links } = await startOn(t, disk.folder)
  t.after(async () => {
    await berth.close()
    await disk.remove()
  })
  assertOk(await ask(berth, 'signup', 'admin@x.org'))
  const admin = await verify(berth, 'signup', links[0] ?? '')
  const token = admin.body.access_token as string
  disk.fill()

  const promised = ['admin@x.org']
  const refused: string[] = []
  const signUp = async (email: string) => {
    const reply = await ask(berth, 'signup', email)
    if (reply.status === 200) return void promised.push(email)
    assertRefused(reply, 500)
    refused.push(email)
  }
  // Some still fit into what the files had taken before.
  for (let index = 0; refused.length < 5; index++) await signUp(`u${index}@x.org`)
  for (const email of refused.slice(0, 2)) assertRefused(await ask(berth, 'signup', email), 500)
  assertOk(await berth.call('GET', '/api/user/me', { token }))
  assertOk(await berth.call('GET', '/api/user/containers', { token }))
  await waitFor(
    '/readyz to miss the store',
    async () => (await berth.call('GET', '/readyz')).body.parts.store !== 'ok',
    timeout,
  )

  disk.empty()
  await waitFor('/readyz to be well', async () => (await berth.call('GET', '/readyz')).status === 200, timeout)
  // What could not be taken back while the disk was full is taken back now.
  await waitFor(
    'what was owed to be taken back',
    async () => look(disk.folder).emails.length === promised.length,
    timeout,
  )
  const { emails, integrity, links: live } = look(disk.folder)
  assert.deepEqual([emails, integrity, live], [promised, 'ok', links.length])
  assert.equal(links.length, promised.length)
  assert.equal(readdirSync(path.join(disk.folder, 'outbox')).length, links.length, 'no half a mail is left')
  // None of the failures has counted.
  for (const email of [...refused.slice(0, 1), ...refused]) assertOk(await ask(berth, 'signup', email))
  assertOk(await verify(berth, 'signup', links.at(-1) ?? ''))
})

test('the write-ahead log is folded in again after a full disk', async (t) => {
  const disk = await smallDisk('24m')
  if (!disk) return t.skip('this process may not mount a file system')
  const database = await openDatabase(null, disk.folder)
  t.after(async () => {
    await database.close()
    await disk.remove()
  })
  const log = path.join(disk.folder, 'berth.sqlite-wal')
  disk.fill()
  const fill = async () => {
    for (;;) await noteWritten(database.db, new Date())
  }
  await assert.rejects(fill, (error) => error instanceof StoreFailure && error.isFull)
  disk.empty()
  for (let index = 0; index < 5_000; index++) await noteWritten(database.db, new Date())
  // A thousand pages of 4 KiB is what it grows to between two foldings; without any it were 20 MiB.
  assert.ok(statSync(log).size < 8 * 1_048_576, `${statSync(log).size} bytes`)
  assert.equal(look(disk.folder).integrity, 'ok')
})
