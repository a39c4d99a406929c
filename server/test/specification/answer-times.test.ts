import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Mailer } from '#/mail/mailer.ts'
import { ask, assertOk } from '../support/asking.ts'
import { startBerth } from '../support/berth.ts'
import { refusingRuntime } from '../support/misbehaving.ts'

/** A mail server that takes 250 to 350 ms to accept a mail. */
const unhurriedMailer: Mailer = {
  send: () => new Promise((resolve) => setTimeout(resolve, 250 + Math.random() * 100)),
  close: () => undefined,
}

const median = (times: number[]) => times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0

/** The median of how long these take when they are asked for at the same time, in ms. */
async function medianOf(asking: (() => Promise<unknown>)[]): Promise<number> {
  const times = asking.map(async (each) => {
    const begun = performance.now()
    await each()
    return performance.now() - begun
  })
  return median(await Promise.all(times))
}

test('whether an address is known cannot be told by how long login and resend-verification take', async (t) => {
  const env = { MAGIC_LINK_RATE_LIMIT: '4' }
  const berth = await startBerth(t, { wrapRuntime: refusingRuntime, mailer: unhurriedMailer, env })
  const resend = (email: string) => berth.call('POST', '/api/auth/resend-verification', { body: { email } })
  const everybody = Array.from({ length: 12 }, (_, index) => `p${index}@x.org`)
  for (const email of everybody) assertOk(await ask(berth, 'signup', email))

  const known = (asking: (email: string) => Promise<unknown>) => everybody.map((email) => () => asking(email))
  const unknown = (asking: (email: string) => Promise<unknown>) => everybody.map((email) => () => asking(`no-${email}`))
  for (const asking of [resend, (email: string) => ask(berth, 'login', email)]) {
    const [withMail, without] = [await medianOf(known(asking)), await medianOf(unknown(asking))]
    assert.ok(without > withMail / 2 && without < withMail * 2, `${withMail} ms with a mail, ${without} ms without`)
  }
  // Nor by the limit, which resend-verification keeps to itself.
  for (const email of everybody) await Promise.all([resend(email), resend(email)])
  const limited = await medianOf(known(resend))
  assert.ok(limited > 125, `${limited} ms at the limit`)
})
