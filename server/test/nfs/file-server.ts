import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The client; a kernel without NFS has none of its own. */
const client = process.env.BERTH_FUSE_NFS ?? 'fuse-nfs'

/** Exports of the same server: the second one takes root of this machine for the account `nobody`. */
const exports = ['open', 'squashed'] as const
export type Export = (typeof exports)[number]

/** How long server and mounts may take to be there, in ms. */
const startLimit = 60_000

/** NFS with everything that can happen to it. */
export interface FileServer {
  /** Where an export is mounted here. */
  mounted(name: Export): string
  /** The same folder as the server itself has it. */
  served(name: Export): string
  /** Its packets are lost from now on; connections stay. */
  goAway(): void
  comeBack(): void
  /** Another server comes in its place, which exports an empty folder under this name: what is mounted here has a stale handle. */
  replace(name: Export): Promise<void>
  /** As an operator mounts it after that. */
  mountAgain(name: Export): Promise<void>
  close(): Promise<void>
}

/**
 * Starts nfs-ganesha in a network namespace, and mounts its exports here by fuse-nfs, NFS version 3.
 * @throws {Error} naming what this machine lacks
 */
export async function startFileServer(): Promise<FileServer> {
  if (process.getuid?.() !== 0) throw new Error('test:nfs needs root: it makes a network namespace, and mounts')
  for (const program of ['ip', 'unshare', 'rpcbind', 'ganesha.nfsd', client])
    if (spawnSync('which', [program]).status !== 0)
      throw new Error(
        `${program} is missing. Debian: apt-get install iproute2 rpcbind nfs-ganesha nfs-ganesha-vfs; ` +
          'fuse-nfs is built from https://github.com/sahlberg/fuse-nfs (libnfs-dev, libfuse-dev), and BERTH_FUSE_NFS names it',
      )
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'berth-nfs-')))
  const name = `bnfs${process.pid}`
  const at = (...parts: string[]) => path.join(base, ...parts)
  const ip = (...args: string[]) => void execFileSync('ip', args, { stdio: 'pipe' })
  const inside = (...args: string[]) => ip('-n', name, ...args)
  for (const each of exports) for (const side of ['served', 'mounted']) mkdirSync(at(side, each), { recursive: true })
  mkdirSync(at('state'))
  writeFileSync(at('ganesha.conf'), configuration(base))

  ip('netns', 'add', name)
  ip('link', 'add', `${name}a`, 'type', 'veth', 'peer', 'name', `${name}b`, 'netns', name)
  ip('addr', 'add', '10.231.7.1/30', 'dev', `${name}a`)
  ip('link', 'set', `${name}a`, 'up')
  inside('addr', 'add', '10.231.7.2/30', 'dev', `${name}b`)
  for (const link of ['lo', `${name}b`]) inside('link', 'set', link, 'up')
  // Of its own: the socket of rpcbind, which the server registers with.
  const script = `mount -t tmpfs tmpfs /run && mkdir /run/ganesha && rpcbind && exec ganesha.nfsd -F -f ${at('ganesha.conf')} -p /run/pid -L ${at('log')}`
  const inNamespace = [
    'netns',
    'exec',
    name,
    'unshare',
    '--mount',
    '--pid',
    '--fork',
    '--kill-child',
    '--mount-proc',
    'sh',
    '-c',
    script,
  ]
  const isServing = () => existsSync(at('log')) && readFileSync(at('log'), 'utf8').includes('NFS SERVER INITIALIZED')
  async function serve(): Promise<ChildProcess> {
    rmSync(at('log'), { force: true })
    const server = spawn('ip', inNamespace, { stdio: 'ignore' })
    await until('the start of nfs-ganesha', isServing)
    return server
  }
  async function endServer(): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    await ended
  }
  let server = await serve()

  const clients = new Map<Export, ChildProcess>()
  const isMounted = (each: Export) => readFileSync('/proc/mounts', 'utf8').includes(` ${at('mounted', each)} fuse`)
  async function mount(each: Export): Promise<void> {
    const url = `nfs://10.231.7.2/${each}?nfsport=2049&mountport=20048`
    // With the account of who asks, which the client's library holds for one request at a time, and without the rights being
    // checked here: the server does.
    const process = spawn(client, ['-n', url, '-m', at('mounted', each), '-o', '-p', '0', '-t', '0', '-f', each], {
      stdio: 'ignore',
    })
    clients.set(each, process)
    await until(`the mount of ${each}`, () => isMounted(each))
  }
  function unmount(each: Export): void {
    spawnSync('umount', ['--lazy', at('mounted', each)])
    clients.get(each)?.kill('SIGKILL')
  }
  for (const each of exports) await mount(each)

  return {
    mounted: (each) => at('mounted', each),
    served: (each) => at('served', each),
    goAway: () => inside('link', 'set', `${name}b`, 'down'),
    comeBack: () => inside('link', 'set', `${name}b`, 'up'),
    replace: async (each) => {
      await endServer()
      rmSync(at('served', each), { recursive: true })
      mkdirSync(at('served', each))
      server = await serve()
    },
    mountAgain: async (each) => {
      unmount(each)
      await mount(each)
    },
    close: async () => {
      inside('link', 'set', `${name}b`, 'up')
      for (const each of exports) unmount(each)
      await endServer()
      ip('netns', 'delete', name)
      await sleep(500)
      rmSync(base, { recursive: true, force: true })
    },
  }
}

const configuration = (base: string) => `
NFS_CORE_PARAM { NFS_Port = 2049; MNT_Port = 20048; Enable_NLM = false; Enable_RQUOTA = false; mount_path_pseudo = true; }
NFSV4 { Graceless = true; RecoveryRoot = ${base}/state; RecoveryBackend = fs; }
LOG { Default_Log_Level = EVENT; }
${exports.map((each, at) => `EXPORT { Export_Id = ${at + 1}; Path = ${base}/served/${each}; Pseudo = /${each}; Access_Type = RW; SecType = sys; Squash = ${each === 'open' ? 'No_Root_Squash' : 'Root_Squash'}; FSAL { Name = VFS; } }`).join('\n')}
`

async function until(what: string, isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + startLimit; !isSo(); await sleep(200))
    if (Date.now() > end) throw new Error(`${what} takes more than ${startLimit / 1000} s`)
}
