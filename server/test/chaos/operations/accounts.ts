import { setTimeout as sleep } from 'node:timers/promises'
import { hashOf } from '../ledger.ts'
import type { ArrivedLink } from '../faults/scripted-mail-server.ts'
import type { Person } from '../world/people.ts'
import type { World } from '../world/world.ts'
import { idKey } from './containers.ts'

/** How long the link of a verification that was resent may take to arrive, in ms. */
const resentTimeout = 5_000

/** What people do about their accounts. Each leaves the ledger as far as the answer told. */

/** Makes sure that they hold a token that is good, as far as they know; false when they cannot get one now. */
export async function ensureSignedIn(world: World, person: Person): Promise<boolean> {
  if (person.token !== undefined) return true
  if (person.standing === 'verified') return signIn(world, person, 'login')
  return (
    (await signIn(world, person, 'signup')) ||
    (await signIn(world, person, 'login')) ||
    // The account of a sign-up that was killed before its mail: login links of it are refused until it is verified.
    resendVerification(world, person)
  )
}

async function resendVerification(world: World, person: Person): Promise<boolean> {
  const { email } = person
  const before = world.mail.linksTo(email).length
  const { status } = await world.call('POST', '/api/auth/resend-verification', { body: { email } })
  if (status !== 200) return false
  const arrived = () => world.mail.linksTo(email).slice(before)
  for (const end = performance.now() + resentTimeout; arrived().length === 0 && performance.now() < end;)
    await sleep(100)
  for (const { token } of arrived()) world.ledger.secrets.add(token)
  const link = arrived().at(-1)
  if (link === undefined) return false
  world.ledger.granted.set(email, (world.ledger.granted.get(email) ?? 0) + 1)
  return verify(world, person, link)
}

/** Asks for a link and uses it. */
export async function signIn(world: World, person: Person, purpose: 'signup' | 'login'): Promise<boolean> {
  const link = await requestLink(world, person, purpose)
  return link !== undefined && verify(world, person, link)
}

/**
 * Asks for a link.
 * @returns the one that arrived for this request; undefined when none did. One whose request failed is recorded as void.
 */
export async function requestLink(
  world: World,
  person: Person,
  purpose: 'signup' | 'login',
): Promise<ArrivedLink | undefined> {
  const { email } = person
  const before = world.mail.linksTo(email).length
  const isNew = person.standing === 'unknown'
  if (isNew) world.ledger.unsure(`account ${email}`)
  const ended = world.ledger.linkRequest(email)
  const answer = await world.call('POST', `/api/auth/${purpose}`, { body: { email } })
  const wasAlone = ended()
  const arrived = world.mail.linksTo(email).slice(before)
  for (const { token } of arrived) world.ledger.secrets.add(token)
  if (answer.status === 500 && wasAlone) await tryWithdrawn(world, person, arrived)
  if (answer.status !== 200) return undefined
  world.ledger.granted.set(email, (world.ledger.granted.get(email) ?? 0) + 1)
  if (isNew && purpose === 'signup') {
    person.standing = 'registered'
    promiseAccount(world, email)
  }
  return arrived.at(-1)
}

/** The mail server took the message and never said so: the person was told that no mail is coming, and this is void. */
async function tryWithdrawn(world: World, person: Person, arrived: readonly ArrivedLink[]): Promise<void> {
  for (const link of arrived) {
    world.ledger.withdrawn.add(link.token)
    await verify(world, person, link)
  }
}

/** Exchanges a link for a token. @returns whether they hold one now */
export async function verify(world: World, person: Person, { purpose, token }: ArrivedLink): Promise<boolean> {
  const wasUsed = (await world.store.snapshot()).links.some(
    ({ token_hash, used_at }) => token_hash === hashOf(token) && used_at !== null,
  )
  world.ledger.unsure(idKey(person, 'dev'))
  const answer = await world.call('GET', `/api/auth/verify-${purpose}?token=${token}`)
  if (answer.status !== 200) return false
  const { access_token, user } = answer.body
  if (wasUsed) world.ledger.complain('a link that the store called used was exchanged for a token')
  world.ledger.exchanged(token, access_token)
  Object.assign(person, { token: access_token, id: user.id, slug: user.slug, standing: 'verified' })
  promiseUsed(world, token)
  promiseVerified(world, person)
  return true
}

/** Signs them out: their token is refused from now on, for ever. */
export async function logOut(world: World, person: Person): Promise<void> {
  const { token } = person
  if (token === undefined) return
  delete person.token
  const answer = await world.call('POST', '/api/auth/logout', { token })
  if (answer.status !== 200) return
  world.ledger.revoked.add(token)
  const id = tokenId(token)
  world.ledger.promise(`revocation ${id}`, 'signed out', ({ revoked }) => revoked.some(({ jti }) => jti === id))
}

/** One link, many at once. The ledger counts what it was exchanged for. */
export async function verifyAtOnce(world: World, person: Person, times: number): Promise<void> {
  const purpose = person.standing === 'verified' ? 'login' : 'signup'
  const link = await requestLink(world, person, purpose)
  if (!link) return
  await Promise.all(Array.from({ length: times }, () => verify(world, person, link)))
}

/** More requests for one address at once than it may have in an hour. */
export async function requestAtOnce(world: World, person: Person, times: number): Promise<void> {
  const { email } = person
  const ask = async () => {
    const ended = world.ledger.linkRequest(email)
    const { status } = await world.call('POST', '/api/auth/signup', { body: { email } })
    ended()
    if (status === 200) world.ledger.granted.set(email, (world.ledger.granted.get(email) ?? 0) + 1)
  }
  await Promise.all(Array.from({ length: times }, ask))
  for (const { token } of world.mail.linksTo(email)) world.ledger.secrets.add(token)
}

function promiseAccount(world: World, email: string): void {
  world.ledger.promise(`account ${email}`, 'signed up', ({ users }) => users.some((user) => user.email === email))
}

function promiseVerified(world: World, { email, id }: Person): void {
  world.ledger.promise(`account ${email}`, `verified as ${id}`, ({ users }) =>
    users.some((user) => user.email === email && user.id === id && user.state !== 'registered'),
  )
}

/** Old links are tidied away some time after they were used. */
function promiseUsed(world: World, token: string): void {
  const hash = hashOf(token)
  world.ledger.promise(`link ${hash}`, 'used up', ({ links }) =>
    links.every(({ token_hash, used_at }) => token_hash !== hash || used_at !== null),
  )
}

function tokenId(token: string): string {
  const { jti } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { jti: string }
  return jti
}
