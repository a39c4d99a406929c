import type { Chain } from './firewall-chains.ts'

/** Jump from a chain of the system to one of ours. */
interface Entrance {
  readonly from: string
  readonly to: string
}

/** Parsed output of `iptables-save`: the chains of ours, and the jumps to them. */
export class SavedTable {
  /** Every rule in order, as `-A CHAIN ...`. */
  readonly #lines: readonly string[]

  /** @param text of the table `filter` */
  constructor(text: string) {
    this.#lines = text.split('\n').filter((line) => line.startsWith('-A '))
  }

  /** Jumps that must exist. In Docker's chain for other programs, if there is one: it stays before Docker's own rules. */
  get entrances(): Entrance[] {
    const isDockers = this.#rulesOf('FORWARD').includes('-j DOCKER-USER')
    return [
      { from: 'INPUT', to: 'BERTH-INPUT' },
      { from: isDockers ? 'DOCKER-USER' : 'FORWARD', to: 'BERTH-FORWARD' },
    ]
  }

  /** Bridges in our chains, perhaps of another engine. */
  get bridges(): string[] {
    return this.#rulesOf('BERTH-INPUT').flatMap((rule) => /^-i (\S+) -j BERTH-TO-HOST$/.exec(rule)?.[1] ?? [])
  }

  /** Whether the jumps to our chains are the first rules. */
  get isEnteredFirst(): boolean {
    return this.entrances.every(({ from, to }) => this.#rulesOf(from)[0] === `-j ${to}`)
  }

  /** And the only ones: two processes may have set them at the same time. */
  get isEnteredOnce(): boolean {
    return this.isEnteredFirst && this.entrances.every(({ from, to }) => this.#timesEntered(from, to) === 1)
  }

  /** Rules of our chains as this version of iptables prints them. */
  spelled(chains: readonly Chain[]): string {
    return chains.flatMap(({ name }) => this.#rulesOf(name).map((rule) => `${name} ${rule}`)).join('\n')
  }

  has(chains: readonly Chain[]): boolean {
    return (
      this.spelled(chains) === chains.flatMap(({ name, rules }) => rules.map((rule) => `${name} ${rule}`)).join('\n')
    )
  }

  /** Whether the number of rules is right; another version of iptables may print them differently. */
  hasAsMany(chains: readonly Chain[]): boolean {
    return chains.every(({ name, rules }) => this.#rulesOf(name).length === rules.length)
  }

  /**
   * What `iptables-restore --noflush` has to be given so that chains and entrances are as they should be, all at once: a
   * chain that is named is emptied first, and other chains stay as they are.
   */
  changesTo(chains: readonly Chain[]): string {
    const lines = [
      ...chains.map(({ name }) => `:${name} - [0:0]`),
      ...chains.flatMap(({ name, rules }) => rules.map((rule) => `-A ${name} ${rule}`)),
      ...(this.isEnteredOnce ? [] : this.entrances.flatMap((entrance) => this.#enterAnew(entrance))),
    ]
    return ['*filter', ...lines, 'COMMIT', ''].join('\n')
  }

  #enterAnew({ from, to }: Entrance): string[] {
    const deletions = Array<string>(this.#timesEntered(from, to)).fill(`-D ${from} -j ${to}`)
    return [...deletions, `-I ${from} 1 -j ${to}`]
  }

  #timesEntered(from: string, to: string): number {
    return this.#rulesOf(from).filter((rule) => rule === `-j ${to}`).length
  }

  #rulesOf(chain: string): string[] {
    return this.#lines.flatMap((line) => (line.startsWith(`-A ${chain} `) ? line.slice(chain.length + 4) : []))
  }
}
