import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { sync } from '@berth/server/machine/disk-room.ts'
import { BackupProblem, type Manifest, type Part } from './backup-format.ts'

/**
 * The home of a user in a backup.
 * @param slug of the user @param type of the container @throws {BackupProblem} that names those that are there
 */
export function homePartOf({ parts }: Manifest, slug: string, type: string | null): Part {
  const homes = parts.filter(({ home }) => home?.owner.slug === slug)
  const types = homes.map(({ home }) => home?.owner.type).join(', ')
  const [found, another] = homes.filter(({ home }) => type === null || home?.owner.type === type)
  if (found && !another) return found
  if (homes.length === 0) throw new BackupProblem(`the backup has no home of ${slug}`)
  throw new BackupProblem(`the backup has homes of ${slug} of these types, name one with --type: ${types}`)
}

/**
 * Unpacks a home into a new folder beside everything else, with the machine's `tar`, which does not follow links out of
 * it. Owners are kept when the process is root's; otherwise all files belong to the account of the process. The folder
 * itself is of that account alone: files in it may be readable by all, or setuid. It has another name until it is complete.
 * @throws {BackupProblem} when the folder exists or cannot be written
 */
export async function extractHome(
  content: AsyncIterable<Uint8Array>,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  if (existsSync(folder)) throw new BackupProblem(`${folder} exists; nothing was changed`)
  const partial = `${folder}.partial-${process.pid}`
  await mkdir(partial, { recursive: true, mode: 0o700 })
  try {
    // The archive sets mode and owner of the folder that it is unpacked into; the one around it keeps its own.
    const home = path.join(partial, 'home')
    await mkdir(home, { mode: 0o700 })
    await runTar(content, home, signal)
    await chown(home, process.getuid?.() ?? -1, process.getgid?.() ?? -1)
    await chmod(home, 0o700)
    await rename(home, folder)
    await sync(path.dirname(folder))
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
}

async function runTar(content: AsyncIterable<Uint8Array>, folder: string, signal: AbortSignal): Promise<void> {
  const owner = process.getuid?.() === 0 ? '--same-owner' : '--no-same-owner'
  const options = ['--extract', '--file=-', '--numeric-owner', owner, `--directory=${folder}`]
  const tar = spawn('tar', options, { stdio: ['pipe', 'ignore', 'pipe'], signal })
  let words = ''
  tar.stderr.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-2_000)))
  const ended = once(tar, 'exit') as Promise<[number | null]>
  // What tar does not take is its error to report.
  const fed = pipeline(content, tar.stdin).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  })
  const [[code]] = await Promise.all([ended, fed])
  if (code !== 0) throw new BackupProblem(`tar could not unpack the home: ${words.trim() || `exit code ${code}`}`)
}
