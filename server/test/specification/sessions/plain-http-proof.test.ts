import { after, test } from 'node:test'
import { assertOk, assertRefused } from '../../support/api-calls.ts'
import { startEnginelessBerth, tokenIn } from '../../support/berth-without-engine.ts'

/**
 * On plain http away from localhost a page that only reads sends neither `Origin` nor `Sec-Fetch-Site`, and Firefox lets it
 * send any `User-Agent`: a page of an administrator's own container looked like a program, and read what administrators read.
 */
async function start(scheme: 'http' | 'https') {
  const env = { BASE_DOMAIN: 'berth.example', PREFERRED_URL_SCHEME: scheme }
  const berth = await startEnginelessBerth({ after }, { env })
  assertOk(await berth.call('POST', '/api/auth/signup', { body: { email: 'boss@x.org' } }))
  const [mail] = berth.mails
  const { body, headers: given } = await berth.call(
    'GET',
    `/api/auth/verify-signup?token=${tokenIn(mail ?? { text: '' })}`,
  )
  const companion = given.getSetCookie().find((line) => line.startsWith('__Host-Http-spawner_bind='))
  const token: string = body.access_token
  const read = (host: string, headers: Record<string, string>) =>
    berth.call('GET', '/api/admin/users', { headers: { host, 'user-agent': 'curl/8', ...headers } })
  const cookie = `spawner_token=${token}`
  return { token, cookie: { cookie }, ofBrowser: { cookie: `${cookie}; ${companion?.split(';')[0]}` }, read }
}
const [plain, safe] = [await start('http'), await start('https')]

test('a cookie without a proof reads nothing of administration where browsers cannot be distinguished from programs', async () => {
  assertRefused(await plain.read('spawner.berth.example', plain.cookie), 403)
  assertRefused(await plain.read('192.0.2.7:8080', plain.cookie), 403)
  assertOk(await plain.read('spawner.berth.example', { authorization: `Bearer ${plain.token}` }))
})

test('where browsers say who they are, a program with a cookie needs no proof', async () => {
  assertOk(await safe.read('spawner.berth.example', safe.cookie))
  for (const host of ['localhost:8080', 'spawner.berth.localhost', '127.0.0.1:8080', '[::1]:8080'])
    assertOk(await plain.read(host, plain.cookie))
  assertRefused(await safe.read('spawner.berth.example', { ...safe.ofBrowser, 'sec-fetch-site': 'same-origin' }), 403)
})
