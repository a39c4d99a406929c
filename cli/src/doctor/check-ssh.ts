import { once } from 'node:events'
import { createHash } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import ssh2 from 'ssh2'
import { isLoopbackHost } from '@berth/gateway/basics/ip-address.ts'
import { settingFix, type CheckContext, type Finding } from './check.ts'
import { tryToListen } from './check-network.ts'

/** How long a server may take to name itself and its algorithms, in ms. */
const timeout = 4_000
/** Max bytes that are read for it. */
const maxRead = 20_000
/** Message that lists algorithms (RFC 4253, 7.1). */
const kexInit = 20
/** Names of algorithms that are broken or near it. */
const weak = /sha1(?!-etm)|cbc|arcfour|3des|md5|dss|group1-/
/** What a server says that has the mend of CVE-2023-48795. */
const strict = 'kex-strict-s-v00@openssh.com'

/** What a server says before anyone has proved anything. */
interface Greeting {
  /** Such as `SSH-2.0-Berth`. */
  readonly version: string
  /** All names of algorithms; empty when it names none in time. */
  readonly algorithms: readonly string[]
}

/**
 * With `SSH_LISTEN`: whether it can be listened on while Berth does not run; and while it does, whether Berth's SSH
 * server answers there, under the name that clients use, with the host key that Berth tells its clients, and with nothing that weak
 * clients could be led to. A hint has the key's fingerprint.
 */
export async function checkSsh(
  { config, addresses, service, sshHostKeys }: CheckContext,
  signal: AbortSignal,
): Promise<Finding[]> {
  const { sshListen } = config
  if (sshListen === null) return []
  const { host, port, text } = sshListen
  if (service === null) return tryToListen(host, port, settingFix('SSH_LISTEN=0.0.0.0:2223'))
  const ownHost = ['0.0.0.0', '::', ''].includes(host) ? '127.0.0.1' : host
  const here = await greet(ownHost, port, signal)
  if (here === undefined) return [silent(text)]
  const own = findingsOf(here, text)
  const name = new URL(addresses.spawnerUrl).hostname.replace(/^\[|\]$/g, '')
  if (own.length > 0) return own
  const keys = await checkHostKey(ownHost, port, sshHostKeys, signal)
  if (keys.some(({ level }) => level === 'critical') || isLoopbackHost(name)) return keys
  const outside = await greet(name, port, signal)
  if (outside === undefined) return [...keys, unreached(name, port)]
  if (outside.version !== here.version) return [...keys, another(`${name}:${port}`, outside.version)]
  const keysOutside = await checkHostKey(name, port, sshHostKeys, signal)
  return keysOutside.some(({ level }) => level === 'critical') ? keysOutside : keys
}

/** Compares the key that is offered with those that clients are told. @param known lines of `known_hosts`; none: nothing is compared */
async function checkHostKey(
  host: string,
  port: number,
  known: readonly string[],
  signal: AbortSignal,
): Promise<Finding[]> {
  const told = known.map((line) => Buffer.from(line.split(' ')[2] ?? '', 'base64'))
  if (told.length === 0) return []
  const where = `${host}, port ${port}`
  const offered = await hostKeyAt(host, port, signal)
  if (offered === undefined)
    return [
      {
        level: 'critical',
        what: `The SSH server at ${where} offers no host key: people cannot connect.`,
        fix: 'the log says why: journalctl -u berth | grep SSH',
      },
    ]
  const ofKey = `${fingerprintOf(offered)} (ED25519)`
  if (told.some((key) => key.equals(offered)))
    return [
      {
        level: 'hint',
        what: `The host key of the SSH server is ${ofKey}, which people compare when they connect the first time.`,
        fix: `publish it, and this line for known_hosts, where people read how to connect: ${known[0]}`,
      },
    ]
  return [
    {
      level: 'critical',
      what: `The SSH server at ${where} has the host key ${ofKey}, and Berth tells clients of ${told.map(fingerprintOf).join(', ')}: another server answers there, or one with the keys of another installation.`,
      fix: 'find out which program answers at this port (ss -ltnp); after a restore: systemctl restart berth',
    },
  ]
}

/** As OpenSSH writes it. */
const fingerprintOf = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`

/** The key that a server proves to have; undefined when it proves none in time. */
async function hostKeyAt(host: string, port: number, signal: AbortSignal): Promise<Buffer | undefined> {
  const client = new ssh2.Client()
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>()
  const end = () => resolve(undefined)
  signal.addEventListener('abort', end)
  client.on('error', end).on('close', end)
  client.connect({
    host,
    port,
    username: 'berth-doctor',
    readyTimeout: timeout,
    algorithms: { serverHostKey: ['ssh-ed25519'] },
    // Nothing is proved to it: the connection ends here.
    hostVerifier: (key: Buffer) => {
      resolve(key)
      return false
    },
  })
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', end)
    client.destroy()
  }
}

function findingsOf({ version, algorithms }: Greeting, where: string): Finding[] {
  if (version !== 'SSH-2.0-Berth') return [another(where, version)]
  const found = algorithms.filter((name) => weak.test(name))
  if (found.length === 0 && algorithms.includes(strict)) return []
  const what =
    found.length > 0 ? `offers what is broken (${found.join(', ')})` : 'has no strict key exchange (CVE-2023-48795)'
  return [
    {
      level: 'critical',
      what: `The SSH server at ${where} ${what}: who is on the way of a weak client may read or change what it sends.`,
      fix: 'update Berth and Node; if it is the newest: report it (SECURITY)',
    },
  ]
}

const silent = (where: string): Finding => ({
  level: 'critical',
  what: `No SSH server answers at SSH_LISTEN=${where} while Berth runs.`,
  fix: 'the system page and the log say why: journalctl -u berth | grep SSH',
})

const another = (where: string, version: string): Finding => ({
  level: 'critical',
  what: `Another program than Berth answers at ${where} (${version.slice(0, 80).replace(/[^\x20-\x7e]/g, '?')}): people do not reach their containers.`,
  fix: settingFix('SSH_LISTEN=0.0.0.0:2223'),
})

/** Behind NAT a machine does not always reach its own public address. */
const unreached = (name: string, port: number): Finding => ({
  level: 'warning',
  what: `The SSH server is not reached as ${name}, port ${port}, from this machine: a firewall, or a proxy that passes HTTP alone (behind NAT others may reach it all the same).`,
  fix: `let TCP connections to port ${port} of ${name} through to this machine; docs/how-to/offer-ssh.md`,
})

/** Connects, and reads what a server says of itself; undefined when none does in time. */
async function greet(host: string, port: number, signal: AbortSignal): Promise<Greeting | undefined> {
  const socket = connect({ host, port })
  const until = AbortSignal.any([signal, AbortSignal.timeout(timeout)])
  try {
    await once(socket, 'connect', { signal: until })
    return await readGreeting(socket, until)
  } catch {
    return undefined
  } finally {
    socket.destroy()
  }
}

async function readGreeting(socket: Socket, until: AbortSignal): Promise<Greeting | undefined> {
  let read = Buffer.alloc(0)
  let version: string | undefined
  const end = () => void socket.destroy()
  until.addEventListener('abort', end)
  socket.write('SSH-2.0-berth_doctor\r\n')
  try {
    for await (const bytes of socket as AsyncIterable<Buffer>) {
      read = Buffer.concat([read, bytes])
      const line = read.indexOf('\n')
      if (line >= 0) version ??= read.toString('latin1', 0, line).trim()
      const packet = read.subarray(line + 1)
      const isWhole = line >= 0 && packet.length >= 6 && packet.length >= 4 + packet.readUInt32BE()
      if (version !== undefined && isWhole) return { version, algorithms: algorithmsIn(packet) }
      if (read.length > maxRead) break
    }
  } finally {
    until.removeEventListener('abort', end)
  }
  return version === undefined ? undefined : { version, algorithms: [] }
}

/** The ten lists of names behind the cookie. */
function algorithmsIn(packet: Buffer): string[] {
  if (packet[5] !== kexInit) return []
  const names: string[] = []
  let at = 6 + 16
  for (let list = 0; list < 10 && at + 4 <= packet.length; list++) {
    const end = at + 4 + packet.readUInt32BE(at)
    names.push(...packet.toString('latin1', at + 4, end).split(','))
    at = end
  }
  return names
}
