import { setTimeout as sleep } from 'node:timers/promises'
import type { NodeMachine } from './node-machine.ts'
import { ask, type People, type Person } from './people.ts'
import { Staleness } from './staleness.ts'

/** In ms: timeout of a probe, and pause between two. */
const [timeout, pause] = [2_000, 150]

/** Longest time without a success, by name. */
export class Gaps {
  readonly #last = new Map<string, number>()
  readonly #longest = new Map<string, number>()

  note(name: string): void {
    const now = performance.now()
    const last = this.#last.get(name) ?? now
    this.#longest.set(name, Math.max(this.#longest.get(name) ?? 0, now - last))
    this.#last.set(name, now)
  }

  /** In ms, of all names; what is over is forgotten. */
  take(): Record<string, number> {
    const taken = Object.fromEntries(this.#longest)
    this.#longest.clear()
    return taken
  }
}

/**
 * Asks every node all the time for the API (by a request that every node answers, and by one that the leader alone answers), for each
 * user's container, and for another user's. What is answered with 200 must be right, whatever fails.
 */
export class Probes {
  readonly gaps = new Gaps()
  readonly staleness: Staleness
  asked = 0
  /** Answers with 200. */
  answered = 0
  readonly #nodes: readonly NodeMachine[]
  readonly #people: People
  readonly #violate: (words: string) => void

  constructor(nodes: readonly NodeMachine[], people: People, violate: (words: string) => void) {
    this.#nodes = nodes
    this.#people = people
    this.#violate = violate
    this.staleness = new Staleness(violate)
  }

  async run(signal: AbortSignal): Promise<void> {
    const loops = this.#nodes.flatMap((node) => [
      this.#repeat(signal, () => this.#askApi(node)),
      this.#repeat(signal, () => this.#askLeader(node)),
      this.#repeat(signal, () => this.#askNewest(node)),
      ...this.#people.all.map((person, index) =>
        this.#repeat(signal, async () => {
          await this.#visit(node, person)
          await this.#trespass(node, person, this.#people.all[(index + 1) % this.#people.all.length])
        }),
      ),
    ])
    await Promise.all(loops)
  }

  async #repeat(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await work()
      await sleep(pause)
    }
  }

  async #askApi(node: NodeMachine): Promise<void> {
    const [person] = this.#people.all
    const answer = await this.#ask(node, '/api/user/me', person?.token)
    if (answer?.status !== 200) return
    this.gaps.note('API at any node')
    if (!answer.body.includes(`"${person?.email}"`)) this.#violate(`${node.name} answered me with ${answer.body}`)
  }

  /** A follower passes it on. */
  async #askLeader(node: NodeMachine): Promise<void> {
    const answer = await this.#ask(node, '/api/user/sessions', this.#people.all[0]?.token)
    if (answer?.status === 200) this.gaps.note('the leader by any node')
  }

  /** Every change of an administrator is an entry, and every node answers the list. */
  async #askNewest(node: NodeMachine): Promise<void> {
    const { newest, askedAt } = { newest: this.staleness.newest, askedAt: performance.now() }
    const answer = await this.#ask(node, '/api/admin/audit?limit=1', this.#people.boss)
    if (answer?.status !== 200) return
    const { entries } = JSON.parse(answer.body) as { entries: { id: number }[] }
    this.staleness.note(node.name, entries[0]?.id ?? 0, newest, askedAt)
  }

  async #visit(node: NodeMachine, person: Person): Promise<void> {
    const { slug, email, token, blockedSince } = person
    const answer = await this.#ask(node, `/${slug}-dev/who`, token)
    if (answer?.status !== 200) return
    this.gaps.note('a container at any node')
    this.gaps.note(`a container at ${node.name}`)
    if (answer.body.trim() !== email) this.#violate(`${node.name} answered ${email} with ${answer.body}`)
    if (blockedSince !== undefined && person.blockedSince === blockedSince)
      this.#violate(`${node.name} served ${email}, whose block had been answered before`)
  }

  async #trespass(node: NodeMachine, { slug, email }: Person, stranger: Person | undefined): Promise<void> {
    if (!stranger || stranger.slug === slug) return
    const answer = await this.#ask(node, `/${slug}-dev/who`, stranger.token)
    if (answer?.status === 200) this.#violate(`${node.name} let ${stranger.email} into the container of ${email}`)
  }

  async #ask(node: NodeMachine, target: string, token: string | undefined) {
    this.asked++
    const answer = await ask(node, target, token, { limit: timeout })
    if (answer?.status === 200) this.answered++
    return answer
  }
}
