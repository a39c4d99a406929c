import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

/** Where the peers and their files are: git-ignored, and safe to delete. */
export const scratch = path.resolve(import.meta.dirname, '../../.berth/bench')

const debs = path.join(scratch, 'debs')
const debian = path.join(scratch, 'debian')
const npm = path.join(scratch, 'npm')

/** Absolute paths of the peers and of the load generators. */
export const programs = {
  nginx: path.join(debian, 'usr/sbin/nginx'),
  haproxy: path.join(debian, 'usr/sbin/haproxy'),
  caddy: path.join(debian, 'usr/bin/caddy'),
  wrk: path.join(debian, 'usr/bin/wrk'),
  chp: path.join(npm, 'node_modules/configurable-http-proxy/bin/configurable-http-proxy'),
} as const

/** Debian's programs find the libraries that were unpacked beside them. */
export const environment = { LD_LIBRARY_PATH: path.join(debian, `usr/lib/${multiarch()}`) }

/**
 * Downloads what is missing and says so. Debian's packages are unpacked, not installed: no service starts, the machine
 * does not change, and root is not needed.
 * @throws {Error} with the output of apt-get or npm
 */
export async function ensurePrograms(): Promise<void> {
  const { chp, ...fromDebian } = programs
  const missing = Object.entries(fromDebian).filter(([, file]) => !existsSync(file))
  if (missing.length > 0) await fetchFromDebian(missing.map(([name]) => name))
  if (!existsSync(chp)) await fetchFromNpm('configurable-http-proxy@5.3.0')
}

/** Where a file of Debian's packages is, once they are unpacked. @param file such as `usr/sbin/sshd` */
export const unpacked = (file: string): string => path.join(debian, file)

/** Downloads and unpacks Debian's packages, as `ensurePrograms` does. @throws {Error} with the output of apt-get */
export async function fetchFromDebian(packages: readonly string[]): Promise<void> {
  console.log(`fetching Debian's ${packages.join(', ')} into ${debian} ...`)
  await mkdir(path.join(debs, 'partial'), { recursive: true })
  const aside = ['-o', 'Debug::NoLocking=1', '-o', `Dir::Cache=${scratch}`, '-o', `Dir::Cache::archives=${debs}`]
  // Without --reinstall, apt-get downloads nothing for a package that the machine has.
  const fetching = ['install', '--yes', '--no-install-recommends', '--download-only', '--reinstall']
  const fetchAll = () => run('apt-get', [...fetching, ...aside, '-o', 'APT::Sandbox::User=', ...packages])
  await fetchAll().catch(async () => {
    // A new machine has no package lists, or old ones that name files the archive no longer has.
    await run('apt-get', ['update'])
    await fetchAll()
  })
  for (const file of await readdir(debs)) {
    if (file.endsWith('.deb')) await run('dpkg-deb', ['--extract', path.join(debs, file), debian])
  }
}

async function fetchFromNpm(wanted: string): Promise<void> {
  console.log(`fetching npm's ${wanted} into ${npm} ...`)
  await mkdir(npm, { recursive: true })
  await run('npm', ['install', '--prefix', npm, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', wanted])
}

/** At most five minutes; its output is shown only when it fails. */
async function run(program: string, args: readonly string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' }
  await promisify(execFile)(program, args, { env, timeout: 300_000, maxBuffer: 16 * 1024 * 1024 })
}

function multiarch(): string {
  return process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu'
}
