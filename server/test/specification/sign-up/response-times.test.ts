import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Mailer } from '#/accounts/mail/mailer.ts'
import { ask, assertOk } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

/** ms that a mail takes at least. */
const quickest = 300
const slack = 5
/** A mail server that takes 300 to 400 ms to accept a mail. */
const unhurriedMailer: Mailer = {
  send: () => new Promise((resolve) => setTimeout(resolve, quickest + Math.random() * 100)),
  close: () => undefined,
}

const median = (times: number[]) => times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0

/** The median of how long each takes, in ms, when all are asked for in the same moment: what slows one slows the others. */
async function mediansOf(...kinds: (() => Promise<unknown>)[][]): Promise<number[]> {
  const time = async (each: () => Promise<unknown>) => {
    const begun = performance.now()
    await each()
    return performance.now() - begun
  }
  const times = await Promise.all(kinds.map((asking) => Promise.all(asking.map(time))))
  return times.map(median)
}

/** A slow machine makes both later, and neither earlier; timers may come a moment early. */
function assertAlike(withMail: number, without: number): void {
  const isAlike = without >= quickest - slack && without < withMail * 3
  assert.ok(isAlike, `${withMail} ms with a mail, ${without} ms without`)
}

test('whether an address is known cannot be seen from how long login and resend-verification take', async (t) => {
  const env = { MAGIC_LINK_RATE_LIMIT: '4' }
  const berth = await startBerth(t, { wrapRuntime: noCreateRuntime, mailer: unhurriedMailer, env })
  const resend = (email: string) => berth.call('POST', '/api/auth/resend-verification', { body: { email } })
  const logIn = (email: string) => ask(berth, 'login', email)
  const addresses = Array.from({ length: 7 }, (_, index) => `p${index}@x.org`)
  for (const email of addresses) assertOk(await ask(berth, 'signup', email))

  for (const asking of [resend, logIn]) {
    const known = addresses.map((email) => () => asking(email))
    const unknown = addresses.map((email) => () => asking(`no-${email}`))
    const [withMail = 0, without = 0] = await mediansOf(known, unknown)
    assertAlike(withMail, without)
  }
  // Nor by the limit, which resend-verification keeps to itself: it is reached now.
  await Promise.all(addresses.map(resend))
  const [limited = 0] = await mediansOf(addresses.map((email) => () => resend(email)))
  assert.ok(limited >= quickest - slack, `${limited} ms at the limit`)
})

test('an address that may not sign up is answered as late as one that may', async (t) => {
  const env = { ALLOWED_EMAIL_DOMAINS: 'x.org' }
  const berth = await startBerth(t, { wrapRuntime: noCreateRuntime, mailer: unhurriedMailer, env })
  // The very first takes longest, and must not be the only one that answers are padded like.
  for (const name of ['first', 'second', 'third', 'fourth', 'fifth'])
    assertOk(await ask(berth, 'signup', `${name}@x.org`))
  const people = Array.from({ length: 7 }, (_, index) => `p${index}`)
  const [withMail = 0, without = 0] = await mediansOf(
    people.map((name) => () => ask(berth, 'signup', `${name}@x.org`)),
    people.map((name) => () => ask(berth, 'signup', `${name}@y.org`)),
  )
  assertAlike(withMail, without)
})
