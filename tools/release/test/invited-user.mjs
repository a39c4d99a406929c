/**
 * What an invited user does; runs beside an installation, by its own Node: `node - <address> <data folder> <slug> <type>`. Opens
 * the link of the last mail, launches a container and reaches it.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const [, , base = '', dataDir = '', slug = '', type = ''] = process.argv
const outbox = join(dataDir, 'outbox')
const mail = readdirSync(outbox)
  .filter((name) => name.endsWith('.eml'))
  .sort()
  .at(-1)
// RFC 2045 6.7: quoted-printable breaks lines and writes "=" as "=3D".
const text = readFileSync(join(outbox, mail ?? ''), 'utf8')
  .replace(/=\r?\n/g, '')
  .replaceAll('=3D', '=')
const [, link = ''] = /token=([\w-]+)/.exec(text) ?? []
let token = ''
await until('the link', async () => {
  const verified = await fetch(`${base}/api/auth/verify-signup?token=${link}`)
  if (verified.ok) ({ access_token: token } = /** @type {{ access_token: string }} */ (await verified.json()))
  return verified.ok
})
const headers = { authorization: `Bearer ${token}` }
const launched = await fetch(`${base}/api/container/launch/${type}`, { method: 'POST', headers })
if (!launched.ok) throw new Error(`the launch answered ${launched.status}: ${await launched.text()}`)
await until('the container', async () => (await fetch(`${base}/${slug}-${type}/`, { headers })).status === 200)

/** @param {string} what @param {() => Promise<boolean>} isSo */
async function until(what, isSo) {
  for (const end = performance.now() + 90_000; !(await isSo().catch(() => false)); await sleep(100))
    if (performance.now() > end) throw new Error(`not within 90 s: ${what}`)
}
