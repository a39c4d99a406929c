import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import ssh2, { type Client } from 'ssh2'
import type { AttackInstallation, Loot, Outcome } from './attack-installation.ts'

/** How long the SSH server may take to listen, and a client of it to be let in or refused; in ms. */
const [startTimeout, connectTimeout] = [15_000, 10_000]
/** Other containers that are tried through a session. */
const maxNeighbours = 10
/** An address that no cloud gives away but to the machine itself. */
const metadata = '169.254.169.254'
/** A port at which a program of another user may listen, beside the main one. */
const furtherPort = 3_000

const loot = (what: string): Loot => ({
  level: 'critical',
  what,
  fix: 'this is a fault of Berth: report it (SECURITY), and stop Berth until it is mended',
})

/** Ports of the container of another user, by the addresses that its owner has for them. */
export async function openPorts(
  { fetch, attacker, victim }: Pick<AttackInstallation, 'fetch' | 'attacker' | 'victim'>,
  signal: AbortSignal,
): Promise<Outcome> {
  const targets = [8_080, furtherPort].map((port) => `${victim.prefix}:${port}/order`)
  const reached: string[] = []
  for (const target of targets)
    for (const token of [null, attacker.token]) {
      signal.throwIfAborted()
      const { status, body } = await fetch(target, token)
      await body?.cancel()
      // Also an answer that nothing listens there was asked of the container.
      if (status < 300 || status >= 500) reached.push(target)
    }
  const names = [...new Set(reached)].join(', ')
  return {
    got: names === '' ? [] : [loot(`It reached ports of the container of another user (${names}).`)],
    tried: `${targets.length} ports of another user, with its token and without`,
  }
}

/** With `SSH_LISTEN`: others through the SSH server, by its owner's own key. */
export async function useSsh(
  installation: Pick<AttackInstallation, 'config' | 'fetch' | 'attacker' | 'victim' | 'neighbours'>,
  signal: AbortSignal,
): Promise<Outcome> {
  if (installation.config.sshListen === null) return { got: [], tried: 'no SSH server: SSH_LISTEN is not set' }
  const { attacker, victim } = installation
  const port = await portOf(installation, signal)
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const [title, key] = ['attack', publicLine(publicKey.export({ format: 'jwk' }))]
  const headers = { authorization: `Bearer ${attacker.token}` }
  const added = await installation.fetch('/api/user/ssh-keys', null, { method: 'POST', headers, body: { title, key } })
  if (added.status !== 200 && added.status !== 201) throw new Error(`no key could be added (${added.status})`)
  const text = privateKey.export({ format: 'pem', type: 'pkcs1' }).toString()
  const open = (prefix: string) => connectAs(prefix.slice(1), port, text)
  const got: Loot[] = []
  const other = await open(victim.prefix)
  other?.end()
  if (other) got.push(loot('Its key opens SSH sessions in the container of another user.'))
  const client = await open(attacker.prefix)
  if (!client) throw new Error('its owner gets no SSH session')
  try {
    const others = (await installation.neighbours()).slice(0, maxNeighbours)
    const targets = [
      ...others.map(({ address, port: main }) => ({ host: address, port: main })),
      { host: victim.prefix.slice(1), port: 8_080 },
      { host: metadata, port: 80 },
    ]
    const reached: string[] = []
    for (const { host, port: target } of targets) {
      signal.throwIfAborted()
      if (await isForwarded(client, host, target)) reached.push(`${host}:${target}`)
    }
    if (reached.length > 0)
      got.push(loot(`SSH connects it with what is not its own container (${reached.join(', ')}).`))
    if (await mayListen(client)) got.push(loot('SSH lets it listen on this machine.'))
    return {
      got,
      tried: `its key for another user, ${targets.length} addresses through a session, a port to listen on`,
    }
  } finally {
    client.end()
  }
}

/** @throws when the SSH server does not begin to listen */
async function portOf({ fetch }: Pick<AttackInstallation, 'fetch'>, signal: AbortSignal): Promise<number> {
  for (const end = performance.now() + startTimeout; performance.now() < end;) {
    const { port } = (await (await fetch('/api/ssh', null)).json()) as { port?: number }
    if (port) return port
    await sleep(100, undefined, { signal })
  }
  throw new Error('the SSH server does not listen')
}

/** @returns undefined when it is refused */
async function connectAs(username: string, port: number, privateKey: string): Promise<Client | undefined> {
  const client = new ssh2.Client()
  client.connect({ host: '127.0.0.1', port, username, privateKey, readyTimeout: connectTimeout })
  try {
    await once(client, 'ready')
    client.on('error', () => undefined)
    return client
  } catch {
    client.on('error', () => undefined).destroy()
    return undefined
  }
}

const isForwarded = (client: Client, host: string, port: number) =>
  new Promise<boolean>((resolve) => {
    client.forwardOut('127.0.0.1', 1, host, port, (error, channel) => {
      resolve(error === undefined || error === null)
      channel?.destroy()
    })
  })

const mayListen = (client: Client) =>
  new Promise<boolean>((resolve) => void client.forwardIn('127.0.0.1', 0, (error) => resolve(!error)))

/** The line of an RSA key, as `ssh-keygen` writes it. */
function publicLine({ n = '', e = '' }: { n?: string; e?: string }): string {
  const field = (content: Buffer) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(content.length)
    return Buffer.concat([length, content])
  }
  const numbers = [e, n].map((text) => {
    const bytes = Buffer.from(text, 'base64url')
    return field((bytes[0] ?? 0) > 127 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes)
  })
  return `ssh-rsa ${Buffer.concat([field(Buffer.from('ssh-rsa')), ...numbers]).toString('base64')}`
}
