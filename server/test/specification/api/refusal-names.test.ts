import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { refusalHeader } from '@berth/api/schemas/error.ts'
import { ask, assertRefused, tokenBy, verify } from '../../support/api-calls.ts'
import { startBerth, type Reply } from '../../support/berth.ts'
import { withTime } from '../../support/clock.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const nameOf = ({ headers }: Reply) => headers.get(refusalHeader)
const german = { 'accept-language': 'de' }

test('a refusal says its name, whatever the language of its sentence', async () => {
  const english = await berth.call('GET', '/api/user/me')
  const translated = await berth.call('GET', '/api/user/me', { headers: german })
  assert.notEqual(english.body.error, translated.body.error)
  assert.deepEqual([nameOf(english), nameOf(translated)], ['noToken', 'noToken'])
  assert.equal(nameOf(await berth.call('GET', '/healthz')), null)
})

test('links that cannot be used are distinguished by the name alone: the sentence is one for all', async () => {
  await berth.signUpWithoutContainer('ann@x.org')
  const [used, other] = [await tokenBy(berth, 'login', 'ann@x.org'), await tokenBy(berth, 'login', 'ann@x.org')]
  await verify(berth, 'login', used)
  const late = await tokenBy(berth, 'signup', 'late@x.org')
  const replies = [
    await verify(berth, 'login', used),
    await verify(berth, 'signup', other),
    await verify(berth, 'login', 'A'.repeat(43)),
  ]
  await withTime(async (pass) => {
    pass(901_000)
    replies.push(await verify(berth, 'signup', late))
  })
  for (const reply of replies) assertRefused(reply, 400)
  assert.deepEqual(replies.map(nameOf), ['usedToken', 'otherToken', 'badToken', 'expiredToken'])
  assert.equal(new Set(replies.map(({ text }) => text)).size, 1)
})

test('an account that was never verified is distinguished from a blocked one', async () => {
  const { id } = await berth.signUpWithoutContainer('bad@x.org')
  await ask(berth, 'signup', 'new@x.org')
  const [blocked, unverified] = [await tokenBy(berth, 'login', 'bad@x.org'), await tokenBy(berth, 'login', 'new@x.org')]
  await berth.database.db.updateTable('users').set({ is_blocked: 1 }).where('id', '=', id).execute()
  const names = [await verify(berth, 'login', blocked), await verify(berth, 'login', unverified)].map(nameOf)
  assert.deepEqual(names, ['userBlocked', 'notVerified'])
})
