import { setTimeout as sleep } from 'node:timers/promises'
import type { MailServer } from '../../support/mail/mail-server.ts'
import type { Random } from '../../gateway/fuzz/random.ts'
import type { FailoverDatabase } from './failover-database.ts'
import type { NodeMachine } from './node-machine.ts'

/** Timeout of a request, in ms; a launch may wait for a gateway that is not reached. */
const [timeout, slowTimeout] = [5_000, 30_000]

export interface Answer {
  readonly status: number
  readonly body: string
}

/** @returns undefined when there is no answer in time */
export async function ask(
  node: NodeMachine,
  target: string,
  token?: string,
  { method = 'GET', body, limit = timeout }: { method?: string; body?: unknown; limit?: number } = {},
): Promise<Answer | undefined> {
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const signal = AbortSignal.timeout(limit)
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  try {
    const answer = await fetch(node.url + target, { method, headers, signal, redirect: 'manual', ...sent })
    return { status: answer.status, body: await answer.text() }
  } catch {
    return undefined
  }
}

/** A user with a container that answers with the user's address. */
export interface Person {
  readonly email: string
  readonly token: string
  readonly slug: string
  readonly containerId: number
  /** Set while a block was answered with 200, and nothing else was asked since. */
  blockedSince: number | undefined
  /** What was answered last; undefined: a request that changes it was not answered. */
  isBlocked: boolean | undefined
}

/** Users, what they do all the time, and what they were promised. */
export class People {
  readonly all: Person[] = []
  /** Addresses that were answered to be verified. */
  readonly promised: string[] = []
  /** Requests that change something and were answered with 200. */
  answered = 0
  boss = ''
  #invited = 0
  readonly #nodes: readonly NodeMachine[]
  readonly #mail: MailServer
  readonly #database: FailoverDatabase
  readonly #violate: (words: string) => void

  constructor(
    nodes: readonly NodeMachine[],
    mail: MailServer,
    database: FailoverDatabase,
    violate: (words: string) => void,
  ) {
    this.#nodes = nodes
    this.#mail = mail
    this.#database = database
    this.#violate = violate
  }

  /** The administrator, and some users with containers. @throws when they cannot be made */
  async begin(count: number): Promise<void> {
    const [first, second = first] = this.#nodes
    if (!first || !second) throw new Error('there is no node')
    this.boss = await this.#must(this.signUp(first, 'boss@x.org', first))
    for (let number = 1; number <= count; number++) {
      const email = `user${number}@x.org`
      const token = await this.#must(this.signUp(first, email, second))
      const launched = await ask(second, '/api/container/launch/dev', token, { method: 'POST', limit: 60_000 })
      if (launched?.status !== 200) throw new Error(`the first launch was answered with ${JSON.stringify(launched)}`)
      const found = await ask(first, `/api/admin/users?q=${email}`, this.boss)
      const { users } = JSON.parse(found?.body ?? '{}') as { users: { slug: string; containers: { id: number }[] }[] }
      const [user] = users
      const containerId = user?.containers[0]?.id
      if (!user || containerId === undefined) throw new Error(`${email} has no container`)
      this.all.push({ email, token, slug: user.slug, containerId, blockedSince: undefined, isBlocked: false })
    }
  }

  /** @returns the token, when both requests were answered with 200 */
  async signUp(at: NodeMachine, email: string, verifyAt: NodeMachine): Promise<string | undefined> {
    const asked = await ask(at, '/api/auth/signup', undefined, { method: 'POST', body: { email } })
    if (asked?.status !== 200) return undefined
    const hasMail = () => this.#mail.received.some(({ envelopeTo }) => envelopeTo.includes(email))
    for (let wait = 0; wait < 50 && !hasMail(); wait++) await sleep(50)
    if (!hasMail()) return void this.#violate(`the sign-up of ${email} was answered, and no mail came`)
    const verified = await ask(verifyAt, `/api/auth/verify-signup?token=${this.#mail.tokenFor(email)}`, undefined, {
      limit: slowTimeout,
    })
    if (verified?.status !== 200) return undefined
    this.promised.push(email)
    this.answered++
    return (JSON.parse(verified.body) as { access_token: string }).access_token
  }

  /** Sign-ups, blocks, unblocks and launches at any node, until it is aborted. */
  async live(random: Random, signal: AbortSignal): Promise<void> {
    for (let number = 1; !signal.aborted; number++) {
      // The first one is never blocked, so that an outage of all containers is one.
      const person = random.oneOf(this.all.slice(1))
      const node = random.oneOf(this.#nodes)
      const kind = random.below(10)
      if (kind < 3) await this.signUp(node, `guest${number}@x.org`, random.oneOf(this.#nodes))
      else if (kind < 6) await this.#block(node, person)
      else if (kind < 9) await this.unblock(node, person)
      else await this.#launch(node, person)
      await sleep(200)
    }
  }

  /** In answer to a block every node refuses at once: those that are reached have confirmed it, the others know that they are behind. */
  async #block(node: NodeMachine, person: Person): Promise<void> {
    person.blockedSince = undefined
    person.isBlocked = undefined
    const answer = await this.#administer(node, person, 'block')
    if (answer?.status !== 200) return
    person.isBlocked = true
    person.blockedSince = performance.now()
    this.answered++
    await Promise.all(
      this.#nodes.map(async (each) => {
        const seen = await ask(each, `/${person.slug}-dev/who`, person.token)
        if (seen?.status === 200)
          this.#violate(`${each.name} served ${person.email} after the block was answered at ${node.name}`)
      }),
    )
  }

  /** @returns whether it was answered with 200 */
  async unblock(node: NodeMachine, person: Person): Promise<boolean> {
    person.blockedSince = undefined
    person.isBlocked = undefined
    const answer = await this.#administer(node, person, 'unblock')
    if (answer?.status !== 200) return false
    person.isBlocked = false
    this.answered++
    return this.#launch(node, person)
  }

  async #launch(node: NodeMachine, { token }: Person): Promise<boolean> {
    const answer = await ask(node, '/api/container/launch/dev', token, { method: 'POST', limit: slowTimeout })
    if (answer?.status === 200) this.answered++
    return answer?.status === 200
  }

  /** What was answered with 200 is stored. */
  async checkPromises(): Promise<void> {
    const users = await this.#database.query<{ email: string; state: string; times: number }>(
      'select email, min(state) as state, count(*)::integer as times from users group by email',
    )
    const known = new Map(users.map((each) => [each.email, each]))
    for (const email of this.promised) {
      const found = known.get(email)
      if (found?.times !== 1 || found.state === 'registered')
        this.#violate(`${email} was verified, and the store has ${JSON.stringify(found)}`)
    }
    const containers = await this.#database.query<{ id: number; is_blocked: number }>(
      'select id::integer, is_blocked from user_containers',
    )
    for (const person of this.all) {
      const stored = containers.find(({ id }) => id === person.containerId)
      if (person.isBlocked !== undefined && stored?.is_blocked !== Number(person.isBlocked))
        this.#violate(`block of ${person.email}: answered ${person.isBlocked}, stored ${stored?.is_blocked}`)
    }
  }

  /** Makes entries of the audit log at this node, by changes that wait for no gateway, until it is aborted. */
  async invite(node: NodeMachine, signal: AbortSignal): Promise<void> {
    for (; !signal.aborted; await sleep(200)) {
      const body = { emails: [`invited${++this.#invited}@x.org`], send: false }
      await ask(node, '/api/admin/invitations', this.boss, { method: 'POST', body })
    }
  }

  async #administer(node: NodeMachine, { containerId }: Person, verb: 'block' | 'unblock') {
    return ask(node, `/api/admin/containers/${containerId}/${verb}`, this.boss, { method: 'POST', limit: slowTimeout })
  }

  async #must<T>(work: Promise<T | undefined>): Promise<T> {
    const result = await work
    if (result === undefined) throw new Error('the beginning was refused')
    return result
  }
}
