import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuseSecrets, tokensIn } from '../support/no-secrets.ts'

/** Every Berth that a test starts is held to this when it ends; here is what it would find. */

const link = 'q0v1Kq5m2uVb5l0mZr3yT8cX7wHn4sJd9fGa6eBo1kQ'
const line = (what: object) => `${JSON.stringify({ level: 30, time: 1, ...what })}\n`

test('a log with a token, a link, a cookie, a secret header or a CSRF token in it is refused', () => {
  const bad = [
    { msg: 'GET /', token: `eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlc2ln` },
    { msg: `opened http://berth.test/verify-login?token=${link}` },
    { msg: `opened http://berth.test/verify-login%3Ftoken%3D${link}` },
    { msg: `used berth_${link}` },
    { err: { message: `no link with ${link}` } },
    { headers: { cookie: 'a=b' } },
    { headers: { authorization: 'Bearer x' } },
    { msg: 'sent spawner_token=abc' },
    { msg: 'mail for ann@x.org', text: `http://berth.test/?token=${link}` },
  ]
  for (const each of bad) assert.throws(() => refuseSecrets(line(each)), /was logged/, JSON.stringify(each))
  const [token = ''] = tokensIn([`http://berth.test/verify-signup?token=${link}`])
  assert.throws(() => refuseSecrets(line({ msg: `begins with ${link}0` }), [token]), /a token was logged/)
})

test('names, ids, addresses and the one line that carries a link without a mail server are not', () => {
  refuseSecrets(
    line({
      msg: 'reconciled',
      container: 'a'.repeat(64),
      reqId: 'req-1j2',
      user: 'ann@x.org',
      at: '2026-01-02T03:04:05.678Z',
    }) +
      line({
        file: '/data/outbox/1.eml',
        link: `http://berth.test/verify-login?token=${link}`,
        msg: 'mail for ann@x.org',
      }),
  )
})
