import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Session } from '#/accounts/sessions/session-authenticator.ts'
import { readerSession } from './reader-session.ts'

const at = (ms: number) => ({ now: new Date(ms) }) as FastifyRequest
const claims = {
  userId: 1,
  jti: 'e.1',
  sid: 's1',
  isRenewable: true,
  issuedAt: new Date(0),
  expiresAt: new Date(1_000),
  acting: null,
}
const sessionWith = (more: Partial<typeof claims> | { acting: string }, via: Session['via'] = 'cookie') =>
  ({ claims: { ...claims, ...more }, via, token: '', user: undefined }) as Session

function scene(isRenewed = true) {
  const uses: [string, number][] = []
  const { renewal, apiTokens } = readerSession({ noteUse: (...use) => void uses.push(use) }, { isRenewed })
  return { keep: (session: Session, ms: number) => renewal.keep(session, at(ms), {} as FastifyReply), apiTokens, uses }
}

test('a reader notes the use of a session whose token lasts', async () => {
  const { keep, uses } = scene()
  await keep(sessionWith({}), 400)
  assert.deepEqual(uses, [['s1', 400]])
})

test('what has to be written because of a session is the leader to answer', async () => {
  const { keep, apiTokens, uses } = scene()
  await assert.rejects(keep(sessionWith({}), 501), /a token is renewed/)
  await assert.rejects(keep(sessionWith({ acting: '7' }), 1), /a takeover/)
  await assert.rejects(apiTokens.authenticate('t', '', new Date()), /an API token/)
  assert.deepEqual(uses, [])
})

test('a token that is not renewed is answered to its end: in a header, of no session, or where sessions end with it', async () => {
  const { keep, uses } = scene()
  await keep(sessionWith({}, 'header'), 900)
  await keep(sessionWith({ isRenewable: false }), 900)
  await scene(false).keep(sessionWith({}), 900)
  assert.equal(uses.length, 2)
})
