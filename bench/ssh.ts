import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import ssh2, { type Client, type ClientChannel } from 'ssh2'
import { childrenOf } from '../server/test/support/child-processes.ts'
import { askEngine } from '../server/test/support/engine/engine.ts'
import { execInContainer } from '../server/test/support/engine/exec-in-container.ts'
import { putPrograms } from '../server/test/ssh/put-program.ts'
import { sshArgs, startSsh } from '../server/test/ssh/ssh-rig.ts'
import { median, milliseconds, report, timed } from './figures.ts'
import { fetchFromDebian, unpacked } from './gateway/programs.ts'
import { memoryOf } from './process-memory.ts'
import { BenchLifetime } from './lifetime.ts'

/**
 * SSH beside OpenSSH's own `sshd` in the same container, in turns: `npm run bench:ssh -- [--mib=1024] [--rounds=2]
 * [--prompts=10] [--sessions=200]`. Debian's OpenSSH copies by `scp` from and to both; 0 leaves a part out. The exit code
 * is 1 when a goal is missed: 0.6 of the throughput of sshd, and a first prompt at most 150 ms after one of the engine's exec.
 */
const { values } = parseArgs({
  options: {
    mib: { type: 'string', default: '1024' },
    rounds: { type: 'string', default: '2' },
    prompts: { type: 'string', default: '10' },
    sessions: { type: 'string', default: '200' },
  },
})
const [mib, rounds, prompts, sessions] = [values.mib, values.rounds, values.prompts, values.sessions].map(Number) as [
  number,
  number,
  number,
  number,
]
const goals = { throughput: 0.6, prompt: 150 } as const
/** Sessions that one person may have, and connections of one network that have not proved anything yet. */
const [ofPerson, atOnce] = [10, 20]
const sshdPort = 2222

await using lifetime = new BenchLifetime()
const missed: string[] = []
const rig = await startSsh(lifetime)
await rig.berth.administrator()
const ann = await rig.signUp('ann@bench.test')
const key = rig.makeKey('ann', '-t', 'ed25519')
await rig.addKey(ann, key)
const container = `${rig.berth.installation}-ann-dev`
if (mib > 0) await compareCopies(rig, key, container)
if (prompts > 0) await comparePrompts(rig, key, container)
if (sessions > 0) await openAtOnce(rig)
if (missed.length > 0) console.error(`missed: ${missed.join('; ')}`)
process.exitCode = missed.length > 0 ? 1 : 0

type Rig = Awaited<ReturnType<typeof startSsh>>

/** Starts `sshd` in the container, as the container's user. @returns arguments of `scp` and of a target */
async function startSshd(rig: Rig, key: string, container: string) {
  if (!existsSync(unpacked('usr/sbin/sshd'))) await fetchFromDebian(['openssh-server', 'openssh-sftp-server'])
  const hostKey = rig.makeKey('host', '-t', 'ed25519')
  await putPrograms(
    container,
    [
      { file: unpacked('usr/sbin/sshd'), as: ['/usr/sbin/sshd'] },
      { file: unpacked('usr/lib/openssh/sftp-server'), as: ['/usr/lib/openssh/sftp-server'] },
    ],
    {
      libraries: unpacked(`usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`),
      texts: {
        '/etc/passwd': 'root:x:0:0::/:/bin/sh\nberth:x:1000:1000::/home/berth:/bin/sh\n',
        '/etc/bench/host': readFileSync(hostKey, 'utf8'),
        '/etc/bench/keys': rig.publicKey(key),
      },
    },
  )
  const options = [
    `Port=${sshdPort}`, 'HostKey=/tmp/host', 'PidFile=none', 'UsePAM=no', 'StrictModes=no',
    'AuthorizedKeysFile=/etc/bench/keys', 'Subsystem=sftp /usr/lib/openssh/sftp-server',
  ] // prettier-ignore
  const words = options.map((option) => `-o '${option}'`).join(' ')
  await execInContainer(
    container,
    `cp /etc/bench/host /tmp/host && chmod 600 /tmp/host && /usr/sbin/sshd -f /dev/null ${words} -E /tmp/sshd.log; sleep 0.5; cat /tmp/sshd.log`,
  )
  const { NetworkSettings: settings } = await askEngine<{
    NetworkSettings: { Networks: Record<string, { IPAddress: string }> }
  }>('GET', `/containers/${container}/json`)
  const [network] = Object.values(settings.Networks)
  const known = path.join(rig.folder, 'known_sshd')
  writeFileSync(known, `[${network?.IPAddress}]:${sshdPort} ${rig.publicKey(hostKey)}`)
  const args = rig
    .options(key)
    .map((each) => (each.startsWith('UserKnownHostsFile=') ? `UserKnownHostsFile=${known}` : each))
  return { options: [...args, '-P', String(sshdPort)], target: `berth@${network?.IPAddress}` }
}

async function compareCopies(rig: Rig, key: string, container: string): Promise<void> {
  const sshd = await startSshd(rig, key, container)
  const ours = { options: [...rig.options(key), '-P', String(rig.port)], target: 'ann-dev@127.0.0.1' }
  const [local, back] = [path.join(rig.folder, 'large'), path.join(rig.folder, 'back')]
  writeFileSync(local, '')
  truncateSync(local, mib * 1024 ** 2)
  const copy = async ({ options, target }: typeof ours, isUp: boolean): Promise<number> => {
    const ends = isUp ? [local, `${target}:large`] : [`${target}:large`, back]
    const child = rig.start('scp', [...options, ...ends])
    let errors = ''
    child.stderr.on('data', (bytes: Buffer) => void (errors += bytes.toString()))
    child.stdout.resume()
    const { ms, value } = await timed(() => once(child, 'close'))
    if (value[0] !== 0) throw new Error(`scp ${ends.join(' ')}: ${errors}`)
    rmSync(back, { force: true })
    return ms
  }
  for (const isUp of [true, false]) {
    const times: { ours: number; sshd: number }[] = []
    for (let round = 0; round < rounds; round++) {
      // The order changes, because the speed of a machine does.
      const first = round % 2 === 0 ? await copy(ours, isUp) : undefined
      const theirs = await copy(sshd, isUp)
      times.push({ ours: first ?? (await copy(ours, isUp)), sshd: theirs })
    }
    const rate = (ms: number) => `${((mib / ms) * 1000).toFixed(1)} MiB/s`
    const ratio = median(times.map((each) => each.sshd / each.ours))
    report(`scp of ${mib} MiB ${isUp ? 'to' : 'from'} the container`, {
      Berth: rate(median(times.map((each) => each.ours))),
      sshd: rate(median(times.map((each) => each.sshd))),
      ratio: `${ratio.toFixed(2)} (goal ${goals.throughput})`,
    })
    if (ratio < goals.throughput) missed.push(`${ratio.toFixed(2)} of the throughput of sshd`)
  }
}

async function comparePrompts(rig: Rig, key: string, container: string): Promise<void> {
  const bySsh = async () => {
    const child = rig.start('ssh', ['-tt', ...sshArgs(rig, key, 'ann-dev')])
    await once(child.stdout, 'data')
    child.kill()
  }
  const { Id: id } = await askEngine<{ Id: string }>('GET', `/containers/${container}/json`)
  const byEngine = async () => {
    const { stream } = await rig.berth.runtime.exec(
      id,
      ['/bin/sh', '-c', 'echo prompt; exec cat'],
      new AbortController().signal,
    )
    stream.on('error', () => undefined)
    await once(stream, 'data')
    stream.destroy()
  }
  const times: { ssh: number; engine: number }[] = []
  for (let round = 0; round < prompts; round++)
    times.push({ ssh: (await timed(bySsh)).ms, engine: (await timed(byEngine)).ms })
  const more = median(times.map(({ ssh, engine }) => ssh - engine))
  report('first prompt', {
    ssh: milliseconds(median(times.map(({ ssh }) => ssh))),
    'exec of the engine': milliseconds(median(times.map(({ engine }) => engine))),
    more: `${milliseconds(more)} (goal ${goals.prompt})`,
  })
  if (more > goals.prompt) missed.push(`a first prompt ${milliseconds(more)} after the engine's`)
}

/** Each person has ten, in a container of their own; each session has a program that answers. */
async function openAtOnce(rig: Rig): Promise<void> {
  const key = rig.makeKey('class', '-t', 'ed25519')
  const people = await Promise.all(
    Array.from({ length: Math.ceil(sessions / ofPerson) }, (_, index) => rig.berth.signUp(`p${index}@bench.test`)),
  )
  for (const person of people) await rig.addKey(person, key)
  const [pid = 0] = childrenOf(process.pid).filter((each) =>
    readFileSync(`/proc/${each}/cmdline`, 'latin1').includes('ssh-process'),
  )
  const before = memoryOf(pid)
  const privateKey = readFileSync(key)
  const open = async (index: number): Promise<[Client, ClientChannel]> => {
    const client = new ssh2.Client().on('error', () => undefined)
    const username = `p${index % people.length}-dev`
    client.connect({ host: '127.0.0.1', port: rig.port, username, privateKey, readyTimeout: 60_000 })
    await once(client, 'ready')
    const channel = await new Promise<ClientChannel>((resolve, reject) =>
      client.exec('echo up; exec cat', (error, given) => (error ? reject(error) : resolve(given))),
    )
    await once(channel, 'data')
    return [client, channel]
  }
  const opened: [Client, ClientChannel][] = []
  const { ms } = await timed(async () => {
    for (let next = 0; next < sessions; next += atOnce)
      opened.push(
        ...(await Promise.all(Array.from({ length: Math.min(atOnce, sessions - next) }, (_, at) => open(next + at)))),
      )
  })
  const echo = async ([, channel]: [Client, ClientChannel]) => {
    channel.write('x')
    await once(channel, 'data')
  }
  const alone = await Promise.all(opened.map((each) => timed(() => echo(each))))
  const oneByOne: number[] = []
  for (const each of opened) oneByOne.push((await timed(() => echo(each))).ms)
  const { resident } = memoryOf(pid)
  report(`${sessions} sessions at once`, {
    'all are open after': `${(ms / 1000).toFixed(1)} s`,
    'an echo, all at once': milliseconds(median(alone.map((each) => each.ms))),
    'an echo, one by one': milliseconds(median(oneByOne)),
    'memory of the SSH process': `${resident.toFixed(0)} MB (${before.resident.toFixed(0)} MB before)`,
  })
  for (const [client] of opened) client.end()
}
