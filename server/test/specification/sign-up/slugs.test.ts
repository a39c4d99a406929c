import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { endpoints } from '@berth/api/endpoints.ts'
import { pages } from '@berth/web/paths.ts'
import { assertOk, ask } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })

async function slugOf(email: string): Promise<string> {
  assertOk(await ask(berth, 'signup', email))
  const users = berth.database.db.selectFrom('users').select('slug')
  return (await users.where('email', '=', email.toLowerCase()).executeTakeFirstOrThrow()).slug
}

test('the slug is derived from the e-mail: letters and digits of what precedes the @', async () => {
  assert.equal(await slugOf('ann@x.org'), 'ann')
  assert.equal(await slugOf('First.Last-99@x.org'), 'firstlast99')
  assert.equal(await slugOf('42@x.org'), '42')
})

test('a slug has no hyphen, so that the first hyphen of a path ends it', async () => {
  assert.equal(await slugOf('bob-dev@x.org'), 'bobdev')
})

test('a slug has at most 24 characters, and is "user" where nothing is left of the address', async () => {
  assert.equal(await slugOf(`${'x'.repeat(60)}@x.org`), 'x'.repeat(24))
  assert.equal(await slugOf('+@x.org'), 'user')
})

test('if the derived slug exists, exactly 4 random characters are appended', async () => {
  assert.equal(await slugOf('eve@x.org'), 'eve')
  const [second, third] = [await slugOf('eve@y.org'), await slugOf('e.v.e@x.org')]
  for (const slug of [second, third]) assert.match(slug, /^eve[a-z0-9]{4}$/)
  assert.notEqual(second, third)
})

test('the 4 characters come on top of a slug of full length, too', async () => {
  assert.equal(await slugOf(`${'y'.repeat(24)}@x.org`), 'y'.repeat(24))
  assert.match(await slugOf(`${'y'.repeat(25)}@x.org`), /^y{24}[a-z0-9]{4}$/)
})

test('slugs are unique, however many people of one name sign up at once', async () => {
  const emails = Array.from({ length: 12 }, (_, index) => `same@host${index}.org`)
  const slugs = await Promise.all(emails.map(slugOf))
  assert.equal(new Set(slugs).size, slugs.length)
})

test('no user gets a slug that is the beginning of a path of Berth', async () => {
  const paths = [...Object.values(endpoints).map(({ path }) => path), ...Object.values(pages), '/assets', '/metrics']
  const words = new Set(paths.map((path) => /^\/([a-z0-9]+)/.exec(path)?.[1]).filter((word) => word !== undefined))
  assert.ok(words.has('api') && words.has('verify'))
  for (const word of words) assert.match(await slugOf(`${word}@x.org`), new RegExp(`^${word}[a-z0-9]{4}$`))
})

test('the slug of a deleted user is never given again', async () => {
  assert.equal(await slugOf('former@x.org'), 'former')
  await berth.database.db.deleteFrom('users').where('email', '=', 'former@x.org').execute()
  assert.match(await slugOf('former@y.org'), /^former[a-z0-9]{4}$/)
})
