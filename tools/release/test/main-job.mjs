/**
 * The main job of an installation, as a user does it; runs beside it, by its own Node:
 * `node - <address> <data folder> <mail address> <signup|login>`. Prints what each step took in ms, as JSON.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const [, , base = '', dataDir = '', email = '', first = 'signup'] = process.argv
const start = performance.now()
/** Of each step, in ms: an emulated machine needs minutes for the containers that it restores at its boot. */
const limit = 300_000
/** @type {Record<string, number>} */
const took = {}
const done = (/** @type {string} */ step) => void (took[step] = Math.round(performance.now() - start))

await until('readiness', async () => (await fetch(`${base}/readyz`)).status === 200)
done('ready')
if (first === 'signup') await enter('signup')
const token = await enter('login')
done('signed in')
const slug = email.split('@')[0]
const headers = { authorization: `Bearer ${token}` }
if (first === 'signup') {
  const launched = await fetch(`${base}/api/container/launch/dev`, { method: 'POST', headers })
  if (!launched.ok) throw new Error(`the launch answered ${launched.status}: ${await launched.text()}`)
}
await until('the container', async () => (await fetch(`${base}/${slug}-dev/`, { headers })).status === 200)
done('container')
const { status } = await fetch(`${base}/${slug}-dev/`, { redirect: 'manual' })
if (![302, 303, 401].includes(status)) throw new Error(`a stranger was answered ${status}`)
console.log(JSON.stringify({ ...took, token }))

/** @param {'signup' | 'login'} purpose @returns {Promise<string>} the token */
async function enter(purpose) {
  const before = mails()
  const body = JSON.stringify({ email })
  const asked = await fetch(`${base}/api/auth/${purpose}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  if (!asked.ok) throw new Error(`${purpose} answered ${asked.status}: ${await asked.text()}`)
  let link = ''
  await until('the mail', async () => {
    const [fresh] = mails().filter((name) => !before.includes(name))
    if (fresh !== undefined) link = linkIn(readFileSync(join(dataDir, 'outbox', fresh), 'utf8'))
    return fresh !== undefined
  })
  const verified = await fetch(`${base}/api/auth/verify-${purpose}?token=${link}`)
  if (!verified.ok) throw new Error(`verification answered ${verified.status}: ${await verified.text()}`)
  return /** @type {{ access_token: string }} */ (await verified.json()).access_token
}

function mails() {
  try {
    return readdirSync(join(dataDir, 'outbox')).filter((name) => name.endsWith('.eml'))
  } catch {
    return []
  }
}

/** RFC 2045 6.7: quoted-printable breaks lines and writes "=" as "=3D". @param {string} mail */
function linkIn(mail) {
  const [, token = ''] = /token=([\w-]+)/.exec(mail.replace(/=\r?\n/g, '').replaceAll('=3D', '=')) ?? []
  return token
}

/** @param {string} what @param {() => Promise<boolean>} isSo */
async function until(what, isSo) {
  for (const end = performance.now() + limit; !(await isSo().catch(() => false)); await sleep(50))
    if (performance.now() > end) throw new Error(`not within ${limit / 1_000} s: ${what}`)
}
