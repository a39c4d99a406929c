import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Family } from './firewall-chains.ts'

/** Paths of the two programs that read and change the rules of one family. */
export interface Commands {
  readonly save: string
  readonly restore: string
}

/** How long one call may take, in ms; it waits for the lock of the tables. */
const callTimeout = 10_000

/** They need not be in the operator's PATH; those of cron and systemd usually lack them. */
const folders = ['/usr/sbin', '/sbin', '/usr/local/sbin', '/usr/bin', '/bin', '/usr/local/bin']

const programs: Record<Family, string> = { ipv4: 'iptables', ipv6: 'ip6tables' }
/** The machine's choice first, then its two implementations by name. */
const variants = ['', '-nft', '-legacy']

/** Families of addresses that this kernel speaks. */
export function familiesHere(): Family[] {
  return existsSync('/proc/net/if_inet6') ? ['ipv4', 'ipv6'] : ['ipv4']
}

/**
 * The implementation that Docker uses: both may be installed, and neither sees the other's rules. The machine's choice,
 * unless Docker's chains are in another's tables. Those of IPv6 follow, for Docker need have none there.
 * @throws {Error} in words for an operator when there is none
 */
export async function commandsFor(family: Family): Promise<Commands> {
  const variant = await variantOfDocker()
  const found = find(programs[family], variant) ?? find(programs[family], '')
  if (!found) throw new Error(`there is no ${programs[family]} on this machine`)
  return found
}

async function variantOfDocker(): Promise<string> {
  for (const variant of variants) {
    const commands = find(programs.ipv4, variant)
    // All tables that there are: to name one would make it where there is none.
    const tables = commands ? await run(commands.save, []).catch(() => '') : ''
    if (/^:DOCKER/m.test(tables)) return variant
  }
  return ''
}

function find(program: string, variant: string): Commands | undefined {
  const [save, restore] = ['save', 'restore'].map((verb) =>
    folders.map((folder) => `${folder}/${program}${variant}-${verb}`).find((file) => existsSync(file)),
  )
  return save && restore ? { save, restore } : undefined
}

/** @returns what it printed. @throws {Error} with its own words, or that it took too long */
export function run(file: string, words: readonly string[], input = ''): Promise<string> {
  const options = { timeout: callTimeout, maxBuffer: 64 * 1024 ** 2, env: { PATH: folders.join(':'), LC_ALL: 'C' } }
  return new Promise((resolve, reject) => {
    const child = execFile(file, words, options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout)
      const said = stderr.trim().split('\n')[0]?.slice(0, 300)
      reject(new Error(`${file}: ${said || (error.killed ? `no end within ${callTimeout} ms` : error.message)}`))
    })
    // Of a program that ends without reading; why it did is in its words.
    child.stdin?.on('error', () => undefined).end(input)
  })
}
